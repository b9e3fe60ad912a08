//! Drawing priority orders, a few at a time.

/// The search distinguishes orders of at most this many parts: there are 3.6 million orders of ten parts, a bit for each. Random orders
/// of more parts are hardly ever the same, and one that comes twice costs time and nothing else.
const MOST_PARTS: usize = 10;

/// Random orders that are needed so that any `few` of `all` have each order in one of them, with this confidence.
///
/// One order has a given order of `few` with a chance of 1 / few!. With `m` of them, the expected number of orders that
/// are missing is few! (all over few) (1 - 1 / few!)^m, which bounds the chance that any is.
#[must_use]
pub fn orders_needed(all: u32, few: u32, confidence: f64) -> u64 {
    let few = few.min(all);
    let factorial: f64 = (1..=few).map(f64::from).product();
    if factorial <= 1.0 {
        return 1;
    }
    let arrangements: f64 = (0..few).map(|i| f64::from(all - i)).product();
    let missing = (1.0 - confidence).clamp(1e-12, 1.0);
    // `ln_1p` because 1 / few! is soon too small to be taken from 1.
    ((arrangements / missing).ln() / -(-1.0 / factorial).ln_1p()).ceil().max(1.0) as u64
}

/// What the orders follow from that one seed gives: a number for each, see [`racehunter_explore::Style::Order`].
#[must_use]
pub const fn nth_order(seed: u64, number: u64) -> u64 {
    // An odd factor, so that no two are the same.
    seed.wrapping_add(number.wrapping_mul(0xD134_2543_DE82_EF95))
}

/// How much is done at once, so that a hunt can end in time: a search with more to do makes more targets of it, and runs the
/// beginnings of some schedules again.
#[derive(Clone, Copy, Debug)]
pub struct Portions {
    /// Orders that one target brings into the search, and candidates that one target has.
    pub candidates: usize,
    /// Orders that are drawn for them, most of which may be known already.
    pub draws: u64,
    /// Priorities that are looked at for one execution, about.
    pub priorities: usize,
}

impl Default for Portions {
    fn default() -> Self {
        Self { candidates: 1 << 13, draws: 1 << 16, priorities: 1 << 19 }
    }
}

/// The orders that were drawn.
#[derive(Clone, Debug, Default)]
pub(super) struct Drawn {
    /// How many, whether or not they are different.
    pub count: u64,
    /// How many are different, as far as that is known.
    pub distinct: u64,
    /// A bit for each order of few parts, by its number.
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

    /// Whether all orders of this many parts were drawn.
    pub fn is_all(&self, parts: u32) -> bool {
        parts as usize <= MOST_PARTS && self.distinct == (1..=u64::from(parts)).product()
    }

    /// The number of an order among all orders of its parts (its Lehmer code), where there are not too many.
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
        // All orders of four parts, twice, with priorities that are not the same numbers.
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
    fn of_many_parts_nothing_is_remembered() {
        let mut drawn = Drawn::default();
        let priorities: Vec<u64> = (0..20).collect();
        assert!(drawn.count(&priorities) && drawn.count(&priorities) && drawn.known.is_empty());
        assert!(!drawn.is_all(20));
    }

    #[test]
    fn orders_of_many_threads_are_counted_and_not_drawn() {
        // 11! (1 - 1 / 11!)^m: a thousand million.
        let orders = orders_needed(13, 11, 0.99);
        assert!((1_000_000_000..1_300_000_000).contains(&orders), "{orders}");
        assert_eq!(orders_needed(400, 200, 0.99), u64::MAX);
    }
}
