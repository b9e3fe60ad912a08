//! What coordinator and workers tell each other.

use crate::digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Bytes of a message, at most. Larger ones are not even read.
const MOST: usize = 256 << 20;

/// A file that a worker needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRef {
    /// Its name, without a directory.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// Its SHA-256, by which it is stored and checked.
    pub digest: String,
    /// Its size in bytes.
    pub size: u64,
    /// Where the coordinator has it.
    #[serde(skip)]
    pub path: PathBuf,
}

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The program.
    Program,
    /// An instrumented library that it loads.
    Library,
    /// Its standard input.
    Input,
}

/// How the program behaves when nothing is preempted: a worker on which it behaves differently is of no use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// Events.
    pub events: u64,
    /// Threads.
    pub threads: u32,
    /// How it ended.
    pub outcome: String,
    /// SHA-256 of its output.
    pub output: String,
}

/// A hunt, as workers see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcement {
    /// Its name at the engine.
    #[serde(default)]
    pub hunt: String,
    /// What decides which schedules are run, as a digest: the same for hunts that can continue each other.
    pub identity: String,
    /// The version of RaceHunter. Others may explore differently.
    pub version: String,
    /// Who started it, and where.
    pub owner: String,
    /// The name of the program.
    pub name: String,
    /// The options of the hunt, as on its command line.
    pub words: Vec<String>,
    /// The arguments of the program.
    pub arguments: Vec<String>,
    /// The program and what else a worker needs.
    pub files: Vec<FileRef>,
    /// Libraries that a worker must have itself, by file name, and their identities.
    pub libraries: BTreeMap<String, String>,
    /// The variables of the environment that the program may read, with short digests of their values.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// What the program does when nothing is preempted.
    pub reference: Reference,
    /// Executions of a part, at most.
    pub part_runs: u64,
}

impl Announcement {
    /// The program.
    #[must_use]
    pub fn program(&self) -> Option<&FileRef> {
        self.files.iter().find(|file| file.role == Role::Program)
    }
}

/// A part of a hunt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its number.
    pub number: u64,
    /// How often the search has started again.
    pub epoch: u64,
    /// SHA-256 of the program.
    pub program: String,
    /// Executions, at most.
    pub runs: u64,
    /// The state of a campaign: see `Campaign::lend`.
    #[serde(with = "bytes")]
    pub state: Vec<u8>,
}

/// What came of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartResult {
    /// Its number.
    pub number: u64,
    /// SHA-256 of the part as it was delivered.
    pub part: String,
    /// SHA-256 of the program that was run.
    pub program: String,
    /// The worker.
    pub worker: String,
    /// The search has to start again: see `Campaign::has_restarted`.
    pub restarted: bool,
    /// Time that it took, in microseconds.
    pub elapsed_us: u64,
    /// The state of the campaign after it.
    #[serde(with = "bytes")]
    pub state: Vec<u8>,
}

/// Byte strings as such, not as lists of numbers.
mod bytes {
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], out: S) -> Result<S::Ok, S::Error> {
        out.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<u8>, D::Error> {
        struct Bytes;
        impl serde::de::Visitor<'_> for Bytes {
            type Value = Vec<u8>;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }
        }
        input.deserialize_bytes(Bytes)
    }
}

macro_rules! message {
    ($name:ident) => {
        impl $name {
            /// Returns it as bytes.
            #[must_use]
            pub fn encode(&self) -> Vec<u8> {
                // Writing to memory does not fail.
                postcard::to_allocvec(self).unwrap_or_default()
            }

            /// Reads it. `None` if the bytes are anything else; the sender is not trusted.
            #[must_use]
            pub fn decode(bytes: &[u8]) -> Option<Self> {
                if bytes.len() > MOST {
                    return None;
                }
                match postcard::take_from_bytes(bytes) {
                    Ok((message, [])) => Some(message),
                    _ => None,
                }
            }
        }
    };
}

message!(Part);
message!(PartResult);

