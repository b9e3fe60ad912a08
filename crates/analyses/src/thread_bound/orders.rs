//! Draws priority orders, a few at a time.

/// Maximum number of items in orders that are counted as distinct: ten items have 3.6 million orders, one bit each. Random orders
/// of more items hardly ever coincide, and a repeated one only costs time.
const MOST_PARTS: usize = 10;

/// Returns how many random orders are needed so that, with this confidence, any `few` of `all` items occur in each order in one
/// of them.
///
/// A random order contains a given order of `few` items with probability 1 / few!. With `m` random orders, the expected number of
/// missing orders is few! (all over few) (1 - 1 / few!)^m, which is an upper bound on the probability that any is missing.
#[must_use]
pub fn orders_needed(all: u32, few: u32, confidence: f64) -> u64 {
    let few = few.min(all);
    let factorial: f64 = (1..=few).map(f64::from).product();
    if factorial <= 1.0 {
        return 1;
    }
    let arrangements: f64 = (0..few).map(|i| f64::from(all - i)).product();
    let missing = (1.0 - confidence).clamp(1e-12, 1.0);
    // `ln_1p`, because 1 - 1 / few! soon rounds to 1.
    ((arrangements / missing).ln() / -(-1.0 / factorial).ln_1p()).ceil().max(1.0) as u64
}

/// Returns the seed of an order, see [`racehunter_explore::Style::Order`].
#[must_use]
pub const fn nth_order(seed: u64, number: u64) -> u64 {
    // The factor is odd, so that no two are the same.
    seed.wrapping_add(number.wrapping_mul(0xD134_2543_DE82_EF95))
}

/// Limits on the work for one target, so that a hunt can stop in time. A search with more work splits it over more targets, and
/// repeats some prefixes.
#[derive(Clone, Copy, Debug)]
pub struct Portions {
    /// Orders that one target adds to the search, and candidates per target.
    pub candidates: usize,
    /// Orders drawn for them, most of which may be known already.
    pub draws: u64,
    /// Approximate number of priorities examined per execution.
    pub priorities: usize,
}

impl Default for Portions {
    fn default() -> Self {
        Self { candidates: 1 << 13, draws: 1 << 16, priorities: 1 << 19 }
    }
}

/// The orders drawn so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Drawn {
    /// The number of draws, including repeated orders.
    pub count: u64,
    /// The number of distinct orders, as far as that is known.
    pub distinct: u64,
    /// One bit for each order of few items, by its number.
    pub known: Vec<u64>,
}

impl Drawn {
    /// Counts an order, given as the priorities of its parts. Returns whether it is new.
    pub fn count(&mut self, priorities: &[u64]) -> bool {
        self.count += 1;
        let is_new = Self::number(priorities).is_none_or(|number| {
            let (word, bit) = (number / 64, 1 << (number % 64));
            if self.known.len() <= word {
                self.known.resize(word + 1, 0);
            }
            let known = self.known[word];
            self.known[word] |= bit;
            known & bit == 0
        });
        self.distinct += u64::from(is_new);
        is_new
    }

    /// Returns whether all orders of this many items were drawn.
    pub fn is_all(&self, parts: u32) -> bool {
        parts as usize <= MOST_PARTS && self.distinct == (1..=u64::from(parts)).product()
    }

    /// Returns the number of an order among all orders of its items (its Lehmer code), if there are not too many items.
    fn number(priorities: &[u64]) -> Option<usize> {
        let rest = |part: usize| &priorities[part + 1..];
        let smaller = |part: usize| rest(part).iter().filter(|&&other| other < priorities[part]).count();
        let is_short = priorities.len() <= MOST_PARTS;
        is_short
            .then(|| (0..priorities.len()).fold(0, |number, part| number * (priorities.len() - part) + smaller(part)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_counted_once() {
        // All orders of four items, twice, each time with different priorities.
        let mut drawn = Drawn::default();
        for round in 1..=2 {
            for number in 0..256_u64 {
                let parts = [0, 2, 4, 6].map(|shift| number >> shift & 3);
                if (0..4).all(|part| parts.contains(&part)) {
                    assert!(!drawn.is_all(4) || round == 2);
                    assert_eq!(drawn.count(&parts.map(|part| part * 1000 + round)), round == 1);
                }
            }
        }
        assert!(drawn.is_all(4) && !drawn.is_all(5));
        assert_eq!((drawn.count, drawn.distinct), (48, 24));
    }

    #[test]
    fn orders_of_many_items_are_not_remembered() {
        let mut drawn = Drawn::default();
        let priorities: Vec<u64> = (0..20).collect();
        assert!(drawn.count(&priorities) && drawn.count(&priorities) && drawn.known.is_empty());
        assert!(!drawn.is_all(20));
    }

    #[test]
    fn the_number_of_orders_of_many_threads_is_computed_without_drawing() {
        // 11! (1 - 1 / 11!)^m: about 10^9.
        let orders = orders_needed(13, 11, 0.99);
        assert!((1_000_000_000..1_300_000_000).contains(&orders), "{orders}");
        assert_eq!(orders_needed(400, 200, 0.99), u64::MAX);
    }
}
