//! Chooses the accesses to watch at random.

use crate::mix;

/// Samples accesses: one in `every`, on average.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sampler {
    every: u64,
    random: u64,
    left: u64,
}

impl Sampler {
    /// A sampler that chooses nothing.
    pub const NONE: Self = Self { every: 0, random: 0, left: 0 };

    /// Samples one in `every` accesses on average; none if that is 0.
    #[must_use]
    pub const fn new(seed: u64, every: u64) -> Self {
        let mut sampler = Self { every, random: seed, left: 0 };
        sampler.skip();
        sampler
    }

    const fn skip(&mut self) {
        self.left = if self.every == 0 { 0 } else { 1 + mix(self.random) % (2 * self.every - 1) };
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
    }

    /// Returns whether anything is ever sampled.
    #[must_use]
    pub const fn is_active(&self) -> bool {
        self.every != 0
    }

    /// Returns whether the next access is sampled.
    pub const fn draws(&mut self) -> bool {
        if self.every == 0 {
            return false;
        }
        self.left -= 1;
        if self.left == 0 {
            self.skip();
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_every_n_accesses_is_sampled() {
        for every in [1, 2, 7, 100] {
            let mut sampler = Sampler::new(every, every);
            let drawn = (0..100_000).filter(|_| sampler.draws()).count() as u64;
            let expected = 100_000 / every;
            assert!(drawn.abs_diff(expected) <= expected / 10, "{drawn} of 100000, expected {expected}");
        }
        assert!((0..1000).all(|_| !Sampler::NONE.clone().draws()));
    }

    #[test]
    fn any_access_can_be_the_first() {
        let first = |seed| {
            let mut sampler = Sampler::new(seed, 5);
            (0..).position(|_| sampler.draws())
        };
        for wanted in 0..9 {
            assert!((0..1000).any(|seed| first(seed) == Some(wanted)), "{wanted}");
        }
    }
}
