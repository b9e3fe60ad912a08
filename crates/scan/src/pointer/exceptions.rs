//! Exceptions: which objects a thread throws, where it catches them, and where they are destroyed.
//!
//! An exception is caught in the thread that throws it. (Functions that carry one to another thread are not known.) So
//! there is one set of exceptions for each thread, and every handler may get any of them; types are not compared. What a
//! library throws is unknown memory, which a handler may get too, unless it only takes types that the program defines:
//! code outside the program cannot know them.

use super::{InstanceId, POINTER, PointsTo};
use crate::domain::congruence::Congruence;
use crate::pointer::address::{Addresses, Base, BaseId, Origin};
use crate::program::Entity;
use racehunter_ir::{Instruction, Operand, SymbolKind};

/// The position of a function's arguments among the operands of a call.
const OBJECT: usize = 1;
const DESTRUCTOR: usize = 3;

/// Names of the descriptions of types begin with this.
const TYPE: &str = "_ZTI";

impl PointsTo<'_> {
    /// Returns the base of the exceptions that the thread of an instance may catch.
    fn thrown(&mut self, id: InstanceId) -> BaseId {
        self.base(Base::Thrown(self.instances[id].thread))
    }

    /// Handles a call that throws an object of the program, with a destructor.
    pub(super) fn throw(&mut self, id: InstanceId, at: u32, call: &Instruction) {
        let operand =
            |index: usize| call.operands.get(index).map(|operand| self.operand(id, operand)).unwrap_or_default();
        let (object, destructors) = (operand(OBJECT), operand(DESTRUCTOR));
        let thrown = self.thrown(id);
        self.write(id, at, &Addresses::one(thrown, Congruence::exact(0)), &object);
        let thread = self.instances[id].thread;
        for (destructor, _) in destructors.iter() {
            if self.destructors.entry((thread, destructor)).or_default().add_all(&object) {
                self.work.extend(self.catchers.iter().copied());
            }
        }
    }

    /// Returns the exceptions that a landing pad may receive.
    pub(super) fn received(&mut self, id: InstanceId, at: u32, pad: &Instruction) -> Addresses {
        let thrown = self.thrown(id);
        let mut all = self.read(id, at, &Addresses::one(thrown, Congruence::exact(0)), POINTER);
        // Pads without handlers have no operands; what they receive is only passed on.
        if !pad.operands.is_empty() && !pad.operands.iter().all(|ty| self.is_own_type(id, ty)) {
            all.add_all(&self.unknown(Origin::Exception));
        }
        all
    }

    /// Returns true if a handler takes only exceptions of a type that the program defines, or numbers, so that no
    /// library throws them.
    fn is_own_type(&self, id: InstanceId, ty: &Operand) -> bool {
        let Operand::Symbol(symbol, 0) = ty else { return false };
        let module = self.program.function(self.instances[id].function).1;
        let Entity::Variable(variable) = self.program.entity(module, *symbol).0 else { return false };
        let is_defined = matches!(self.program.variable_kind(variable), SymbolKind::Variable { defined: true, .. });
        let name = self.program.variable_of(variable).name.strip_prefix(TYPE);
        // A letter stands for a type of numbers; what the library defines is in `St`.
        name.is_some_and(|name| name.len() == 1 || is_defined && !name.contains("St"))
    }

    /// Returns the object that a handler gets: the exception, a part of it, or what it points to if it is a pointer.
    pub(super) fn caught(&mut self, id: InstanceId, at: u32, call: &Instruction) -> Addresses {
        let exception = call.operands.get(OBJECT).map(|operand| self.operand(id, operand)).unwrap_or_default();
        let mut all = exception.map(|_| Congruence::ANY);
        let content = self.read(id, at, &all, POINTER);
        all.add_all(&content);
        all
    }

    /// Handles the end of a handler, which calls the destructors of all exceptions that may end there.
    pub(super) fn end_of_catch(&mut self, id: InstanceId, at: u32) {
        self.catchers.insert((id, at));
        let thread = self.instances[id].thread;
        let destructors: Vec<(BaseId, Addresses)> = (self.destructors.iter())
            .filter(|((of, _), _)| *of == thread)
            .map(|((_, destructor), objects)| (*destructor, objects.clone()))
            .collect();
        for (destructor, objects) in destructors {
            match self.describe(destructor).clone() {
                Base::Function(function) => {
                    let callee = self.callee(id, at, function);
                    if self.exhausted {
                        return;
                    }
                    if let Some(parameter) = self.instances[callee].parameters.first_mut()
                        && parameter.add_all(&objects)
                    {
                        self.parameter_changed(callee, 0);
                    }
                }
                Base::Outside(name) => {
                    self.instances[id].outside.entry(at).or_default().insert(name);
                }
                // The solver reports a destructor that is not known.
                _ => {
                    let name = "the destructor of an exception".to_owned();
                    self.instances[id].outside.entry(at).or_default().insert(name);
                }
            }
        }
    }

    /// Returns the exceptions that may be destroyed at the end of a handler.
    pub(crate) fn destroyed(&self, id: InstanceId) -> Addresses {
        let thrown = self.find_base(&Base::Thrown(self.instances[id].thread));
        let objects = thrown.into_iter().flat_map(|thrown| self.contents(thrown));
        Addresses(objects.map(|object| (object, Congruence::ANY)).collect())
    }
}
