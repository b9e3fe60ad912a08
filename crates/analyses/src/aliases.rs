//! Which places in the code may access a variable, besides those that were seen to.

use racehunter_explore::Tracked;
use std::collections::{BTreeMap, BTreeSet};

/// For each site, as records number them, the sites that may access the same memory: what a static analysis says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aliases {
    /// A byte that it may access.
    pub places: BTreeMap<u32, BTreeSet<u32>>,
    /// Any part of a variable or block that it may access a part of.
    pub objects: BTreeMap<u32, BTreeSet<u32>>,
}

impl Aliases {
    /// The sites that may access a variable which these sites were seen to access. Those that were seen are among them, whatever
    /// the analysis says.
    pub(crate) fn of(&self, variable: Tracked, seen: &BTreeSet<u32>) -> BTreeSet<u32> {
        let mut sites = seen.clone();
        match variable {
            // All of them have accessed it, so who else does may access what each of them may.
            Tracked::At(_) => {
                let mut known = seen.iter().filter_map(|site| self.places.get(site));
                let first = known.next().cloned().unwrap_or_default();
                sites.extend(known.fold(first, |common, more| &common & more));
            }
            // They may have accessed different blocks.
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
        // What was seen counts, even if the analysis says otherwise or nothing.
        assert_eq!(aliases.of(one, &set(&[2, 5])), set(&[1, 2, 5]));
        assert_eq!(aliases.of(one, &set(&[2, 9])), set(&[1, 2, 3, 9]));
        assert_eq!(aliases.of(one, &set(&[9])), set(&[9]));
        assert_eq!(aliases.of(blocks, &set(&[2, 9])), set(&[1, 2, 3, 4, 9]));
    }

    fn set(sites: &[u32]) -> BTreeSet<u32> {
        sites.iter().copied().collect()
    }
}
