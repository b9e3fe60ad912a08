//! The table of visited states.

use racehunter_explore::{Loader, Saver, Unusable};

/// A state from which everything was, or will be, explored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Visit {
    /// The key of the state; 0 for an unused entry.
    key: u128,
    /// Threads that were not tried there, one bit each.
    asleep: u64,
    /// The cost of reaching it.
    cost: u64,
}

/// A hash table with a maximum size. When it is full it forgets entries, which costs time but misses nothing.
pub(crate) struct Visited {
    visits: Vec<Visit>,
    used: usize,
}

/// Number of entries in which a key can be stored.
const WAYS: usize = 4;
/// Initial and maximum number of entries; the maximum is 64 MiB.
const INITIAL: usize = 1 << 8;
const MOST: usize = 1 << 21;

impl Visited {
    pub fn new() -> Self {
        Self { visits: vec![Visit::default(); INITIAL], used: 0 }
    }

    fn bucket(&self, key: u128) -> usize {
        ((key >> 64) as usize & (self.visits.len() / WAYS - 1)) * WAYS
    }

    /// Returns whether to explore from the state with this key and cost while these threads sleep. If so, records the
    /// visit.
    pub fn enter(&mut self, key: u128, cost: u32, asleep: u64) -> bool {
        let visit = Visit { key: key.max(1), asleep, cost: u64::from(cost) };
        if self.used * 2 > self.visits.len() && self.visits.len() < MOST {
            self.grow();
        }
        let bucket = self.bucket(visit.key);
        let ways = &mut self.visits[bucket..bucket + WAYS];
        if let Some(known) = ways.iter_mut().find(|known| known.key == visit.key) {
            if known.cost <= visit.cost && known.asleep & !asleep == 0 {
                return false;
            }
            if visit.cost <= known.cost {
                *known = visit;
            }
            return true;
        }
        self.used += usize::from(put(ways, visit));
        true
    }

    /// Returns whether everything from the state with this key and cost was or will be explored.
    pub fn knows(&self, key: u128, cost: u32) -> bool {
        let key = key.max(1);
        let bucket = self.bucket(key);
        let known = self.visits[bucket..bucket + WAYS].iter().find(|known| known.key == key);
        known.is_some_and(|known| known.cost <= u64::from(cost) && known.asleep == 0)
    }

    fn grow(&mut self) {
        let larger = vec![Visit::default(); self.visits.len() * 2];
        let old = std::mem::replace(&mut self.visits, larger);
        self.used = 0;
        for visit in old.into_iter().filter(|visit| visit.key != 0) {
            let bucket = self.bucket(visit.key);
            self.used += usize::from(put(&mut self.visits[bucket..bucket + WAYS], visit));
        }
    }

    pub fn save(&self, out: &mut Saver<'_>) {
        out.count(self.visits.len());
        out.count(self.visits.iter().filter(|visit| visit.key != 0).count());
        let mut last = 0;
        for (place, visit) in self.visits.iter().enumerate().filter(|(_, visit)| visit.key != 0) {
            let numbers = [(place - last) as u64, visit.key as u64, (visit.key >> 64) as u64, visit.asleep, visit.cost];
            numbers.into_iter().for_each(|number| out.number(number));
            last = place;
        }
    }

    pub fn load(input: &mut Loader<'_>) -> Result<Self, Unusable> {
        let len = input.number()?;
        if !len.is_power_of_two() || !(INITIAL as u64..=MOST as u64).contains(&len) {
            return Err(Unusable::Damaged);
        }
        let used: usize = input.small()?;
        let mut visits = vec![Visit::default(); len as usize];
        let mut place = 0_usize;
        for _ in 0..used {
            place = place.saturating_add(input.small()?);
            let key = u128::from(input.number()?) | u128::from(input.number()?) << 64;
            let visit = visits.get_mut(place).filter(|_| key != 0).ok_or(Unusable::Damaged)?;
            *visit = Visit { key, asleep: input.number()?, cost: input.number()? };
        }
        Ok(Self { visits, used })
    }
}

/// Stores a visit in a free entry, or replaces another. Returns whether an entry was free.
fn put(ways: &mut [Visit], visit: Visit) -> bool {
    let free = ways.iter().position(|known| known.key == 0);
    // The replaced entry depends only on the key.
    ways[free.unwrap_or((visit.key >> 32) as usize % WAYS)] = visit;
    free.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cheaper_visit_or_one_with_fewer_sleepers_is_explored_again() {
        let mut visited = Visited::new();
        assert!(visited.enter(7, 2, 0b100));
        assert!(!visited.enter(7, 2, 0b100));
        assert!(!visited.enter(7, 3, 0b110));
        assert!(visited.enter(7, 2, 0b010), "thread 2 was not tried there");
        assert!(visited.enter(7, 1, 0b010));
        assert!(!visited.enter(7, 2, 0b010));
        assert!(visited.enter(7, 2, 0));
        assert!(visited.enter(8, 2, 0));
    }

    #[test]
    fn grows_and_then_forgets() {
        let mut visited = Visited::new();
        let key = |number: u64| racehunter_log::mix(0, u128::from(number));
        for number in 0..100_000 {
            assert!(visited.enter(key(number), 0, 0));
        }
        let known = (0..100_000).filter(|&number| !visited.enter(key(number), 0, 0)).count();
        assert!(known > 90_000, "{known}");
        for number in 100_000..6_000_000 {
            visited.enter(key(number), 0, 0);
        }
        assert_eq!(visited.visits.len(), MOST);
        assert!(visited.used <= MOST);
    }
}
