//! Semaphores, barriers and the variables of `pthread_once` as memory. Their models rely on the functions that operate
//! on them, so a program that writes to them in other ways is not modelled.

use crate::domain::congruence::Congruence;
use crate::models::{CallBack, Model};
use crate::pointer::address::{Addresses, Base, BaseId};
use crate::pointer::{InstanceId, PointsTo};
use crate::race::touch::touched;
use racehunter_ir::{Operand, Operation};

/// Bytes of a semaphore or a barrier.
const OBJECT: u64 = 32;
/// Bytes of the variable of `pthread_once`.
const ONCE: u64 = 4;

/// Returns instructions that write to such an object other than by its functions. Zeroing it, as programs do before
/// they use it, counts only for `pthread_once`: a semaphore that is zero lets no thread pass.
pub fn overwritten(points_to: &PointsTo<'_>) -> Vec<(InstanceId, u32)> {
    let (mut counters, mut once) = (Addresses::default(), Addresses::default());
    for (id, at, name) in calls(points_to) {
        let code = points_to.code(id);
        let operand = |index: usize| {
            let operand = code.instructions[at as usize].operands.get(index + 1);
            operand.map(|operand| points_to.operand(id, operand)).unwrap_or_default()
        };
        match points_to.models.of(name) {
            Some(Model::Semaphore(semaphore)) => counters.add_all(&operand(semaphore.semaphore)),
            Some(Model::Barrier(barrier)) => counters.add_all(&operand(barrier.barrier)),
            Some(Model::Call(CallBack { once: Some(variable), .. })) => once.add_all(&operand(variable)),
            _ => false,
        };
    }
    if counters.is_empty() && once.is_empty() {
        return Vec::new();
    }
    let hits = |objects: &Addresses, bytes: u64, (base, offset): (BaseId, Congruence), written: u64| {
        objects.0.get(&base).is_some_and(|object| object.overlaps(bytes, offset, written))
    };
    let mut found = Vec::new();
    for (id, at, is_zeroing) in writers(points_to) {
        let touches = touched(points_to, id, at).into_iter().filter(|touch| touch.mode.stores());
        let is_hit = touches.into_iter().any(|touch| {
            touch.addresses.iter().any(|address| {
                (!is_zeroing && hits(&counters, OBJECT, address, touch.bytes))
                    || hits(&once, ONCE, address, touch.bytes)
            })
        });
        if is_hit {
            found.push((id, at));
        }
    }
    found
}

fn calls<'a>(points_to: &'a PointsTo<'_>) -> impl Iterator<Item = (InstanceId, u32, &'a String)> {
    (0..).zip(&points_to.instances).flat_map(|(index, instance)| {
        let calls = instance.outside.iter();
        calls.flat_map(move |(&at, names)| names.iter().map(move |name| (InstanceId(index), at, name)))
    })
}

/// Returns instructions that write to memory without a known purpose, and whether they zero it.
fn writers(points_to: &PointsTo<'_>) -> Vec<(InstanceId, u32, bool)> {
    let mut found = Vec::new();
    for (index, instance) in (0..).zip(&points_to.instances) {
        let code = points_to.program.function(instance.function).0;
        for (at, instruction) in (0..).zip(&code.instructions) {
            let is_store = matches!(
                instruction.operation,
                Operation::Store { .. } | Operation::Update { .. } | Operation::CompareExchange { .. }
            );
            let names = instance.outside.get(&at).into_iter().flatten();
            let is_access = |name: &String| matches!(points_to.models.of(name), Some(Model::Access(access)) if access.whole.is_empty());
            let is_zeroing = |name: &String| {
                (name.starts_with("llvm.memset.") || name == "memset")
                    && instruction.operands.get(2) == Some(&Operand::Integer(0))
            };
            if is_store || names.clone().any(is_access) {
                found.push((InstanceId(index), at, !is_store && names.clone().all(is_zeroing)));
            }
        }
    }
    found
}

/// Returns places where a lock may have been written other than by its functions.
pub fn written_plainly(points_to: &PointsTo<'_>) -> Vec<(BaseId, Congruence, u64)> {
    let mut found = Vec::new();
    for (id, at, is_zeroing) in writers(points_to) {
        if !is_zeroing {
            for touch in touched(points_to, id, at).into_iter().filter(|touch| touch.mode.stores()) {
                found.extend(touch.addresses.iter().map(|(base, offset)| (base, offset, touch.bytes)));
            }
        }
    }
    found
        .retain(|(base, ..)| matches!(points_to.describe(*base), Base::Variable(_) | Base::Local(..) | Base::Heap(..)));
    found
}
