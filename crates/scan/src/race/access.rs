//! Accesses: every range of shared memory that an instruction touches, with the solver's state there.
//!
//! An access is left out only if no other thread can reach the memory, because it never escapes. Accesses to memory that
//! the thread has just allocated are marked, and [`super::publication`] decides about them. An unknown address is a gap.
//! Start at [`accesses`].

use super::lifetime::{allocated, ended, ends, given_back};
use super::touch::{Touch, touched, touches};
use crate::domain::congruence::Congruence;
use crate::domain::lattice::MustMap;
use crate::locks::lockset::{self, Distance};
use crate::locks::striping::{self, StripedLock};
use crate::models::Model;
use crate::order::gate::{self, Releases};
use crate::order::unique::UniqueRow;
use crate::pointer::address::{Base, BaseId};
use crate::pointer::{InstanceId, PointsTo, ThreadId, fresh};
use crate::program::{SourceLocation, VariableId};
use crate::solver::{Solution, Solver, State};
use crate::threads::parallel::ThreadTree;
use racehunter_ir::{Operand, SymbolKind};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// A range of memory that an instruction touches.
#[derive(Clone, Debug)]
pub struct Access {
    /// The instance.
    pub instance: InstanceId,
    /// The instruction.
    pub at: u32,
    /// The thread.
    pub thread: ThreadId,
    /// True if it writes.
    pub write: bool,
    /// True if it is atomic.
    pub atomic: bool,
    /// True if its thread has just allocated the memory. It counts only if the memory is [published](super::publication)
    /// without order.
    pub fresh: bool,
    /// Its offset in the base.
    pub offset: Congruence,
    /// Its size in bytes.
    pub bytes: u64,
    /// The address operand.
    pub address: Operand,
    /// The solver's state.
    pub state: State,
    /// The element that it accesses, by an index that no other thread has.
    pub row: Option<UniqueRow>,
    /// Distances from its address to held locks, and whether others can hold them too.
    pub guards: Vec<Distance>,
    /// Held locks that are identified by its row.
    pub striped_locks: Vec<StripedLock>,
}

/// What is said about memory that a library keeps for a thread, where another thread may reach it.
const OF_LIBRARY: &str = "it leads to memory that the library has for each thread";

/// What is said about an address without targets.
const NOWHERE: &str = "nothing stores one where it is read";

/// Accesses whose address is not known.
#[derive(Default)]
struct Missing {
    /// Those whose address has no targets at all.
    nowhere: BTreeSet<(InstanceId, u32)>,
    /// The others, by where the address comes from: a description of the origin covers all of them.
    by_origin: BTreeMap<String, BTreeSet<(InstanceId, u32)>>,
}

impl Missing {
    fn add(&mut self, origin: String, access: (InstanceId, u32)) {
        self.by_origin.entry(origin).or_default().insert(access);
    }

    /// Reports one gap for each origin, at the first place where such an address is used.
    fn tell(&self, points_to: &PointsTo<'_>, solver: &mut Solver<'_, '_>) {
        for &(id, at) in &self.nowhere {
            solver.gaps.add(points_to, id, at, &format!("an address that is not known: {NOWHERE}"));
        }
        for (origin, accesses) in &self.by_origin {
            let place = |&(id, at): &(InstanceId, u32)| points_to.program.place(points_to.instances[id].function, at);
            let places: BTreeSet<SourceLocation> = accesses.iter().map(place).collect();
            let Some(&(id, at)) = accesses.iter().min_by_key(|access| place(access)) else { continue };
            let others = if places.len() > 1 { format!(" (used at {} places)", places.len()) } else { String::new() };
            solver.gaps.add(points_to, id, at, &format!("an address that is not known: {origin}{others}"));
        }
    }
}

