//! The rank of a schedule in the search order.

use racehunter_explore::{Decision, Loader, Saver, Step, Unusable, Variable};
use racehunter_log::{ThreadId, mix};

/// The rank of a schedule in the search order. The order of the fields is the search order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub variables: u32,
    pub threads: u32,
    /// The last loop iteration, from 1, that allocated one of the variables; 0 if none is on the heap.
    pub iterations: u32,
    pub preemptions: u32,
}

impl Place {
    /// Returns bounds, at most `most`, within which every rank precedes `next`, the rank that follows this one.
    pub fn before(self, next: Self, most: Self) -> Self {
        if next.variables > self.variables {
            Self { variables: next.variables - 1, ..most }
        } else if next.threads > self.threads {
            Self { variables: next.variables, threads: next.threads - 1, ..most }
        } else if next.iterations > self.iterations {
            Self { iterations: next.iterations - 1, preemptions: most.preemptions, ..next }
        } else {
            Self { preemptions: next.preemptions - 1, ..next }
        }
    }

    pub fn save(self, out: &mut Saver<'_>) {
        let Self { variables, threads, iterations, preemptions } = self;
        [variables, threads, iterations, preemptions].into_iter().for_each(|number| out.number(number));
    }

    pub fn load(input: &mut Loader<'_>) -> Result<Self, Unusable> {
        let (variables, threads) = (input.small()?, input.small()?);
        Ok(Self { variables, threads, iterations: input.small()?, preemptions: input.small()? })
    }
}

/// Returns the loop iteration, from 1, that allocated a variable; 0 for a variable that is not on the heap.
pub(crate) fn iteration_of(variable: Variable) -> u32 {
    if let Variable::Heap { iteration, .. } = variable { iteration.saturating_add(1) } else { 0 }
}

/// Added to a guarantee if iterations are limited.
pub(crate) fn iterations_in_words(limit: Option<u32>) -> String {
    match limit {
        None | Some(u32::MAX) => String::new(),
        Some(0) => " (not at blocks of the heap)".to_owned(),
        Some(1) => " (blocks of the heap: those of the first 1 iteration of a loop)".to_owned(),
        Some(limit) => format!(" (blocks of the heap: those of the first {limit} iterations of a loop)"),
    }
}

/// The variables, threads and preemptions that a schedule has used so far.
#[derive(Clone, Default)]
pub(super) struct Usage {
    preemptions: u32,
    iterations: u32,
    variables: Vec<Variable>,
    threads: Vec<ThreadId>,
    /// The rank, if only that is known: for schedules that cannot preempt any more.
    last: Option<Place>,
}

impl Usage {
    /// Creates the usage of a schedule that has reached a rank and cannot preempt any more.
    pub fn at(place: Place) -> Self {
        Self { preemptions: place.preemptions, last: Some(place), ..Self::default() }
    }

    /// Adds a choice at a decision, before which the running thread was about to access `variable`.
    pub fn with(&self, decision: &Decision, step: Step, to: ThreadId, variable: Option<Variable>) -> Self {
        let mut usage = self.clone();
        usage.preemptions += u32::from(matches!(step, Step::Preemption | Step::Unfair));
        if step == Step::Preemption {
            for thread in [decision.from, to] {
                if !usage.threads.contains(&thread) {
                    usage.threads.push(thread);
                }
            }
            if let Some(variable) = variable.filter(|variable| !usage.variables.contains(variable)) {
                usage.iterations = usage.iterations.max(iteration_of(variable));
                usage.variables.push(variable);
            }
        }
        usage
    }

    pub fn place(&self) -> Place {
        if let Some(place) = self.last {
            return Place { preemptions: self.preemptions, ..place };
        }
        Place {
            variables: self.variables.len() as u32,
            threads: self.threads.len() as u32,
            iterations: self.iterations,
            preemptions: self.preemptions,
        }
    }

