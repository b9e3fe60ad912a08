//! Where the values of loads are used.

use crate::reentrance::{Calls, Place};
use racehunter_ir::{BinaryOperator, Function, Instruction, Module, Operand, Operation, SymbolKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// A value of a function: the result of an instruction, or a parameter.
type Value = (Place, Operand);

/// What was found out about loads, which are named by their sites.
#[derive(Default)]
pub(crate) struct Uses {
    /// Loads whose value may decide at once, or is lost sight of.
    pub(crate) decisive: FxHashSet<u32>,
    /// Accesses, and loads that decide their addresses.
    pub(crate) addresses: FxHashSet<(u32, u32)>,
    /// Accesses, and loads that flow into what they write.
    pub(crate) values: FxHashSet<(u32, u32)>,
}

/// What is done with an operand.
enum Role {
    /// The value goes on in the result.
    Computes,
    /// The address of an access.
    Address,
    /// The value that an access writes.
    Written,
    /// The thread may do something else, or the value is not followed.
    Decides,
    /// Which parameter of which functions it becomes.
    Passed(u32),
    /// It is not a value.
    Nothing,
}

struct Walk<'a> {
    modules: &'a [Module],
    calls: &'a Calls,
    firsts: &'a [u32],
    /// Of each function, who uses each value: instruction and position of the operand.
    users: FxHashMap<Place, FxHashMap<Operand, Vec<(u32, usize)>>>,
    uses: Uses,
}

impl Uses {
    pub(crate) fn of(modules: &[Module], firsts: &[u32]) -> Self {
        let calls = Calls::of(modules);
        let reentrant = calls.reentrant(modules);
        let mut walk = Walk { modules, calls: &calls, firsts, users: FxHashMap::default(), uses: Self::default() };
        for (number, module) in modules.iter().enumerate() {
            for (position, function) in module.functions.iter().enumerate() {
                let place = (number, position);
                let opaque = reentrant.contains(&place) || returns_twice(module, function);
                for (id, instruction) in function.instructions.iter().enumerate() {
                    let Some(site) = instruction.site.filter(|_| gives_a_value(&instruction.operation)) else {
                        continue;
                    };
                    let site = firsts[number] + site;
                    if opaque {
                        walk.uses.decisive.insert(site);
                    } else {
                        walk.follow(site, (place, Operand::Instruction(racehunter_ir::InstructionId(id as u32))));
                    }
                }
            }
        }
        walk.uses
    }
}

/// Accesses whose result is followed. A compare-and-exchange is there to be decided by.
fn gives_a_value(operation: &Operation) -> bool {
    matches!(operation, Operation::Load { .. } | Operation::Update { .. })
}

/// Whether a function can go on again from where it was, as with `setjmp`.
fn returns_twice(module: &Module, function: &Function) -> bool {
    function.instructions.iter().any(|instruction| {
        let Some(Operand::Symbol(symbol, _)) = instruction.operands.first() else { return false };
        let kind = module.symbol(*symbol).map(|symbol| &symbol.kind);
        matches!(kind, Some(SymbolKind::Function { attributes, .. }) if attributes.returns_twice)
    })
}

