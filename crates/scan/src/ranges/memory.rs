//! Memory whose numbers are tracked without regard to the order of instructions: each write stores to all of it.

use crate::domain::congruence::Congruence;
use crate::index::IndexVec;
use crate::models::Model;
use crate::pointer::address::{Base, BaseId};
use crate::pointer::{InstanceId, PointsTo};
use crate::program::FunctionId;
use crate::race::touch::touched;
use crate::solver::cells::initial;
use racehunter_ir::Operation;
use rustc_hash::FxHashMap;

use crate::cfg::conditions::Conditions;
use crate::domain::affine::Affine;
use crate::domain::interval::Interval;

/// A base, an offset in it, and a number of bytes.
pub type MemoryRange = (BaseId, i64, u64);

/// An instruction that writes.
struct Write {
    offset: Congruence,
    bytes: u64,
    /// The store, if it can only write here.
    store: Option<(InstanceId, u32)>,
    is_store: bool,
    by: (InstanceId, u32),
}

/// All writes, by base.
#[derive(Default)]
pub struct Writes(FxHashMap<BaseId, Vec<Write>>);

impl Writes {
    /// Collects all writes of a program.
    pub fn of(points_to: &PointsTo<'_>) -> Self {
        let mut found = Self::default();
        for id in points_to.instances.ids() {
            let code = points_to.code(id);
            for (at, instruction) in code.instructions.iter().enumerate() {
                let is_store = matches!(
                    instruction.operation,
                    Operation::Store { .. } | Operation::Update { .. } | Operation::CompareExchange { .. }
                );
                // Freed memory has no values.
                if is_release(points_to, id, at as u32) {
                    continue;
                }
                for touch in touched(points_to, id, at as u32).into_iter().filter(|touch| touch.mode.stores()) {
                    let is_sure = matches!(instruction.operation, Operation::Store { .. })
                        && touch.addresses.only().is_some_and(|(base, _)| points_to.is_strong(base));
                    let store = is_sure.then_some((id, at as u32));
                    for (base, offset) in touch.addresses.iter() {
                        let by = (id, at as u32);
                        let write = Write { offset, bytes: touch.bytes, store, is_store, by };
                        found.0.entry(base).or_default().push(write);
                    }
                }
            }
        }
        found
    }

    /// Returns the stores of an instance to a base and their sizes, if nothing else writes to the base.
    pub fn only_stores(&self, base: BaseId, id: InstanceId) -> Vec<(u32, u64)> {
        let all = self.0.get(&base).map(Vec::as_slice).unwrap_or_default();
        let is_only = |write: &&Write| {
            let mut others = all.iter().filter(|other| other.by != write.by);
            write.by.0 == id && others.all(|other| !other.offset.overlaps(other.bytes, write.offset, write.bytes))
        };
        all.iter().filter(is_only).map(|write| (write.by.1, write.bytes)).collect()
    }

    /// Returns true if all writers of a range are instructions that write all of it.
    pub fn is_place(&self, (base, at, bytes): MemoryRange) -> bool {
        let mut writes = self.0.get(&base).into_iter().flatten();
        writes.all(|write| {
            !write.offset.overlaps(write.bytes, Congruence::exact(at), bytes)
                || (write.is_store && write.offset.only() == Some(at) && write.bytes == bytes)
        })
    }

    /// Returns the value of a range before the first write, as a reader finds it; nothing if it was definitely written
    /// before.
    pub fn first(
        &self,
        points_to: &PointsTo<'_>,
        conditions: &IndexVec<FunctionId, Conditions>,
        place: MemoryRange,
        reader: (InstanceId, u32),
    ) -> Option<Affine> {
        let (base, at, bytes) = place;
        match *points_to.describe(base) {
            Base::Variable(variable) => {
                let kind = points_to.program.variable_kind(variable);
                Some(initial(kind, at, bytes).map_or(Affine::any(64), Affine::exact))
            }
            Base::Local(..) | Base::Heap(..) if self.is_set(points_to, conditions, place, reader) => None,
            _ => Some(Affine::any(64)),
        }
    }

    /// Returns true if a store to a range must have been executed before control reaches a reader: by the same
    /// function, by one that waits for it to return, or before its thread was created.
    fn is_set(
        &self,
        points_to: &PointsTo<'_>,
        conditions: &IndexVec<FunctionId, Conditions>,
        (base, at, bytes): MemoryRange,
        reader: (InstanceId, u32),
    ) -> bool {
        let writes = self.0.get(&base).into_iter().flatten();
        let stores: Vec<(InstanceId, u32)> = writes
            .filter(|write| write.offset.only() == Some(at) && write.bytes == bytes)
            .filter_map(|write| write.store)
            .collect();
        let mut place = Some(reader);
        // No chain of calls and threads is longer than the number of instances.
        for _ in 0..points_to.instances.len() {
            let Some((id, at)) = place else { return false };
            let instance = &points_to.instances[id];
            let function = instance.function;
            let is_before = |&&(owner, store): &&(InstanceId, u32)| {
                owner == id && conditions[function].is_before(&points_to.blocks[function], store, at)
            };
            if stores.iter().find(is_before).is_some() {
                return true;
            }
            let thread = &points_to.threads[instance.thread];
            place = match instance.caller {
                _ if instance.shared => None,
                Some(caller) => Some(caller),
                None if thread.recursive => None,
                None => thread.creator,
            };
        }
        false
    }
}

/// Returns true if an instruction only frees memory.
fn is_release(points_to: &PointsTo<'_>, id: InstanceId, at: u32) -> bool {
    let instance = &points_to.instances[id];
    let mut names = instance.outside.get(&at).into_iter().flatten().peekable();
    names.peek().is_some()
        && !instance.callees.contains_key(&at)
        && names.all(|name| matches!(points_to.models.of(name), Some(Model::Release(_))))
}

/// Returns a number as memory stores it: independent of the thread.
pub fn kept(number: Affine, span: Interval) -> Affine {
    Affine::of(number.flat(span))
}

/// Memory that definitely has a value when it is read.
pub struct Initialised {
    writes: Writes,
    conditions: IndexVec<FunctionId, Conditions>,
}

impl Initialised {
    /// Collects all writes.
    pub fn of(points_to: &PointsTo<'_>) -> Self {
        let program = points_to.program;
        let conditions = program
            .functions()
            .map(|function| Conditions::of(program.function(function).0, &points_to.blocks[function]));
        Self { writes: Writes::of(points_to), conditions: conditions.collect() }
    }

    /// Returns true if a range was definitely stored to, as a whole, before it is read there.
    pub fn is_set(&self, points_to: &PointsTo<'_>, place: MemoryRange, reader: (InstanceId, u32)) -> bool {
        self.writes.is_set(points_to, &self.conditions, place, reader)
    }
}
