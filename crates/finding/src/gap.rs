//! What is not under control, or not seen.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! gaps {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// A kind of thing that RaceHunter does not control or does not see. Stored by its name.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Gap {
            $($(#[$doc])* $name,)*
            /// A kind that this version does not know.
            Other(String),
        }

        impl Gap {
            /// All kinds with a fixed name.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Returns the name in JSON.
            #[must_use]
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$name => $text,)*
                    Self::Other(name) => name,
                }
            }

            /// Returns the kind with this name.
            #[must_use]
            pub fn named(name: &str) -> Self {
                match name {
                    $($text => Self::$name,)*
                    _ => Self::Other(name.to_owned()),
                }
            }
        }
    };
}

gaps! {
    /// A child process.
    Fork = "fork",
    /// Another program that is started.
    Spawn = "spawn",
    /// The client that the user specified.
    Client = "client",
    /// A program that replaces this one.
    Exec = "exec",
    /// A call that blocks in the kernel.
    Blocked = "blocked",
    /// Long work in code that is not instrumented.
    Busy = "busy",
    /// Input from outside.
    Input = "input",
    /// A signal from outside.
    Signal = "signal",
    /// Which thread takes a signal to the process.
    SignalReceiver = "signal-receiver",
    /// Threads that `pthread_create` did not create.
    Threads = "threads",
    /// A thread whose code is not instrumented.
    Uninstrumented = "uninstrumented",
    /// A function or system call without a model.
    Unmodelled = "unmodelled",
    /// State inside a library.
    HiddenState = "hidden-state",
    /// Memory that a library uses.
    UnseenMemory = "unseen-memory",
    /// State of the kernel.
    KernelState = "kernel-state",
    /// A source of values that differ from execution to execution.
    Random = "random",
    /// Memory that has two addresses.
    Alias = "alias",
    /// A function that is not instrumented.
    Library = "library",
    /// Inline assembler.
    Assembler = "assembler",
    /// A function whose instrumentation is switched off.
    NoInstrumentation = "no-instrumentation",
    /// A system call that is not seen.
    SystemCall = "system-call",
    /// A local variable that another thread uses after its end.
    ReturnedLocal = "returned-local",
    /// A stack that the program provides.
    OwnStack = "own-stack",
}

impl Gap {
    /// Returns true if the schedule was under control, but something in it may have gone unnoticed.
    #[must_use]
    pub const fn is_unseen(&self) -> bool {
        match self {
            Self::HiddenState
            | Self::UnseenMemory
            | Self::KernelState
            | Self::Random
            | Self::Alias
            | Self::Library
            | Self::Assembler
            | Self::NoInstrumentation
            | Self::SystemCall
            | Self::ReturnedLocal
            | Self::OwnStack => true,
            Self::Fork
            | Self::Spawn
            | Self::Client
            | Self::Exec
            | Self::Blocked
            | Self::Busy
            | Self::Input
            | Self::Signal
            | Self::SignalReceiver
            | Self::Threads
            | Self::Uninstrumented
            | Self::Unmodelled
            | Self::Other(_) => false,
        }
    }
}

impl Serialize for Gap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Gap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|name| Self::named(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_found_by_its_name() {
        assert!(Gap::ALL.iter().all(|gap| Gap::named(gap.name()) == *gap));
        assert_eq!(Gap::named("unheard-of"), Gap::Other("unheard-of".to_owned()));
        assert_eq!(Gap::named("unheard-of").name(), "unheard-of");
    }
}
