//! Whether the schedule alone decides what a program does, so that all schedules together show everything that it can
//! do (tier D).
//!
//! The analysis is conservative: a function that is not known to behave the same each time, a value that may be
//! uninitialised, an address that is compared or computed with, and a memory order that executions do not show are each
//! a reason to claim nothing. Start at [`why_open`].

use crate::models::Model;
use crate::pointer::address::Base;
use crate::pointer::{InstanceId, MAIN, PointsTo};
use crate::ranges::Initialised;
use racehunter_ir::{CastOperator, Instruction, InstructionId, Operand, Operation, Order, Predicate, SymbolKind, Type};

/// Functions that behave the same each time, or as the schedule says.
const SAME: [&str; 32] = [
    "pthread_mutex_unlock",
    "pthread_mutex_destroy",
    "pthread_spin_unlock",
    "pthread_spin_destroy",
    "pthread_rwlock_unlock",
    "pthread_rwlock_destroy",
    "mtx_unlock",
    "mtx_destroy",
    "pthread_join",
    "thrd_join",
    "pthread_exit",
    "thrd_exit",
    "pthread_cond_wait",
    "pthread_cond_signal",
    "pthread_cond_broadcast",
    "pthread_cond_destroy",
    "cnd_wait",
    "cnd_signal",
    "cnd_broadcast",
    "cnd_destroy",
    "pthread_barrier_destroy",
    "pthread_once",
    "call_once",
    "sem_post",
    "sem_destroy",
    "abort",
    "exit",
    "_exit",
    "__assert_fail",
    "free",
    "__VERIFIER_atomic_begin",
    "__VERIFIER_atomic_end",
];

/// The same for functions that may fail, as long as the program does not check the result.
const SAME_IF_UNASKED: [&str; 25] = [
    "pthread_mutex_lock",
    "pthread_spin_lock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "mtx_lock",
    "pthread_create",
    "thrd_create",
    "pthread_detach",
    "pthread_mutex_init",
    "pthread_spin_init",
    "pthread_rwlock_init",
    "mtx_init",
    "pthread_cond_init",
    "cnd_init",
    "pthread_barrier_init",
    "pthread_barrier_wait",
    "sem_init",
    "sem_wait",
    "pthread_mutexattr_init",
    "pthread_mutexattr_settype",
    "pthread_mutexattr_destroy",
    "printf",
    "puts",
    "putchar",
    "fprintf",
];

/// Functions that allocate memory and may return null; the second one zeroes it.
const MADE: [&str; 2] = ["malloc", "calloc"];
const ZEROED: &str = "calloc";

/// Compiler intrinsics that do nothing, or compute.
const NOTHING: [&str; 7] = [
    "llvm.dbg.",
    "llvm.lifetime.",
    "llvm.assume",
    "llvm.donothing",
    "llvm.expect.",
    "llvm.threadlocal.",
    "llvm.memset.",
];

/// Returns why executions do not show everything that the program can do; nothing if they do.
pub fn why_open(points_to: &PointsTo<'_>) -> Option<String> {
    let initialised = Initialised::of(points_to);
    points_to.instances.entries().find_map(|(id, instance)| {
        let code = points_to.program.function(instance.function).0;
        (0..).zip(&code.instructions).find_map(|(at, instruction)| {
            let why = Look { points_to, initialised: &initialised, id, at, instruction }.why()?;
            Some(format!("{why} ({})", points_to.program.place(instance.function, at)))
        })
    })
}

/// Returns true if the program waits on condition variables: spurious wake-ups must then be tried too.
pub fn waits(points_to: &PointsTo<'_>) -> bool {
    let mut names = points_to.instances.iter().flat_map(|instance| instance.outside.values().flatten());
    names.any(|name| matches!(points_to.models.of(name), Some(Model::Wait(_))))
}

struct Look<'a, 'p> {
    points_to: &'a PointsTo<'p>,
    initialised: &'a Initialised,
    id: InstanceId,
    at: u32,
    instruction: &'a Instruction,
}

