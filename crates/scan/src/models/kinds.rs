//! What a description says about a function of one kind.

use serde::Deserialize;

/// Arguments of a function that starts a thread.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Create {
    /// Where the handle is put; else it is the result.
    pub handle: Option<usize>,
    /// The function that the thread runs.
    pub entry: usize,
    /// What it gets.
    pub argument: usize,
}

/// Arguments of a function that waits for a thread.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Join {
    /// The handle.
    pub handle: usize,
}

/// Arguments of a function that takes a lock.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// The lock.
    pub lock: usize,
    /// Whether it has the lock only if the result is zero.
    #[serde(default)]
    pub tries: bool,
    /// Whether others can have it too.
    #[serde(default)]
    pub shared: bool,
}

/// Arguments of a function that gives a lock back.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unlock {
    /// The lock.
    pub lock: usize,
    /// Whether it makes the lock, or ends it: no other thread may use it meanwhile.
    #[serde(default)]
    pub whole: bool,
    /// Whether only the thread that has the lock may give it back.
    #[serde(default)]
    pub owned: bool,
}

/// Arguments of a function that gives a lock back while it waits.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// The lock.
    pub lock: usize,
    /// What is waited for, which must not be given back meanwhile.
    #[serde(default)]
    pub uses: Vec<usize>,
    /// Arguments whose memory is read.
    #[serde(default)]
    pub reads: Vec<usize>,
}

/// Arguments of a function that does something with a semaphore.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Semaphore {
    /// What it does.
    pub does: Does,
    /// The semaphore.
    pub semaphore: usize,
    /// Its first value.
    pub value: Option<usize>,
    /// Whether it is lowered only if the result is zero.
    #[serde(default)]
    pub tries: bool,
    /// Arguments whose memory is read.
    #[serde(default)]
    pub reads: Vec<usize>,
}

/// Arguments of a function that does something with a barrier.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Barrier {
    /// The barrier.
    pub barrier: usize,
    /// How many threads it is for, where it begins; otherwise it is waited at.
    pub count: Option<usize>,
}

/// What is done with a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Does {
    /// It gets its first value.
    Begin,
    /// Others may go on.
    Raise,
    /// Waits until others have raised it.
    Lower,
}

/// Arguments of a function that makes memory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allocate {
    /// Where the pointer is put; else it is the result.
    pub into: Option<usize>,
    /// Old memory whose content it gets.
    pub copies: Option<usize>,
    /// Whether it is the same memory each time a thread asks for it, and no other thread has it.
    #[serde(default)]
    pub own: bool,
    /// Arguments whose memory is read.
    #[serde(default)]
    pub reads: Vec<usize>,
}

/// Arguments of a function that ends the life of memory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// The memory.
    pub pointer: usize,
}

/// Arguments of a function that makes a key.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewKey {
    /// Where the key is put.
    pub key: usize,
    /// The function that is called at the end of a thread, if there is one.
    pub destructor: usize,
}

/// Arguments of a function that keeps a pointer for the thread.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keep {
    /// The pointer.
    pub value: usize,
}

/// Arguments of a function that calls another.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallBack {
    /// The function.
    pub entry: usize,
    /// What is different for each function that is called once and never again.
    pub once: Option<usize>,
}

/// Some arguments, or all.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Arguments {
    /// These.
    Some(Vec<usize>),
    /// `"all"`.
    Word(String),
}

impl Default for Arguments {
    fn default() -> Self {
        Self::Some(Vec::new())
    }
}

impl Arguments {
    /// Returns true if an argument is among them.
    pub fn contains(&self, argument: usize) -> bool {
        match self {
            Self::Some(list) => list.contains(&argument),
            Self::Word(_) => true,
        }
    }
}

/// Which memory a function touches.
#[derive(Clone, Debug, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryEffect {
    /// Arguments whose memory is written.
    #[serde(default)]
    pub writes: Arguments,
    /// Arguments whose memory is read.
    #[serde(default)]
    pub reads: Arguments,
    /// Arguments that are lists of variable arguments, of which everything is read.
    #[serde(default)]
    pub lists: Vec<usize>,
    /// Whether what is read goes to what is written.
    #[serde(default)]
    pub copies: bool,
    /// The first of the arguments of which all that follow are read, however many there are.
    pub reads_from: Option<usize>,
    /// The first of the arguments of which all that follow are written, however many there are.
    pub writes_from: Option<usize>,
    /// A format as `printf` has it: it is read, and so are all arguments behind it, or all that the lists have. Where it may contain
    /// `%n` they are written, too.
    pub format: Option<usize>,
    /// Arguments that are kept in order by the function itself, as streams are; but their memory must not be given back meanwhile.
    #[serde(default)]
    pub uses: Vec<usize>,
    /// Arguments that are made, or come to their end: no other thread may use them meanwhile.
    #[serde(default)]
    pub whole: Vec<usize>,
    /// What is written are numbers or text. Otherwise there may be pointers in it, and it is not known where they lead.
    #[serde(default)]
    pub numbers: bool,
    /// An argument that gets a pointer into another one, and that one.
    pub points: Option<[usize; 2]>,
    /// The argument that is returned.
    pub returns: Option<usize>,
    /// The argument that says how many bytes.
    pub length: Option<usize>,
    /// Whether it returns an address in the arguments and the environment of the program.
    #[serde(default)]
    pub environment: bool,
    /// Whether it returns the handle of a thread, and it is not known which.
    #[serde(default)]
    pub handle: bool,
    /// Whether what it returns or writes comes from outside of the program.
    #[serde(default)]
    pub input: bool,
}

impl MemoryEffect {
    /// Returns true if the memory of an argument is written, as far as its position says that.
    pub fn writes_argument(&self, index: usize) -> bool {
        self.writes.contains(index) || self.writes_from.is_some_and(|first| index >= first)
    }

    /// Returns true if the memory of an argument is read, as far as its position says that.
    pub fn reads_argument(&self, index: usize) -> bool {
        self.reads.contains(index)
            || self.reads_from.is_some_and(|first| index >= first)
            || self.format.is_some_and(|format| index >= format)
    }
}