    /// Returns the usages with a strict subset of these variables and threads. Returns none if there would be too many.
    pub fn less(&self) -> impl Iterator<Item = Self> + '_ {
        let count = self.variables.len() + self.threads.len();
        let all = if count <= MOST_SETS { (1_u32 << count) - 1 } else { 0 };
        (0..all).map(move |some| {
            let threads = some >> self.variables.len();
            let (preemptions, iterations) = (self.preemptions, self.iterations);
            let variables = chosen(&self.variables, some);
            Self { preemptions, iterations, variables, threads: chosen(&self.threads, threads), last: None }
        })
    }

    /// Returns a key for the state together with these variables and threads, which bound the continuations. The number
    /// of preemptions does not matter: a schedule that reached the state with fewer can continue as far.
    pub fn key_of(&self, moment: u128) -> u128 {
        let mut variables = self.variables.clone();
        variables.sort_unstable();
        let mut threads = self.threads.clone();
        threads.sort_unstable();
        let number = variables.into_iter().fold(mix(moment, 2), |number, variable| match variable {
            Variable::Fixed(address) => mix(mix(number, 1), u128::from(address.0)),
            Variable::Heap { code, caller, iteration, offset } => {
                let number = mix(mix(number, 2), u128::from(code.0) << 64 | u128::from(caller));
                mix(number, u128::from(iteration) << 64 | u128::from(offset))
            }
            Variable::Stack { path, offset } => mix(mix(number, 3), u128::from(path.0) << 64 | u128::from(offset)),
            Variable::File(file) => mix(mix(number, 4), u128::from(file)),
        });
        threads.into_iter().fold(mix(number, 5), |number, thread| mix(number, u128::from(thread.0)))
    }
}

/// Maximum number of variables and threads whose subsets are looked up.
const MOST_SETS: usize = 6;

/// Returns the items whose bits are set.
fn chosen<T: Copy>(all: &[T], bits: u32) -> Vec<T> {
    all.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 != 0).map(|(_, &one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use racehunter_log::Address;

    #[test]
    fn covered_bounds_are_those_before_the_next_rank() {
        let place = |variables, threads, iterations, preemptions| Place { variables, threads, iterations, preemptions };
        let most = place(3, 4, u32::MAX, 5);
        let now = place(1, 2, 1, 2);
        assert_eq!(now.before(place(2, 2, 0, 2), most), place(1, 4, u32::MAX, 5));
        assert_eq!(now.before(place(1, 3, 0, 2), most), place(1, 2, u32::MAX, 5));
        assert_eq!(now.before(place(1, 2, 4, 1), most), place(1, 2, 3, 5));
        assert_eq!(now.before(place(1, 2, 1, 3), most), place(1, 2, 1, 2));
    }

    #[test]
    fn less_yields_every_strict_subset() {
        let fixed = |address| Variable::Fixed(Address(address));
        let usage = Usage {
            variables: vec![fixed(1), fixed(2)],
            threads: vec![ThreadId(0), ThreadId(3)],
            preemptions: 2,
            iterations: 0,
            last: None,
        };
        let parts: Vec<_> = usage.less().map(|less| (less.variables, less.threads)).collect();
        assert_eq!(parts.len(), 15);
        assert_eq!(parts[0], (Vec::new(), Vec::new()));
        assert!(
            parts.contains(&(vec![fixed(2)], vec![ThreadId(0), ThreadId(3)]))
                && !parts.contains(&(vec![fixed(1), fixed(2)], vec![ThreadId(0), ThreadId(3)]))
        );
        assert_eq!(Usage { threads: (0..9).map(ThreadId).collect(), ..usage }.less().count(), 0);
    }

    #[test]
    fn the_key_depends_on_variables_and_threads_but_not_on_their_order() {
        let (a, b) = (Variable::Fixed(Address(8)), Variable::Fixed(Address(16)));
        let usage = |variables: &[Variable], threads: &[u32], preemptions| Usage {
            variables: variables.to_vec(),
            threads: threads.iter().copied().map(ThreadId).collect(),
            preemptions,
            iterations: 0,
            last: None,
        };
        let number = usage(&[a, b], &[1, 2], 2).key_of(7);
        assert_eq!(number, usage(&[b, a], &[2, 1], 3).key_of(7));
        assert_ne!(number, usage(&[a], &[1, 2], 2).key_of(7));
        assert_ne!(number, usage(&[a, b], &[1, 3], 2).key_of(7));
        assert_ne!(number, usage(&[a, b], &[1, 2], 2).key_of(8));
    }
}