/// Collects the accesses of all threads, by base; also which locks may be released while threads are running.
pub fn accesses(
    points_to: &PointsTo<'_>,
    solution: &Solution,
    tree: &ThreadTree,
    solver: &mut Solver<'_, '_>,
) -> (FxHashMap<BaseId, Vec<Access>>, Releases) {
    let mut found: FxHashMap<BaseId, Vec<Access>> = FxHashMap::default();
    let mut releases = Releases::new();
    let mut scratch = solution.scratch();
    let mut missing = Missing::default();
    let mut foreign: BTreeMap<(InstanceId, u32), bool> = BTreeMap::new();
    for id in points_to.instances.ids() {
        let instance = &points_to.instances[id];
        let code = points_to.program.function(instance.function).0;
        for block in 0..code.blocks.len() as u32 {
            let escaped = solver.escaped;
            let mut states: Vec<(u32, State)> = Vec::new();
            solution.each_state(solver, tree, (id, block), &mut scratch, &mut |at, state| {
                let operation = &code.instructions[at as usize].operation;
                if !touches(operation) && !ends(operation) {
                    return;
                }
                if !state.active.is_empty() {
                    for lock in gate::released(points_to, id, at) {
                        releases.entry((instance.thread, lock)).or_default().extend(state.active.iter());
                    }
                }
                if let Some(locks) = given_back(points_to, id, at) {
                    let may_have =
                        state.may_hold.contains(&None) || locks.iter().any(|lock| state.may_hold.contains(lock));
                    *foreign.entry((id, at)).or_insert(true) &= !may_have;
                }
                // The path no longer matters.
                let mut state = State { constants: MustMap::default(), ..state.clone() };
                state.cells.retain(|_, value| *value == 0);
                if !states.iter().rev().take(16).any(|known| known.0 == at && known.1 == state) {
                    states.push((at, state));
                }
            });
            for (at, state) in states {
                let touched = touched(points_to, id, at).into_iter().chain(ended(points_to, id, at));
                let touched = touched.map(|touch| (touch, false));
                let allocated = allocated(points_to, id, at).map(|touch| (touch, true));
                for (Touch { address, addresses, bytes, mode }, is_allocation) in touched.chain(allocated) {
                    let (write, atomic) = (mode.changes(), mode.is_atomic());
                    if addresses.is_empty() {
                        missing.nowhere.insert((id, at));
                    }
                    for (base, offset) in addresses.iter() {
                        match points_to.describe(base) {
                            // The unknown address is already a gap; pairs of such accesses would add nothing.
                            Base::Unknown(origin) => {
                                missing.add(origin.to_string(), (id, at));
                                continue;
                            }
                            Base::Function(_) | Base::Outside(_) | Base::Handle(_) => continue,
                            _ if !escaped.contains(&base) => continue,
                            _ => {}
                        }
                        // Thread-specific memory of a library is followed only until another thread can reach it.
                        if is_own_of_thread(points_to, base) {
                            missing.add(OF_LIBRARY.to_owned(), (id, at));
                            continue;
                        }
                        let fresh = is_allocation
                            || state.owned.contains(&base) && fresh::latest(points_to, id, &address) == Some(base);
                        // The handle of a thread may be written after the thread has started.
                        let mut state = state.clone();
                        let created = instance.creates.get(&at).into_iter().flatten().filter(|_| mode.stores());
                        for &created in created {
                            state.active.insert(created);
                            state.active.extend(tree.descendants(created));
                        }
                        let thread = instance.thread;
                        let guards = lockset::distances(points_to, solver, id, &address, &state);
                        let row = solver.row(id, &address, &state);
                        let striped_locks = striping::held(points_to, solver, id, &address, &state);
                        let address = address.clone();
                        let access = Access {
                            instance: id,
                            at,
                            thread,
                            write,
                            atomic,
                            fresh,
                            offset,
                            bytes,
                            address,
                            state,
                            row,
                            guards,
                            striped_locks,
                        };
                        found.entry(base).or_default().push(access);
                    }
                }
            }
        }
    }
    for ((id, at), _) in foreign.into_iter().filter(|(_, is_foreign)| *is_foreign) {
        solver.gaps.add(points_to, id, at, "a lock that is given back by a thread that has not taken it");
    }
    missing.tell(points_to, solver);
    for (&base, accesses) in &found {
        let Base::Variable(variable) = points_to.bases[base] else { continue };
        for access in accesses.iter().filter(|access| is_of_others(points_to, variable, access.write)) {
            solver.gaps.add(points_to, access.instance, access.at, "a variable of the C library");
        }
    }
    (found, releases)
}

/// Returns true if the C library also accesses a variable: it reads `stdout` and writes `environ`.
fn is_of_others(points_to: &PointsTo<'_>, variable: VariableId, is_written: bool) -> bool {
    /// Variables that only the program writes.
    const READ: [&str; 3] = ["stdin", "stdout", "stderr"];
    const WRITTEN: [&str; 19] = [
        "environ",
        "_environ",
        "__environ",
        "optarg",
        "optind",
        "opterr",
        "optopt",
        "timezone",
        "__timezone",
        "daylight",
        "__daylight",
        "tzname",
        "__tzname",
        "signgam",
        "getdate_err",
        "program_invocation_name",
        "program_invocation_short_name",
        "error_message_count",
        "error_one_per_line",
    ];
    let name = points_to.program.variable_of(variable).name.as_str();
    let kind = points_to.program.variable_kind(variable);
    let is_elsewhere = matches!(kind, SymbolKind::Variable { defined: false, .. });
    let is_named = |names: &[&str]| names.contains(&name);
    is_elsewhere && (is_named(&WRITTEN) || is_written && is_named(&READ))
}

/// Returns true for memory that a library function keeps for each thread.
fn is_own_of_thread(points_to: &PointsTo<'_>, base: BaseId) -> bool {
    let Base::Heap(id, at) = *points_to.describe(base) else { return false };
    let mut names = points_to.instances[id].outside.get(&at).into_iter().flatten();
    names.any(|name| matches!(points_to.models.of(name), Some(Model::Allocate(allocate)) if allocate.own))
}
