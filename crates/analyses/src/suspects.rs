//! Suspects: provokes pairs of accesses that a static analysis considers races.
//!
//! A pair is identified by the sites of its instructions. Their code addresses are learned from executions: a first one, and
//! all that other members of the portfolio run. Once both instructions of a pair were executed, a thread that reaches one of
//! them is held there until another thread is about to make a conflicting access, as in [`crate::Watchpoint`]; the two need not
//! have accessed the same memory before. A pair that does not meet is tried again, with other threads first and at later
//! occurrences of the accesses. While only one of the two instructions was ever executed, threads are held there too: another
//! thread may then reach the other one, unless the first thread never stops.

use racehunter_explore::{Analysis, Descriptor, Execution, Plan, Tail};
use racehunter_log::{CodeAddress, SiteId};
use std::collections::{BTreeMap, BTreeSet};

/// The analysis.
pub struct Suspects {
    seed: u64,
    /// The sites of both instructions of each pair, the most likely race first.
    pairs: Vec<[SiteId; 2]>,
    /// The code addresses of each site.
    codes: BTreeMap<SiteId, BTreeSet<CodeAddress>>,
    /// Pairs whose instructions were both executed; if only one was, it appears twice.
    met: BTreeSet<Rank>,
    round: u64,
}

/// The position of a pair, and the code addresses of its instructions.
type Rank = (usize, [CodeAddress; 2]);

/// The purpose of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Learn the code addresses of the instructions.
    Look,
    /// Make two accesses meet; the number varies how.
    Provoke([CodeAddress; 2], u64),
}

/// One round in this many switches threads only when necessary.
const PLAIN: u64 = 4;
/// Maximum number of occurrences of an instruction at which threads are held: the first is the most promising.
const DEPTH: u64 = 12;

impl Suspects {
    /// Creates an analysis for pairs of sites, the most likely race first.
    #[must_use]
    pub fn new(pairs: Vec<[SiteId; 2]>, seed: u64) -> Self {
        Self { seed, pairs, codes: BTreeMap::new(), met: BTreeSet::new(), round: 0 }
    }

    /// Learns code addresses. Returns targets for the pairs that became known.
    fn learn(&mut self, execution: &Execution) -> Vec<Target> {
        let mut is_new = false;
        for entry in execution.entries().filter(|entry| entry.is_access() && entry.code().is_known()) {
            let Some(site) = entry.site() else { continue };
            if self.pairs.iter().any(|pair| pair.contains(&site)) {
                is_new |= self.codes.entry(site).or_default().insert(entry.code());
            }
        }
        if !is_new {
            return Vec::new();
        }
        let mut new: Vec<Target> = Vec::new();
        for (position, [first, second]) in self.pairs.iter().enumerate() {
            let at = |site| self.codes.get(site).into_iter().flatten().copied();
            let pairs: Vec<[CodeAddress; 2]> = match (self.codes.contains_key(first), self.codes.contains_key(second)) {
                (true, true) => at(first).flat_map(|one| at(second).map(move |other| [one, other])).collect(),
                _ => at(first).chain(at(second)).map(|one| [one, one]).collect(),
            };
            if pairs.iter().any(|codes| !self.met.contains(&(position, *codes))) {
                self.met.retain(|known| known.0 != position);
                self.met.extend(pairs.iter().map(|codes| (position, *codes)));
                let targets = pairs.into_iter().map(|codes| Target::Provoke(codes, self.round));
                // One instruction can belong to several pairs.
                targets.for_each(|target| {
                    if !new.contains(&target) {
                        new.push(target)
                    }
                });
            }
        }
        // The campaign runs the last one first.
        new.reverse();
        new
    }
}

impl Analysis for Suspects {
    type Target = Target;

    fn initial_targets(&mut self) -> Vec<Target> {
        (self.codes, self.met, self.round) = (BTreeMap::new(), BTreeSet::new(), 0);
        if self.pairs.is_empty() { Vec::new() } else { vec![Target::Look] }
    }

    fn plan(&self, target: &Target) -> Plan {
        let Target::Provoke(codes, round) = *target else { return Plan::default() };
        // Later rounds hold at later occurrences too.
        let nth = 1 + (round / PLAIN) % (1 + round / (2 * PLAIN)).min(DEPTH);
        let tail = match round % PLAIN {
            0 => Tail::MinSwitches,
            _ => Tail::random(self.seed.wrapping_add(round)),
        };
        let provoke = codes.map(|code| Descriptor { code, path: None, callers: Vec::new(), nth });
        Plan { provoke: Some(Box::new(provoke)), tail, ..Plan::default() }
    }

