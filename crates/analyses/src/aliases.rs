//! Which sites may access a variable, besides those already observed to access it.

use racehunter_explore::Tracked;
use std::collections::{BTreeMap, BTreeSet};

/// For each site, as numbered in records, the sites that a static analysis says may access the same memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aliases {
    /// Sites that may access the same byte.
    pub places: BTreeMap<u32, BTreeSet<u32>>,
    /// Sites that may access any part of the same variable or heap block.
    pub objects: BTreeMap<u32, BTreeSet<u32>>,
}

impl Aliases {
    /// Returns the sites that may access a variable, given the sites that were seen to access it. The result always contains the
    /// seen sites, whatever the static analysis says.
    pub(crate) fn of(&self, variable: Tracked, seen: &BTreeSet<u32>) -> BTreeSet<u32> {
        let mut sites = seen.clone();
        match variable {
            // All seen sites access the same bytes, so another site must alias each of them.
            Tracked::At(_) => {
                let mut known = seen.iter().filter_map(|site| self.places.get(site));
                let first = known.next().cloned().unwrap_or_default();
                sites.extend(known.fold(first, |common, more| &common & more));
            }
            // The seen sites may have accessed different blocks.
            Tracked::AllocatedAt(_) => sites.extend(seen.iter().filter_map(|site| self.objects.get(site)).flatten()),
        }
        sites
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use racehunter_log::{Address, CodeAddress};

    #[test]
    fn what_all_have_in_common_may_be_the_variable() {
        let pairs = |pairs: &[(u32, &[u32])]| pairs.iter().map(|&(site, others)| (site, set(others))).collect();
        let aliases = Aliases {
            places: pairs(&[(1, &[1, 2, 3, 5]), (2, &[1, 2, 3]), (3, &[1, 2, 3]), (5, &[1, 5])]),
            objects: pairs(&[(1, &[1, 2, 3, 4, 5]), (2, &[1, 2, 3, 4])]),
        };
        let (one, blocks) = (Tracked::At(Address(64)), Tracked::AllocatedAt(CodeAddress(7)));
        assert_eq!(aliases.of(one, &set(&[1])), set(&[1, 2, 3, 5]));
        assert_eq!(aliases.of(one, &set(&[1, 2])), set(&[1, 2, 3]));
        // A seen site counts even if the analysis contradicts it or knows nothing about it.
        assert_eq!(aliases.of(one, &set(&[2, 5])), set(&[1, 2, 5]));
        assert_eq!(aliases.of(one, &set(&[2, 9])), set(&[1, 2, 3, 9]));
        assert_eq!(aliases.of(one, &set(&[9])), set(&[9]));
        assert_eq!(aliases.of(blocks, &set(&[2, 9])), set(&[1, 2, 3, 4, 9]));
    }

    fn set(sites: &[u32]) -> BTreeSet<u32> {
        sites.iter().copied().collect()
    }
}
