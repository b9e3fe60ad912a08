//! Publication of fresh memory: does every thread that gets its address get it after what the owner did before?
//!
//! The address of fresh memory leaves its thread as an argument of a new thread, or through memory. In memory, a thread
//! finds it by a load that reads what a store has stored, perhaps passed on by other threads. If either is a plain
//! access, the two are a pair like any other: they are ordered, or they are suspected and nothing is proved. But two
//! atomic accesses never race, and they order nothing unless the store releases and the load acquires. So if such a
//! pair is unordered and can pass on the address of some memory, the memory counts as shared since its allocation.
//!
//! An atomic update that only changes what it finds passes it on as it was: it continues the release sequence of the
//! store that it read from. Start at [`drop_unpublished`].

use super::access::Access;
use super::candidates::Rules;
use crate::pointer::PointsTo;
use crate::pointer::address::{Base, BaseId};
use crate::solver::memory::{acquires, releases};
use racehunter_ir::{InstructionId, Operand, Operation};
use rustc_hash::{FxHashMap, FxHashSet};

/// What an atomic access does with addresses of fresh memory.
struct Transfer<'a> {
    access: &'a Access,
    /// The bases whose addresses it may store.
    stores: FxHashSet<BaseId>,
    /// True if what its thread did before is ordered before what it stores.
    releases: bool,
    /// The bases whose addresses it may load.
    loads: FxHashSet<BaseId>,
    /// True if what its thread does next is ordered after what it loads.
    acquires: bool,
}

/// Drops accesses to fresh memory, except to memory that may be published without order.
pub fn drop_unpublished(rules: &Rules<'_, '_, '_>, accesses: &mut FxHashMap<BaseId, Vec<Access>>) {
    let fresh: FxHashSet<BaseId> =
        accesses.iter().filter(|(_, list)| list.iter().any(|access| access.fresh)).map(|(base, _)| *base).collect();
    if fresh.is_empty() {
        return;
    }
    let shared = shared(rules, &fresh, accesses);
    accesses.retain(|base, list| {
        list.retain(|access| !access.fresh || shared.contains(base));
        !list.is_empty()
    });
}

/// Returns the fresh memory whose address another thread may get without order.
fn shared(
    rules: &Rules<'_, '_, '_>,
    fresh: &FxHashSet<BaseId>,
    accesses: &FxHashMap<BaseId, Vec<Access>>,
) -> FxHashSet<BaseId> {
    let mut transfers: Vec<(BaseId, Vec<Transfer<'_>>)> = Vec::new();
    for (&base, list) in accesses {
        let atomic = list.iter().filter(|access| access.atomic);
        let list: Vec<_> = atomic.filter_map(|access| transfer(rules.points_to, fresh, access)).collect();
        if !list.is_empty() {
            transfers.push((base, list));
        }
    }
    let mut shared: FxHashSet<BaseId> = FxHashSet::default();
    loop {
        let before = shared.len();
        for (base, list) in &transfers {
            for store in list {
                for load in list {
                    // As long as no other thread has the memory, nothing is passed on through it.
                    if (store.access.fresh || load.access.fresh) && !shared.contains(base) {
                        continue;
                    }
                    let mut passed = store.stores.intersection(&load.loads).filter(|base| !shared.contains(base));
                    if store.releases && load.acquires || passed.next().is_none() {
                        continue;
                    }
                    if !rules.exclude(*base, store.access, load.access) {
                        shared.extend(store.stores.intersection(&load.loads));
                    }
                }
            }
        }
        if shared.len() == before {
            return shared;
        }
    }
}

/// Describes what an atomic access does with addresses of fresh memory; none if it has to do with none.
fn transfer<'a>(points_to: &PointsTo<'_>, fresh: &FxHashSet<BaseId>, access: &'a Access) -> Option<Transfer<'a>> {
    let (id, instruction) = (access.instance, points_to.instruction(access.instance, access.at));
    let bases = |operand: Option<&Operand>| {
        let addresses = operand.map(|operand| points_to.operand(id, operand)).unwrap_or_default();
        let mut bases: FxHashSet<BaseId> = addresses.iter().map(|(base, _)| base).collect();
        // An address that was not followed may be any.
        if bases.iter().any(|base| matches!(points_to.describe(*base), Base::Unknown(_))) {
            bases.extend(fresh);
        }
        bases.retain(|base| fresh.contains(base));
        bases
    };
    let operand = |index: usize| bases(instruction.operands.get(index));
    let result = || bases(Some(&Operand::Instruction(InstructionId(access.at))));
    let none = FxHashSet::default;
    let (stores, does_release, loads, acquires) = match instruction.operation {
        Operation::Load { order: Some(order), .. } => (none(), false, result(), acquires(order)),
        Operation::Store { order: Some(order), .. } => (operand(0), releases(order), none(), true),
        Operation::Update { order, .. } => (operand(1), releases(order), result(), acquires(order)),
        // A thread that finds what it expects has that address already, but perhaps from an earlier publication.
        Operation::CompareExchange { success, failure, .. } => {
            let acquires = acquires(failure) && (acquires(success) || operand(1).is_empty());
            (operand(2), releases(success), result(), acquires)
        }
        _ => return None,
    };
    let is_any = !stores.is_empty() || !loads.is_empty();
    let releases = does_release || access.state.fenced.0;
    is_any.then_some(Transfer { access, stores, releases, loads, acquires })
}
