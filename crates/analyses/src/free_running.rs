//! Watchpoints in free-running executions, the original form of [`crate::Watchpoint`] in its paper.
//!
//! The threads run in parallel, so an execution cannot be repeated. A few executions are monitored, and the pairs seen in
//! all of them are provoked. A pair that meets is a race, but cannot be replayed. It is therefore provoked again under
//! control, and only what shows up there is reported as a finding.

use crate::watchpoint::Known;
use racehunter_explore::{Analysis, Descriptor, Execution, Loader, Pair, Plan, Saver, Unusable, all_conflicts};

/// The analysis.
#[derive(Default)]
pub struct FreeRunning {
    known: Known,
    /// Further accesses of places that are already targets; the last is provoked first.
    later: Vec<Pair>,
}

/// The purpose of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Observe which accesses conflict.
    Monitor,
    /// Make two accesses meet.
    Provoke(Box<Pair>),
    /// Make two accesses meet under control.
    Confirm(Box<Pair>),
}

/// Number of monitored executions. Each may show accesses that the others do not.
const MONITORED: usize = 3;

impl FreeRunning {
    /// Creates an analysis that knows no pairs yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Analysis for FreeRunning {
    type Target = Target;

    fn initial_targets(&mut self) -> Vec<Target> {
        *self = Self::default();
        vec![Target::Monitor; MONITORED]
    }

    fn plan(&self, target: &Target) -> Plan {
        match target {
            Target::Monitor => Plan::monitored(),
            Target::Provoke(pair) => {
                Plan { free: true, detect_races: false, provoke: Some(pair.clone()), ..Plan::default() }
            }
            Target::Confirm(pair) => Plan { provoke: Some(pair.clone()), ..Plan::default() },
        }
    }

    fn new_targets(&mut self, target: &Target, execution: &Execution) -> Vec<Target> {
        match target {
            Target::Monitor => {
                let news = self.known.take_new(all_conflicts(execution).targets, false);
                let (firsts, others): (Vec<_>, Vec<_>) = news.into_iter().partition(|conflict| conflict.is_first);
                self.later.extend(others.into_iter().map(|conflict| conflict.pair));
                firsts.into_iter().rev().map(|conflict| Target::Provoke(Box::new(conflict.pair))).collect()
            }
            Target::Provoke(pair) if !execution.races().is_empty() => ways(pair),
            Target::Provoke(_) | Target::Confirm(_) => Vec::new(),
        }
    }

    fn next_stage(&mut self) -> Option<Vec<Target>> {
        if self.later.is_empty() {
            return None;
        }
        let mut later = std::mem::take(&mut self.later);
        later.sort_by_key(|pair| std::cmp::Reverse(pair.iter().map(|access| access.nth).max()));
        Some(later.into_iter().map(|pair| Target::Provoke(Box::new(pair))).collect())
    }

    fn remaining(&self, waiting: usize) -> Option<u64> {
        Some(waiting as u64 + self.later.len() as u64)
    }

    const SAVES: bool = true;

    fn save(&self, targets: &mut dyn Iterator<Item = &Target>, out: &mut Saver<'_>) {
        self.known.save(out);
        out.count(self.later.len());
        self.later.iter().for_each(|pair| out.pair(pair));
        let targets: Vec<&Target> = targets.collect();
        out.count(targets.len());
        for target in targets {
            let (task, pair) = match target {
                Target::Monitor => (MONITOR, None),
                Target::Provoke(pair) => (PROVOKE, Some(pair)),
                Target::Confirm(pair) => (CONFIRM, Some(pair)),
            };
            out.number(task);
            pair.into_iter().for_each(|pair| out.pair(pair));
        }
    }

    fn load(&mut self, input: &mut Loader<'_>) -> Result<Vec<Target>, Unusable> {
        self.known.load(input)?;
        self.later = (0..input.number()?).map(|_| input.pair()).collect::<Result<_, _>>()?;
        let target = |input: &mut Loader<'_>| match input.small()? {
            MONITOR => Ok(Target::Monitor),
            PROVOKE => Ok(Target::Provoke(Box::new(input.pair()?))),
            CONFIRM => Ok(Target::Confirm(Box::new(input.pair()?))),
            _ => Err(Unusable::Damaged),
        };
        (0..input.number()?).map(|_| target(input)).collect()
    }
}

/// Tags of saved targets.
const MONITOR: u8 = 0;
const PROVOKE: u8 = 1;
const CONFIRM: u8 = 2;

/// The thread that comes first under control need not be the one that came first in the free execution, so each of the two
/// is held in turn.
fn ways(pair: &Pair) -> Vec<Target> {
    let [first, second] = pair;
    let both = |a: &Descriptor, b: &Descriptor| Target::Confirm(Box::new([a.clone(), b.clone()]));
    vec![both(first, second), both(first, first), both(second, second)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use racehunter_explore::Conflict;
    use racehunter_log::{CodeAddress, ThreadPath};

    #[test]
    fn a_resumed_hunt_keeps_its_waiting_pairs() {
        let access = |code| Descriptor { code, path: Some(ThreadPath(7)), callers: vec![1, 2], nth: 3 };
        let pair: Pair = [access(CodeAddress(10)), access(CodeAddress(20))];
        let boxed = || Box::new(pair.clone());
        let targets = [Target::Monitor, Target::Provoke(boxed()), Target::Confirm(boxed()), Target::Monitor];
        let mut analysis = FreeRunning { later: vec![pair.clone()], ..FreeRunning::new() };
        analysis.known.take_new(vec![Conflict { pair: pair.clone(), is_first: true, guarded: false }], false);
        let mut bytes = Vec::new();
        let mut out = Saver::new(&mut bytes);
        analysis.save(&mut targets.iter(), &mut out);
        out.finish().unwrap();
        let mut resumed = FreeRunning::new();
        let loaded = resumed.load(&mut Loader::new(&mut &bytes[..])).unwrap();
        assert_eq!(loaded, targets);
        assert_eq!(resumed.known, analysis.known, "a pair that was provoked is not provoked again");
        assert_eq!(resumed.later, analysis.later);
        assert!(resumed.load(&mut Loader::new(&mut &bytes[..bytes.len() / 2])).is_err());
    }
}