impl Look<'_, '_> {
    fn why(&self) -> Option<&'static str> {
        let instruction = self.instruction;
        let is_main = self.points_to.threads[MAIN].root == self.id;
        for operand in &instruction.operands {
            match operand {
                Operand::Parameter(_) if is_main => return Some("it depends on the arguments of the program"),
                Operand::Undefined if !matches!(instruction.operation, Operation::Insert(_)) => {
                    return Some("it may depend on a value that is not initialised");
                }
                Operand::Assembler { .. } => return Some("it contains assembler"),
                _ => {}
            }
        }
        let orders: &[Option<Order>] = match &instruction.operation {
            Operation::Load { order, .. } | Operation::Store { order, .. } => &[*order],
            Operation::Update { order, .. } => &[Some(*order)],
            Operation::CompareExchange { weak: true, .. } => return Some("an exchange may fail without a reason"),
            Operation::CompareExchange { success, failure, .. } => &[Some(*success), Some(*failure)],
            Operation::Fence(_) => &[Some(Order::Relaxed)],
            _ => &[],
        };
        if orders.iter().flatten().any(|order| *order != Order::SequentiallyConsistent) {
            return Some("executions do not show all that its memory order allows");
        }
        match (&instruction.operation, &instruction.operands[..]) {
            (Operation::Load { bytes, .. }, [address]) => self.load(address, *bytes),
            (Operation::Cast(CastOperator::PointerToInteger), [pointer]) if self.leads(pointer, |_| true) => {
                Some("it computes with addresses")
            }
            (Operation::Binary(_) | Operation::Switch, operands)
                if operands.iter().any(|operand| self.leads(operand, |_| true)) =>
            {
                Some("it computes with addresses")
            }
            (Operation::Compare(predicate), [left, right]) => self.compare(*predicate, left, right),
            (Operation::CompareExchange { .. }, [_, left, right]) => self.compare(Predicate::Equal, left, right),
            (Operation::Call | Operation::Invoke { .. }, _) => self.call(),
            (Operation::VariableArgument | Operation::LandingPad | Operation::Other(_), _) => {
                Some("it contains an instruction that is not followed")
            }
            _ => None,
        }
    }

    /// Returns true if a value points to memory of some kind.
    fn leads(&self, operand: &Operand, is_it: impl Fn(&Base) -> bool) -> bool {
        let addresses = self.points_to.operand(self.id, operand);
        addresses.iter().any(|(base, _)| {
            let base = self.points_to.describe(base);
            !matches!(base, Base::Function(_) | Base::Handle(_)) && is_it(base)
        })
    }

    /// Checks a load: the program must definitely have initialised the memory.
    fn load(&self, address: &Operand, bytes: u64) -> Option<&'static str> {
        let value = self.points_to.operand(self.id, &Operand::Instruction(InstructionId(self.at)));
        let is_handle = |base| matches!(self.points_to.describe(base), Base::Handle(_) | Base::Outside(_));
        // Joining a thread that was never created is not allowed, and a handle has no other relevant use. The library's
        // streams always exist.
        if !value.is_empty() && value.iter().all(|(base, _)| is_handle(base)) {
            return None;
        }
        for (base, offset) in self.points_to.operand(self.id, address).iter() {
            let is_sure = match *self.points_to.describe(base) {
                Base::Variable(variable) => {
                    let kind = self.points_to.program.variable_kind(variable);
                    matches!(kind, SymbolKind::Variable { defined: true, .. })
                }
                Base::Heap(id, at) if self.is_zeroed(id, at) => true,
                Base::Local(..) | Base::Heap(..) => offset
                    .only()
                    .is_some_and(|at| self.initialised.is_set(self.points_to, (base, at, bytes), (self.id, self.at))),
                _ => false,
            };
            if !is_sure {
                return Some("it may depend on memory that is not initialised, or comes from outside");
            }
        }
        None
    }

    fn is_zeroed(&self, id: InstanceId, at: u32) -> bool {
        let names = self.points_to.instances[id].outside.get(&at);
        names.is_some_and(|names| names.iter().all(|name| name == ZEROED))
    }

    /// Checks a comparison: the addresses of allocated memory, and whether an allocation succeeds, can differ each
    /// time.
    fn compare(&self, predicate: Predicate, left: &Operand, right: &Operand) -> Option<&'static str> {
        let is_made = |base: &Base| !matches!(base, Base::Variable(_) | Base::Local(..));
        let is_number = |operand: &Operand| match operand {
            Operand::Integer(value) => *value != 0,
            Operand::Constant(_) => true,
            _ => matches!(self.points_to.type_of(self.id, operand), Some(Type::Integer(_))),
        };
        let is_order =
            !matches!(predicate, Predicate::Equal | Predicate::NotEqual) || is_number(left) || is_number(right);
        let asks = |operand: &Operand| self.leads(operand, |base| is_order || is_made(base));
        (asks(left) || asks(right)).then_some("it compares addresses, or asks whether there is memory")
    }

    fn call(&self) -> Option<&'static str> {
        let instance = &self.points_to.instances[self.id];
        let code = self.points_to.program.function(instance.function).0;
        let this = Operand::Instruction(InstructionId(self.at));
        let is_asked = || code.instructions.iter().any(|other| other.operands.contains(&this));
        let is_same = |name: &String| {
            let name = name.as_str();
            SAME.contains(&name)
                || MADE.contains(&name)
                || NOTHING.iter().any(|prefix| name.starts_with(prefix))
                || (SAME_IF_UNASKED.contains(&name) && !is_asked())
                || (name.starts_with("llvm.memcpy.") && self.copies_variables())
        };
        let names = instance.outside.get(&self.at);
        (!names.into_iter().flatten().all(is_same)).then_some("it calls a function that may do another thing each time")
    }

    /// Returns true for a copy of variables, which the program has initialised.
    fn copies_variables(&self) -> bool {
        let is_variable = |base: &Base| matches!(base, Base::Variable(_));
        self.instruction.operands.get(2).is_some_and(|from| !self.leads(from, |base| !is_variable(base)))
    }
}