    fn new_targets(&mut self, _: &Target, execution: &Execution) -> Vec<Target> {
        self.learn(execution)
    }

    fn other_targets(&mut self, execution: &Execution) -> Vec<Target> {
        self.learn(execution)
    }

    fn next_stage(&mut self) -> Option<Vec<Target>> {
        self.round += 1;
        let mut given = BTreeSet::new();
        let targets = self.met.iter().filter(|&&(_, codes)| given.insert(codes));
        let mut targets: Vec<Target> = targets.map(|&(_, codes)| Target::Provoke(codes, self.round)).collect();
        targets.reverse();
        (!targets.is_empty()).then_some(targets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use racehunter_abi::{Kind, Record};

    fn execution(accesses: &[(u32, u64)]) -> Execution {
        let record = |&(site, code): &(u32, u64)| Record {
            kind: Kind::Read,
            site: site + 1,
            code: CodeAddress(code),
            ..Record::default()
        };
        Execution { records: accesses.iter().map(record).collect(), ..Execution::lost(String::new()) }
    }

    #[test]
    fn pairs_are_provoked_when_both_instructions_are_known_and_the_best_comes_first() {
        let mut suspects =
            Suspects::new(vec![[SiteId(3), SiteId(4)], [SiteId(3), SiteId(3)], [SiteId(5), SiteId(6)]], 1);
        assert_eq!(suspects.initial_targets(), [Target::Look]);
        assert_eq!(
            suspects.new_targets(&Target::Look, &execution(&[(3, 0x30)])),
            [Target::Provoke([CodeAddress(0x30), CodeAddress(0x30)], 0)]
        );
        let new = suspects.other_targets(&execution(&[(3, 0x30), (4, 0x40), (9, 0x90)]));
        assert_eq!(new, [Target::Provoke([CodeAddress(0x30), CodeAddress(0x40)], 0)]);
        assert!(suspects.other_targets(&execution(&[(4, 0x40)])).is_empty());
        // All of them again; the best is last in the list, and so runs first.
        let again = suspects.next_stage().unwrap();
        assert_eq!(
            again,
            [
                Target::Provoke([CodeAddress(0x30), CodeAddress(0x30)], 1),
                Target::Provoke([CodeAddress(0x30), CodeAddress(0x40)], 1)
            ]
        );
    }

    #[test]
    fn threads_are_held_where_only_one_of_two_instructions_is_known() {
        let mut suspects = Suspects::new(vec![[SiteId(3), SiteId(4)], [SiteId(3), SiteId(5)]], 1);
        suspects.initial_targets();
        // One target serves both pairs.
        assert_eq!(
            suspects.new_targets(&Target::Look, &execution(&[(3, 0x30)])),
            [Target::Provoke([CodeAddress(0x30), CodeAddress(0x30)], 0)]
        );
        assert_eq!(suspects.next_stage().unwrap(), [Target::Provoke([CodeAddress(0x30), CodeAddress(0x30)], 1)]);
        assert_eq!(
            suspects.other_targets(&execution(&[(4, 0x40)])),
            [Target::Provoke([CodeAddress(0x30), CodeAddress(0x40)], 1)]
        );
        let again = suspects.next_stage().unwrap();
        assert_eq!(
            again,
            [
                Target::Provoke([CodeAddress(0x30), CodeAddress(0x30)], 2),
                Target::Provoke([CodeAddress(0x30), CodeAddress(0x40)], 2)
            ]
        );
    }

    #[test]
    fn rounds_differ() {
        let mut suspects = Suspects::new(vec![[SiteId(1), SiteId(2)]], 7);
        suspects.initial_targets();
        assert_eq!(suspects.next_stage(), None);
        suspects.new_targets(&Target::Look, &execution(&[(1, 10), (2, 20)]));
        let plans: Vec<Plan> =
            (0..200).map(|round| suspects.plan(&Target::Provoke([CodeAddress(10), CodeAddress(20)], round))).collect();
        let different = (0..200).filter(|&at| !plans[..at].contains(&plans[at])).count();
        assert!(different > 150, "{different}");
        let nth = |plan: &Plan| plan.provoke.as_ref().map_or(0, |pair| pair[0].nth);
        assert!(plans[..8].iter().all(|plan| nth(plan) == 1) && plans.iter().any(|plan| nth(plan) == DEPTH));
    }

    #[test]
    fn without_suspects_there_is_nothing_to_run() {
        assert!(Suspects::new(Vec::new(), 1).initial_targets().is_empty());
    }
}
