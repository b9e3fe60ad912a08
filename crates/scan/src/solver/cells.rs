//! Cells: variables, or fields of variables, whose value the solver tracks. Each access loads or stores all of it.

use crate::index::{IndexVec, ids};
use crate::pointer::address::{Base, BaseId};
use crate::pointer::{InstanceId, PointsTo};
use crate::race::touch::touched;
use racehunter_ir::{Operand, Operation, SymbolKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Maximum number of cells; a program with more has too many paths to distinguish.
const MOST_CELLS: usize = 512;

/// Position in [`Cells::all`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellId(pub u32);

ids!(CellId);

/// A tracked piece of memory.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The variable.
    pub base: BaseId,
    /// Its offset in the variable.
    pub at: i64,
    /// Size.
    pub bytes: u64,
    /// Its initial value, if known.
    pub initial: Option<i64>,
    /// True if each thread has its own.
    pub thread_local: bool,
}

/// All cells.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    /// The cells.
    pub all: IndexVec<CellId, Cell>,
    by_place: FxHashMap<(BaseId, i64), CellId>,
}

impl Cells {
    /// Finds the cells of a program.
    pub fn of(points_to: &PointsTo<'_>) -> Self {
        let mut places: BTreeSet<(BaseId, i64, u64)> = BTreeSet::new();
        let mut barred: FxHashSet<BaseId> = FxHashSet::default();
        for id in points_to.instances.ids() {
            let code = points_to.code(id);
            for (at, instruction) in code.instructions.iter().enumerate() {
                let is_plain = !matches!(instruction.operation, Operation::Call | Operation::Invoke { .. });
                for touch in touched(points_to, id, at as u32) {
                    match touch.addresses.only().map(|(base, offset)| (base, offset.only())) {
                        Some((base, Some(at))) if is_plain => {
                            places.insert((base, at, touch.bytes));
                        }
                        // A read of one of several cells says nothing about any of them, and does no harm.
                        _ if !touch.mode.stores() => {}
                        _ => barred.extend(touch.addresses.iter().map(|(base, _)| base)),
                    }
                }
            }
        }
        // Memory that can be changed in parts, or through other names, is not tracked.
        let shared_names = names_in_memory(points_to);
        let all: Vec<_> = places.iter().copied().collect();
        for pair in all.windows(2) {
            let [(base, at, bytes), (other, next, _)] = *pair else { continue };
            if base == other && next < at.saturating_add_unsigned(bytes) {
                barred.insert(base);
            }
        }
        if all.len() > MOST_CELLS {
            return Self::default();
        }
        let mut cells = Self::default();
        for (base, at, bytes) in all {
            let Base::Variable(variable) = *points_to.describe(base) else { continue };
            let (_, thread_local) = points_to.program.variable_flags(variable);
            if barred.contains(&base) || !matches!(bytes, 1 | 2 | 4 | 8) {
                continue;
            }
            if thread_local && shared_names.contains(&base) {
                continue;
            }
            let kind = points_to.program.variable_kind(variable);
            let initial = initial(kind, at, bytes);
            let id = cells.all.push(Cell { base, at, bytes, initial, thread_local });
            cells.by_place.insert((base, at), id);
        }
        cells
    }

    /// Returns the cell that an address must point to.
    pub fn find(&self, points_to: &PointsTo<'_>, id: InstanceId, address: &Operand) -> Option<CellId> {
        let (base, offset) = points_to.operand(id, address).only()?;
        self.by_place.get(&(base, offset.only()?)).copied()
    }

    /// Returns a cell.
    pub fn get(&self, cell: CellId) -> &Cell {
        &self.all[cell]
    }

    /// Returns all cells.
    pub fn ids(&self) -> impl Iterator<Item = CellId> + use<> {
        (0..self.all.len() as u32).map(CellId)
    }
}

/// Returns variables whose address is in memory, or was passed to a thread: others may have it.
fn names_in_memory(points_to: &PointsTo<'_>) -> FxHashSet<BaseId> {
    let mut found: FxHashSet<BaseId> = points_to.passed.0.keys().copied().collect();
    for base in points_to.bases.ids() {
        found.extend(points_to.contents(base));
    }
    found
}

/// Returns the number at an offset of an initialiser.
pub(crate) fn initial(kind: &SymbolKind, at: i64, bytes: u64) -> Option<i64> {
    let SymbolKind::Variable { defined: true, numbers: Some(numbers), pointers, .. } = kind else { return None };
    let at = u64::try_from(at).ok()?;
    let overlaps = |other: u64, size: u64| other < at + bytes && at < other + size;
    if pointers.iter().any(|pointer| overlaps(pointer.at, 8)) {
        return None;
    }
    let mut there = numbers.iter().filter(|number| overlaps(number.at, number.bytes));
    match there.next() {
        None => Some(0),
        Some(number) => (number.at == at && number.bytes == bytes).then_some(number.value),
    }
}