/// Returns the SHA-256 of a message or a file, in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    digest::sha256(bytes)
}

/// How far a hunt is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// `exploring`, `finished` or `paused`.
    pub state: String,
    /// How often the search has started again.
    pub epoch: u64,
    /// Executions so far.
    pub executions: u64,
    /// Parts that are done.
    pub parts_done: u64,
    /// Parts that wait or are being explored.
    pub parts_lent: u64,
    /// Targets that wait at the coordinator.
    pub waiting: u64,
    /// Findings so far.
    pub findings: u64,
    /// Time since the hunt began, in seconds.
    pub elapsed_s: f64,
    /// When this was written, in seconds since 1970.
    pub at: u64,
    /// Workers that are shut out, and why.
    pub shut_out: BTreeMap<String, String>,
    /// How often parts were called back because workers had nothing to do. When it changes, workers hand in what they have.
    #[serde(default)]
    pub recalls: u64,
}

/// What a worker does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// Its name.
    pub worker: String,
    /// The hunt that it works for, if any.
    pub hunt: Option<String>,
    /// Parts that it has handed in.
    pub parts: u64,
    /// Executions of these parts.
    pub executions: u64,
    /// Time that it has explored, in microseconds.
    #[serde(default)]
    pub exploring_us: u64,
    /// Time from asking for a part to having it, in microseconds. Includes waiting until there was one.
    #[serde(default)]
    pub taking_us: u64,
    /// Time that it took to hand in results, in microseconds.
    #[serde(default)]
    pub handing_in_us: u64,
    /// Hunts that it has refused, and why.
    pub refused: BTreeMap<String, String>,
    /// When this was written, in seconds since 1970.
    pub at: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever arrives is refused, or is a message that survives encoding.
        #[test]
        fn any_bytes_are_a_message_or_nothing(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some(part) = Part::decode(&bytes) {
                prop_assert_eq!(Part::decode(&part.encode()), Some(part));
            }
            if let Some(result) = PartResult::decode(&bytes) {
                prop_assert_eq!(PartResult::decode(&result.encode()), Some(result));
            }
        }

        #[test]
        fn messages_survive_encoding(
            (number, epoch, runs, elapsed_us) in any::<(u64, u64, u64, u64)>(),
            (program, part, worker) in any::<(String, String, String)>(),
            restarted: bool,
            state: Vec<u8>,
        ) {
            let sent = Part { number, epoch, program: program.clone(), runs, state: state.clone() };
            prop_assert_eq!(Part::decode(&sent.encode()), Some(sent));
            let sent = PartResult { number, part, program, worker, restarted, elapsed_us, state };
            prop_assert_eq!(PartResult::decode(&sent.encode()), Some(sent));
        }

        /// A damaged message is another message, or none.
        #[test]
        fn a_damaged_message_is_read_without_harm(at: usize, bits in 1_u8.., cut: bool) {
            let mut bytes = result().encode();
            let at = at % bytes.len();
            if cut {
                bytes.truncate(at);
            } else {
                bytes[at] ^= bits;
            }
            prop_assert_ne!(PartResult::decode(&bytes), Some(result()));
        }
    }

    fn result() -> PartResult {
        PartResult {
            number: 7,
            part: "ab".into(),
            program: "cd".into(),
            worker: "w".into(),
            restarted: true,
            elapsed_us: 5,
            state: vec![1, 2, 3],
        }
    }

    #[test]
    fn messages_survive_and_nothing_else_does() {
        let bytes = result().encode();
        assert_eq!(PartResult::decode(&bytes), Some(result()));
        for length in 0..bytes.len() {
            assert_eq!(PartResult::decode(&bytes[..length]), None, "{length}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(PartResult::decode(&longer), None);
        // A length that the bytes do not fill allocates nothing.
        assert_eq!(PartResult::decode(&[7, 0xff, 0xff, 0xff, 0xff, 0x0f]), None);
    }
}
