//! What a claim rests on.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

macro_rules! assumptions {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// Something that a claim about schedules takes for granted.
        ///
        /// Stored as its text, so that files of other versions stay readable.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Assumption {
            $($(#[$doc])* $name,)*
            /// Only shared accesses are points, besides synchronisation and atomics.
            SharedPoints {
                /// The number of executions since the last one that found another shared access; `None` for a merged
                /// campaign, whose parts all have the same points.
                stable_for: Option<u64>,
            },
            /// The seed of all random choices.
            Seed(u64),
            /// An assumption that this version does not know.
            Other(String),
        }

        impl Assumption {
            /// Assumptions with a fixed text.
            const FIXED: &[(Self, &str)] = &[$((Self::$name, $text),)*];
        }
    };
}

assumptions! {
    /// The program gets the same input.
    ThisInput = "this input",
    /// Threads see all accesses in one order.
    SequentialConsistency = "sequential consistency",
    /// No plain access is a point.
    SyncPoints = "points = synchronisation and atomics only",
    /// Every access is a point.
    AllPoints = "points = every access",
    /// Wake-ups are not choices of the schedule.
    NoSpuriousWakeups = "no spurious wake-ups; a signal wakes the thread that has waited longest",
    /// No detector looks for races.
    NoDetector = "no detector of races",
    /// Races are not inferred: two threads must stand before their accesses at the same time.
    RacesMeet = "a race is what two threads are about to do at the same time",
    /// Only the end of the output is compared.
    EndOfOutput = "output that differs does so in its length or in its last 64 MiB",
    /// The search leaves schedules out.
    IndependentOperations = "the order of operations on different objects does not matter",
    /// The program reads a clock.
    Time = "time passes only as the schedule says",
    /// The program waits with a deadline.
    TimedWaits = "waits with a deadline end by a signal or a time-out",
    /// The program waits on a futex with a deadline.
    FutexWaits = "waits on a futex with a deadline end by a wake-up or a time-out",
    /// The program has a weak compare-exchange.
    WeakExchange = "a weak compare-exchange fails only if the value differs",
    /// A thread stores to an atomic with relaxed order after it has released to it.
    OwnSequence = "a relaxed store continues the release sequence of its own thread, as up to C++17",
    /// Some races are not reported.
    Excused = "races on the standard streams, and those that annotations excuse, do not count",
    /// The program wants a small stack, and has a larger one.
    StackSize = "stacks are large enough",
    /// The program resizes large blocks.
    BlocksStay = "large blocks stay where they are when resized, if they fit",
    /// A thread takes a lock for reading twice.
    ReadsAgain = "a thread that reads under a lock gets it again for reading, also while a writer waits",
    /// Several threads make or close descriptors.
    DescriptorNumbers = "the numbers of descriptors do not matter",
    /// The program frees memory.
    FreedMemory = "freed memory is not handed out again at once",
    /// Freed memory has left the quarantine.
    LongFreed = "blocks that were freed long before, at least 1 MiB or 1,024 blocks ago, are not used",
    /// Executions are iterations of an in-process loop.
    InsideLoop = "every iteration of the loop begins in the same state, and failures show inside of the loop",
    /// The program uses Rust's standard library.
    StandardLibrary = "no preemption at the reads inside of Rust's standard library",
    /// Hash maps have random keys.
    HashKeys = "the keys of hash maps that were drawn",
    /// New threads are created after others have ended.
    Handles = "no reuse of handles: a new thread has none of a thread that is over",
    /// The campaign took several runs of the command.
    SameFiles = "the same files in each run",
}

const SHARED_POINTS: &str = "points = shared accesses";
const OF_PARTS: &str = ", the same in all parts";
const SEED: &str = "seed ";

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SharedPoints { stable_for: None } => write!(f, "{SHARED_POINTS}{OF_PARTS}"),
            Self::SharedPoints { stable_for: Some(1) } => write!(f, "{SHARED_POINTS}, stable for 1 execution"),
            Self::SharedPoints { stable_for: Some(count) } => {
                write!(f, "{SHARED_POINTS}, stable for {count} executions")
            }
            Self::Seed(seed) => write!(f, "{SEED}{seed}"),
            Self::Other(text) => f.write_str(text),
            fixed => {
                let text = Self::FIXED.iter().find(|(known, _)| known == fixed).map_or("", |(_, text)| text);
                f.write_str(text)
            }
        }
    }
}

impl From<String> for Assumption {
    fn from(text: String) -> Self {
        let fixed = Self::FIXED.iter().find(|(_, known)| *known == text).map(|(fixed, _)| fixed.clone());
        let seed = || text.strip_prefix(SEED)?.parse().ok().map(Self::Seed);
        let points = || {
            let stable = text.strip_prefix(SHARED_POINTS)?;
            let count = || stable.strip_prefix(", stable for ")?.split_once(" execution")?.0.parse().ok();
            let stable_for = if stable == OF_PARTS { None } else { Some(count()?) };
            Some(Self::SharedPoints { stable_for })
        };
        let known = fixed.or_else(seed).or_else(points);
        // Keep a text that this version would write differently.
        known.filter(|known| known.to_string() == text).unwrap_or(Self::Other(text))
    }
}

impl Serialize for Assumption {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Assumption {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_read_back_from_its_text() {
        let counted = [None, Some(0), Some(1), Some(298)].map(|stable_for| Assumption::SharedPoints { stable_for });
        let fixed = Assumption::FIXED.iter().map(|(fixed, _)| fixed.clone());
        for assumption in fixed.chain(counted).chain([Assumption::Seed(7), Assumption::Other("the moon".to_owned())]) {
            assert_eq!(Assumption::from(assumption.to_string()), assumption);
        }
    }

    #[test]
    fn a_text_that_is_almost_one_stays_as_it_is() {
        for text in ["seed 07", "seed", "points = shared accesses, stable for 2 execution", "this input "] {
            assert_eq!(Assumption::from(text.to_owned()), Assumption::Other(text.to_owned()), "{text}");
        }
    }

    #[test]
    fn no_two_have_the_same_text() {
        let mut texts: Vec<&str> = Assumption::FIXED.iter().map(|(_, text)| *text).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), Assumption::FIXED.len());
    }
}
