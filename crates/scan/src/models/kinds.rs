//! The fields of a function description, by kind.

use serde::Deserialize;

/// Arguments of a function that starts a thread.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Create {
    /// Receives the handle; if absent, the result is the handle.
    pub handle: Option<usize>,
    /// The function that the thread runs.
    pub entry: usize,
    /// The thread's argument.
    pub argument: usize,
}

/// Arguments of a function that joins a thread.
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
    /// True if it holds the lock only if the result is zero.
    #[serde(default)]
    pub tries: bool,
    /// True if others can hold it too.
    #[serde(default)]
    pub shared: bool,
}

/// Arguments of a function that releases a lock.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unlock {
    /// The lock.
    pub lock: usize,
    /// True if it initialises or destroys the lock: no other thread may use it meanwhile.
    #[serde(default)]
    pub whole: bool,
    /// True if only the thread that holds the lock may release it.
    #[serde(default)]
    pub owned: bool,
}

/// Arguments of a function that releases a lock while it waits.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// The lock.
    pub lock: usize,
    /// Objects that it waits on, which must not be freed meanwhile.
    #[serde(default)]
    pub uses: Vec<usize>,
    /// Arguments whose memory is read.
    #[serde(default)]
    pub reads: Vec<usize>,
}

/// Arguments of a semaphore function.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Semaphore {
    /// The operation.
    pub does: Does,
    /// The semaphore.
    pub semaphore: usize,
    /// Its initial value.
    pub value: Option<usize>,
    /// True if it is decremented only if the result is zero.
    #[serde(default)]
    pub tries: bool,
    /// Arguments whose memory is read.
    #[serde(default)]
    pub reads: Vec<usize>,
}

/// Arguments of a barrier function.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Barrier {
    /// The barrier.
    pub barrier: usize,
    /// The number of threads, for a function that initialises it; otherwise the function waits.
    pub count: Option<usize>,
}

/// A semaphore operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Does {
    /// Sets the initial value.
    Begin,
    /// Posts.
    Raise,
    /// Waits.
    Lower,
}

/// Arguments of a function that allocates memory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allocate {
    /// Receives the pointer; if absent, the result is the pointer.
    pub into: Option<usize>,
    /// Old memory whose contents it copies.
    pub copies: Option<usize>,
    /// True if each thread always gets the same memory, and no other thread gets it.
    #[serde(default)]
    pub own: bool,
    /// Arguments whose memory is read.
    #[serde(default)]
    pub reads: Vec<usize>,
}

/// Arguments of a function that registers another one, for the end of the program.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtExit {
    /// The function that will be called.
    pub entry: usize,
    /// What it will be given.
    pub argument: Option<usize>,
}

/// Arguments of a function that frees memory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// The memory.
    pub pointer: usize,
    /// True if it is a stream, whose file descriptor is closed.
    #[serde(default)]
    pub closes: bool,
}

/// Arguments of a function that creates a key.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewKey {
    /// Receives the key.
    pub key: usize,
    /// The function that is called at the end of a thread, if any.
    pub destructor: usize,
}

/// Arguments of a function that stores a thread-specific pointer.
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
    /// The object that identifies a function called only once.
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
    /// Arguments that are lists of variable arguments, which are all read.
    #[serde(default)]
    pub lists: Vec<usize>,
    /// True if the contents of what is read go to what is written.
    #[serde(default)]
    pub copies: bool,
    /// The first of the arguments that are read, up to the last one.
    pub reads_from: Option<usize>,
    /// The first of the arguments that are written, up to the last one.
    pub writes_from: Option<usize>,
    /// A format as of `printf`: it is read, and so are all arguments after it, or all in the lists. If it may contain
    /// `%n`, they are written too.
    pub format: Option<usize>,
    /// Arguments that the function synchronises itself, such as streams; but their memory must not be freed meanwhile.
    #[serde(default)]
    pub uses: Vec<usize>,
    /// Arguments that are initialised or destroyed: no other thread may use them meanwhile.
    #[serde(default)]
    pub whole: Vec<usize>,
    /// True if it writes numbers or text. Otherwise it may write pointers to unknown memory.
    #[serde(default)]
    pub numbers: bool,
    /// An argument that gets a pointer into another one, and the other one.
    pub points: Option<[usize; 2]>,
    /// The argument that is returned.
    pub returns: Option<usize>,
    /// The argument that is a file descriptor, or memory with file descriptors.
    pub descriptor: Option<usize>,
    /// The argument that is a file descriptor which it closes or replaces.
    pub closes: Option<usize>,
    /// The argument with the number of bytes.
    pub length: Option<usize>,
    /// True if it returns an address in the arguments or the environment of the program.
    #[serde(default)]
    pub environment: bool,
    /// True if it returns the handle of an unknown thread.
    #[serde(default)]
    pub handle: bool,
    /// True if what it returns or writes comes from outside the program.
    #[serde(default)]
    pub input: bool,
    /// True if what it writes are bytes from outside: an address only if the program has let it out before.
    #[serde(default)]
    pub data: bool,
    /// True if the bytes that it reads leave the program, and may come back.
    #[serde(default)]
    pub sends: bool,
}

impl MemoryEffect {
    /// Returns true if the memory of an argument is written, judging by its position.
    pub fn writes_argument(&self, index: usize) -> bool {
        self.writes.contains(index) || self.writes_from.is_some_and(|first| index >= first)
    }

    /// Returns where a function that copies writes, and where it reads: the positions of its arguments.
    pub fn copied(&self) -> (usize, usize) {
        let first = |arguments: &Arguments, other: Option<usize>| match arguments {
            Arguments::Some(list) => list.iter().copied().find(|&index| Some(index) != other),
            Arguments::Word(_) => None,
        };
        let to = first(&self.writes, None).unwrap_or(0);
        (to, first(&self.reads, Some(to)).unwrap_or(1))
    }

    /// Returns true if the memory of an argument is read, judging by its position.
    pub fn reads_argument(&self, index: usize) -> bool {
        self.reads.contains(index)
            || self.reads_from.is_some_and(|first| index >= first)
            || self.format.is_some_and(|format| index >= format)
    }
}
