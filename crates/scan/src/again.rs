//! Locks that may be taken again by the one who has them.
//!
//! A recursive mutex is free when it was given back as often as it was taken. To count that is right for every mutex but those
//! that check for errors: they refuse to be taken again, and are free when they are given back once. So it is counted only where
//! the program makes clear that a mutex is recursive.

use crate::address::{Base, BaseId, Offset};
use crate::objects::written_plainly;
use crate::points_to::PointsTo;
use racehunter_ir::{Operand, SymbolKind};

/// Functions that say by their second argument what kind a mutex is of.
const KINDS: [&str; 2] = ["pthread_mutexattr_settype", "pthread_mutexattr_setkind_np"];
/// The same for C11, where there is no kind that checks.
const WITHOUT_CHECKS: &str = "mtx_init";
/// `PTHREAD_MUTEX_RECURSIVE`.
const RECURSIVE: i64 = 1;
/// Bytes of a mutex, at most.
const MUTEX: u64 = 40;

/// Which locks are counted.
pub struct Again {
    /// Whether no mutex whose kind is said while the program runs checks for errors, and there are some.
    by_calls: bool,
    /// What is written otherwise than by the functions of locks: there a kind may be said, too.
    written: Vec<(BaseId, Offset, u64)>,
}

impl Again {
    /// Looks at what the program says about kinds.
    pub fn of(points_to: &PointsTo<'_>) -> Self {
        let mut kinds = Vec::new();
        for instance in &points_to.instances {
            let code = points_to.program.function(instance.function).0;
            for (&at, names) in &instance.outside {
                if names.contains(WITHOUT_CHECKS) {
                    kinds.push(true);
                }
                if KINDS.iter().any(|name| names.contains(*name)) {
                    let kind = code.instructions[at as usize].operands.get(2);
                    kinds.push(kind == Some(&Operand::Integer(RECURSIVE)));
                }
            }
        }
        let is_said = !kinds.is_empty() || has_initial_kinds(points_to);
        let written = if is_said { written_plainly(points_to) } else { Vec::new() };
        Self { by_calls: !kinds.is_empty() && !kinds.contains(&false), written }
    }

    /// Whether the lock at an address is surely no mutex that refuses to be taken again.
    pub fn counts(&self, points_to: &PointsTo<'_>, base: BaseId, at: i64) -> bool {
        let mut written = self.written.iter().filter(|(other, ..)| *other == base);
        if written.any(|(_, offset, bytes)| offset.overlaps(*bytes, Offset::exact(at), MUTEX)) {
            return false;
        }
        let Base::Variable(variable) = *points_to.describe(base) else { return self.by_calls };
        let described = points_to.program.variable_of(variable);
        let symbol = &points_to.program.modules[described.module].symbols[described.symbol.0 as usize];
        let SymbolKind::Variable { numbers: Some(numbers), .. } = &symbol.kind else { return false };
        let Ok(begin) = u64::try_from(at) else { return false };
        let mut inside =
            numbers.iter().filter(|number| (begin..begin + MUTEX).contains(&number.at) && number.value != 0).peekable();
        match inside.peek() {
            None => self.by_calls,
            Some(_) => inside.all(|number| number.value == RECURSIVE),
        }
    }
}

/// Whether a variable has a number in its initialiser that may say what kind of lock it is.
fn has_initial_kinds(points_to: &PointsTo<'_>) -> bool {
    points_to.program.variables().any(|variable| {
        let described = points_to.program.variable_of(variable);
        let kind = &points_to.program.modules[described.module].symbols[described.symbol.0 as usize].kind;
        matches!(kind, SymbolKind::Variable { numbers: Some(numbers), .. } if numbers.iter().any(|number| number.value == RECURSIVE))
    })
}
