//! Merging for the backend `alias`.

use super::PointsTo;
use super::memory::Slots;
use crate::domain::congruence::Congruence;
use crate::pointer::address::{Addresses, Base, BaseId};
use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashMap;

impl PointsTo<'_> {
    /// Merges all targets of each pointer.
    pub fn unify(&mut self) {
        let mut classes = UnionFind::<u32>::new(self.bases.len());
        let is_memory = |base: &Base| matches!(base, Base::Variable(_) | Base::Local(..) | Base::Heap(..));
        let bases = &self.bases;
        let values = self.instances.iter().flat_map(|instance| {
            instance.values.iter().chain(&instance.parameters).chain(std::iter::once(&instance.result))
        });
        let cells = self.memory.values().flat_map(|cells| cells.iter().map(|(_, cell)| &cell.content));
        for addresses in values.chain(cells) {
            let mut together = addresses.0.keys().filter(|base| is_memory(&bases[**base]));
            if let Some(first) = together.next() {
                together.for_each(|other| {
                    classes.union(first.0, other.0);
                });
            }
        }
        let mut members: FxHashMap<u32, Vec<BaseId>> = FxHashMap::default();
        for index in 0..self.bases.len() as u32 {
            members.entry(classes.find(index)).or_default().push(BaseId(index));
        }
        let widen = |addresses: &mut Addresses| {
            for base in addresses.0.keys().copied().collect::<Vec<_>>() {
                let class = &members[&classes.find(base.0)];
                if class.len() > 1 {
                    class.iter().for_each(|&other| {
                        addresses.add(other, Congruence::ANY);
                    });
                }
            }
        };
        for instance in &mut self.instances {
            instance.values.iter_mut().for_each(widen);
            instance.parameters.iter_mut().for_each(widen);
            widen(&mut instance.result);
        }
        for cell in self.memory.values_mut().flat_map(Slots::values_mut) {
            widen(&mut cell.content);
        }
        widen(&mut self.passed);
    }
}