impl Walk<'_> {
    /// Follows a load to all its uses.
    fn follow(&mut self, load: u32, value: Value) {
        let mut seen: FxHashSet<Value> = FxHashSet::default();
        let mut waiting = vec![value];
        while let Some(value) = waiting.pop() {
            if !seen.insert(value.clone()) {
                continue;
            }
            let (place, ref operand) = value;
            for (user, at) in self.users_of(place, operand) {
                let instruction = &self.modules[place.0].functions[place.1].instructions[user as usize];
                let site = instruction.site.map(|site| self.firsts[place.0] + site);
                match (self.role(place.0, instruction, at), site) {
                    (Role::Nothing, _) => {}
                    (Role::Computes, _) => {
                        waiting.push((place, Operand::Instruction(racehunter_ir::InstructionId(user))));
                    }
                    (Role::Address, Some(site)) => {
                        self.uses.addresses.insert((site, load));
                    }
                    (Role::Written, Some(site)) => {
                        self.uses.values.insert((site, load));
                    }
                    (Role::Passed(parameter), _) => match self.callees(place.0, instruction, parameter) {
                        Some(callees) => {
                            waiting.extend(callees.into_iter().map(|callee| (callee, Operand::Parameter(parameter))));
                        }
                        None => {
                            self.uses.decisive.insert(load);
                        }
                    },
                    (Role::Decides | Role::Address | Role::Written, _) => {
                        self.uses.decisive.insert(load);
                    }
                }
            }
            if self.uses.decisive.contains(&load) {
                // Necessary from its next event on: nothing else adds to that.
                return;
            }
        }
    }

    fn users_of(&mut self, place: Place, value: &Operand) -> Vec<(u32, usize)> {
        let function = &self.modules[place.0].functions[place.1];
        let users = self.users.entry(place).or_insert_with(|| {
            let mut users: FxHashMap<Operand, Vec<(u32, usize)>> = FxHashMap::default();
            for (id, instruction) in (0..).zip(&function.instructions) {
                for (at, operand) in instruction.operands.iter().enumerate() {
                    if matches!(operand, Operand::Instruction(_) | Operand::Parameter(_)) {
                        users.entry(operand.clone()).or_default().push((id, at));
                    }
                }
            }
            users
        });
        users.get(value).cloned().unwrap_or_default()
    }

    /// The functions of the program that a call leads to, if it leads nowhere else and they have this parameter.
    fn callees(&self, module: usize, call: &Instruction, parameter: u32) -> Option<Vec<Place>> {
        let Some(Operand::Symbol(symbol, 0)) = call.operands.first() else { return None };
        let callees = self.calls.callees(self.modules, module, symbol.0);
        let fits = |&(module, position): &Place| {
            (parameter as usize) < self.modules[module].functions[position].parameters.len()
        };
        (!callees.is_empty() && callees.iter().all(fits)).then(|| callees.to_vec())
    }

    /// What an instruction does with its operand number `at`.
    fn role(&self, module: usize, instruction: &Instruction, at: usize) -> Role {
        use BinaryOperator::{Divide, Remainder, UnsignedDivide, UnsignedRemainder};
        match (&instruction.operation, at) {
            (Operation::Load { .. }, 0) | (Operation::Store { .. }, 1) | (Operation::Update { .. }, 0) => Role::Address,
            (Operation::Store { .. }, 0) | (Operation::Update { .. }, 1) => Role::Written,
            (Operation::Binary(Divide | UnsignedDivide | Remainder | UnsignedRemainder), _) => Role::Decides,
            (
                Operation::Binary(_)
                | Operation::Negate
                | Operation::Cast(_)
                | Operation::Compare(_)
                | Operation::CompareFloat
                | Operation::Select
                | Operation::Offset { .. }
                | Operation::Extract(_)
                | Operation::Insert(_)
                | Operation::ExtractLane
                | Operation::InsertLane
                | Operation::Shuffle
                | Operation::Freeze,
                _,
            ) => Role::Computes,
            (Operation::Call | Operation::Invoke { .. }, 1..) => self.argument(module, instruction, at),
            (Operation::Unreachable | Operation::Jump | Operation::Fence(_), _) => Role::Nothing,
            // Branches, phis, results of functions, callees, and whatever is not known.
            _ => Role::Decides,
        }
    }

    fn argument(&self, module: usize, call: &Instruction, at: usize) -> Role {
        let name = match call.operands.first() {
            Some(Operand::Symbol(symbol, 0)) => self.modules[module].symbol(*symbol).map_or("", |symbol| &symbol.name),
            _ => "",
        };
        // What only tells the compiler something.
        if ["llvm.lifetime.", "llvm.dbg.", "llvm.assume"].iter().any(|prefix| name.starts_with(prefix)) {
            return Role::Nothing;
        }
        Role::Passed(at as u32 - 1)
    }
}
