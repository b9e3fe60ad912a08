//! What a call of uninstrumented code can hide from a claim.
//!
//! A claim about all schedules requires that everything relevant in each of them was seen. Instrumented code is seen; everything
//! else is looked up here, by name. The principle is a whitelist: [`of`] returns [`Effect::Unknown`] for every function that has
//! not been reviewed, and that is a gap in any claim about an execution that reaches it.
//!
//! The crate knows only names: not how calls are found (the compiler plugin), not when a call counts (the runtime), not how gaps
//! are reported (the reports). It has no dependencies and works without the standard library, because the runtime also uses it,
//! for functions that are called by their address.
//!
//! Start reading at [`Effect`], then [`of`]; the reviewed functions are in [`table`].
#![no_std]
#![forbid(unsafe_code)]

pub mod assembler;
pub mod models;
pub mod table;

/// The first eight bytes of every instrumented function: a no-op instruction with an otherwise unused operand. Code
/// that calls a function by its address uses them to find out whether it is instrumented.
pub const MARK: u64 = u64::from_le_bytes([0x0f, 0x1f, 0x84, 0x00, b'R', b'H', b'0', b'1']);

/// Passed with a description in place of an argument: nothing is called yet, but the address of the function is taken, and it may
/// be called when there are other threads.
pub const ADDRESS_TAKEN: usize = 0x7a6b;

/// The section with the descriptions of what is not seen: the number of an [`Effect`], then a zero-terminated name.
pub const SECTION: &str = "rh_unseen";

/// What a function can hide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Effect {
    /// Nothing beyond the memory of its arguments: it has a model, or touches neither memory of its caller nor state that other
    /// threads can change.
    None = 0,
    /// State inside a library that calls in other threads use or change: `strtok`, `setenv`.
    HiddenState = 1,
    /// The caller's memory, accessed where the detector does not see it: `sscanf`.
    Memory = 2,
    /// Kernel state without a scheduling point: the working directory, the resources of the process.
    KernelState = 3,
    /// A source of values that differ from execution to execution: `getrandom`.
    Random = 4,
    /// A second address for memory that already has one: `shmat`.
    Alias = 5,
    /// Code that has not been reviewed.
    Unknown = 6,
    /// Inline assembler.
    Assembler = 7,
    /// A function compiled with the instrumentation switched off.
    Uninstrumented = 8,
    /// Reads files, by a path or by their contents at a given offset.
    FileLook = 9,
    /// Changes files, and returns nothing that depends on their previous state: an open for writing, `write`.
    FileChange = 10,
    /// Changes files, and its result depends on their previous state: `mkdir`, `unlink`.
    FileBoth = 11,
    /// Uses the position of an open file, which others may move: `lseek`, `fgets`.
    FilePosition = 12,
    /// Opens a file, as its flags say (`open`).
    FileOpen = 13,
    /// Opens a file, as its mode says (`fopen`).
    FileOpenMode = 14,
    /// Process state in the kernel that has a model: the working directory, limits.
    ProcessState = 15,
    /// Creates a file with a unique name: `mkstemp`.
    FileTemporary = 16,
    /// Reads state of a descriptor other than contents: `getsockopt`.
    DescriptorLook = 17,
    /// Changes state of a descriptor: `fcntl`, `close`.
    DescriptorChange = 18,
    /// Reads or changes process state that has a model, and on which no path depends: signal actions.
    Setting = 19,
    /// Writes to standard output, which matters only if outputs are compared.
    Print = 20,
}

impl Effect {
    /// Returns the effect with this number.
    #[must_use]
    pub fn from_byte(byte: u8) -> Option<Self> {
        let all = [
            Self::None,
            Self::HiddenState,
            Self::Memory,
            Self::KernelState,
            Self::Random,
            Self::Alias,
            Self::Unknown,
            Self::Assembler,
            Self::Uninstrumented,
            Self::FileLook,
            Self::FileChange,
            Self::FileBoth,
            Self::FilePosition,
            Self::FileOpen,
            Self::FileOpenMode,
            Self::ProcessState,
            Self::FileTemporary,
            Self::DescriptorLook,
            Self::DescriptorChange,
            Self::Setting,
            Self::Print,
        ];
        all.into_iter().find(|effect| *effect as u8 == byte)
    }

    /// Returns its name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::HiddenState => "hidden-state",
            Self::Memory => "unseen-memory",
            Self::Random => "random",
            Self::Alias => "alias",
            Self::Unknown => "library",
            Self::Assembler => "assembler",
            Self::Uninstrumented => "no-instrumentation",
            Self::KernelState
            | Self::ProcessState
            | Self::DescriptorLook
            | Self::DescriptorChange
            | Self::Setting
            | Self::Print
            | Self::FileLook
            | Self::FileChange
            | Self::FileBoth
            | Self::FilePosition
            | Self::FileOpen
            | Self::FileTemporary
            | Self::FileOpenMode => "kernel-state",
        }
    }

    /// Returns whether it concerns files.
    #[must_use]
    pub const fn is_about_files(self) -> bool {
        matches!(
            self,
            Self::FileLook
                | Self::FileChange
                | Self::FileBoth
                | Self::FilePosition
                | Self::FileOpen
                | Self::FileOpenMode
                | Self::FileTemporary
        )
    }

    /// Returns whether the runtime has a model of it, which it applies at the call.
    #[must_use]
    pub const fn is_modelled(self) -> bool {
        self.is_about_files()
            || matches!(
                self,
                Self::ProcessState | Self::DescriptorLook | Self::DescriptorChange | Self::Setting | Self::Print
            )
    }

    /// Returns whether it concerns a descriptor rather than the contents of a file.
    #[must_use]
    pub const fn is_about_descriptors(self) -> bool {
        matches!(self, Self::DescriptorLook | Self::DescriptorChange)
    }

    /// Returns whether it counts even without other threads: it makes executions differ from each other, or has a lasting effect.
    #[must_use]
    pub const fn counts_alone(self) -> bool {
        matches!(self, Self::Random | Self::Alias)
    }
}

/// The arguments of a call that point to memory which is accessed where the detector does not see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    bits: u16,
    /// All from this one on, for functions with a variable number of arguments.
    from: Option<u8>,
}

impl Arguments {
    /// Returns whether the set contains the argument at a position.
    #[must_use]
    pub fn contains(self, position: u32) -> bool {
        position < 16 && self.bits >> position & 1 != 0 || self.from.is_some_and(|from| position >= u32::from(from))
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.bits == 0 && self.from.is_none()
    }
}

/// What is known about a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// What it can hide, for any arguments.
    pub effect: Effect,
    /// Arguments whose memory it accesses unseen.
    pub touches: Arguments,
    /// The argument with the path, the file or the stream, for effects on files.
    pub file: u8,
    /// The argument with the flags or the mode, for functions that open files.
    pub mode: u8,
}

impl Function {
    const fn with(effect: Effect) -> Self {
        Self { effect, touches: Arguments { bits: 0, from: None }, file: 0, mode: 0 }
    }
}

/// Returns what a function can hide, by its linker name.
#[must_use]
pub fn of(name: &str) -> Function {
    exactly(name).or_else(|| plain(name).and_then(exactly)).unwrap_or(Function::with(Effect::Unknown))
}

/// Returns the table entry for exactly this name.
fn exactly(name: &str) -> Option<Function> {
    if table::PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        return Some(Function::with(Effect::None));
    }
    if is_mathematics(name) || is_thrown(name) || is_allocator_shim(name) {
        return Some(Function::with(Effect::None));
    }
    let reviewed = table::ALL.iter().find_map(|(effect, names)| {
        let found = names.split_ascii_whitespace().find(|entry| entry.split(':').next() == Some(name))?;
        Some(entry(*effect, found))
    });
    reviewed.or_else(|| modelled(name))
}

/// A function that has a model, and no entry because it has no other effects.
fn modelled(name: &str) -> Option<Function> {
    let model = models::exactly(name)?;
    let mut function = Function::with(Effect::None);
    for part in models::parts(model) {
        match part {
            models::Part::Touch(touch) => match touch.place {
                models::Place::Argument(at) | models::Place::Behind(at) | models::Place::Stream(at) => {
                    function.touches.bits |= 1 << at
                }
                models::Place::Hidden(_) | models::Place::Variable(_) | models::Place::Result => {
                    function.effect = Effect::HiddenState
                }
            },
            models::Part::Routine(name, _) if models::is_about_failures(name) => {}
            models::Part::Routine(..) => function.touches.from = Some(0),
            models::Part::Partly => return None,
        }
    }
    Some(function)
}

/// Returns whether a function has a model that covers all it does to memory and to hidden state.
#[must_use]
pub fn is_modelled(name: &str) -> bool {
    models::of(name).is_some_and(|model| models::parts(model).all(|part| part != models::Part::Partly))
}

/// Returns whether it is a function of `<math.h>`, for any of its types.
fn is_mathematics(name: &str) -> bool {
    let has = |name: &str| table::MATHEMATICS.split_ascii_whitespace().any(|known| known == name);
    has(name) || name.strip_suffix(['f', 'l']).is_some_and(has)
}

/// `std::__throw_bad_alloc()` and similar functions: `_ZSt17__throw_bad_allocv`.
fn is_thrown(name: &str) -> bool {
    let rest = name.strip_prefix("_ZSt").map(|rest| rest.trim_start_matches(|letter: char| letter.is_ascii_digit()));
    rest.is_some_and(|rest| rest.starts_with("__throw_"))
}

/// The functions through which Rust reaches the program's allocator. The compiler generates them at link time, without
/// instrumentation: `_RNvCs5QKde7ScR4H_7___rustc12___rust_alloc`. They only call instrumented code.
fn is_allocator_shim(name: &str) -> bool {
    let rest = name.strip_prefix("_RNvC").and_then(|rest| Some(rest.split_once("_7___rustc")?.1));
    let function = rest.map(|rest| rest.trim_start_matches(|letter: char| letter.is_ascii_digit()));
    function.and_then(|name| name.strip_prefix('_')).is_some_and(|name| table::ALLOCATOR_SHIM.contains(&name))
}

/// Parses `name:touched:file:mode`, for example `fgets:0:2`: positions of arguments; a `+` after one means all from there on.
fn entry(effect: Effect, text: &str) -> Function {
    let mut parts = text.split(':').skip(1);
    let mut function = Function::with(effect);
    let mut last = 0;
    for byte in parts.next().unwrap_or("").bytes() {
        match byte {
            b'0'..=b'9' => {
                last = byte - b'0';
                function.touches.bits |= 1 << last;
            }
            _ => function.touches.from = Some(last),
        }
    }
    let mut position = || parts.next().and_then(|text| text.parse().ok()).unwrap_or(0);
    function.file = position();
    function.mode = position();
    function
}

/// Returns the function that a name of the C library's headers maps to, if it takes the same arguments.
fn plain(name: &str) -> Option<&str> {
    let standard = name.strip_prefix("__isoc99_").or_else(|| name.strip_prefix("__isoc23_"));
    if standard.is_some() {
        return standard;
    }
    // Checked versions have further arguments after those of the plain ones; those that differ have an entry.
    let checked = name.strip_prefix("__").and_then(|name| name.strip_suffix("_chk"));
    if checked.is_some() {
        return checked;
    }
    // Large files.
    name.strip_suffix("64")
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    fn names() -> impl Iterator<Item = (Effect, &'static str)> {
        let name = |entry: &'static str| entry.split(':').next().unwrap_or(entry);
        table::ALL
            .iter()
            .flat_map(move |&(effect, names)| names.split_ascii_whitespace().map(move |entry| (effect, name(entry))))
    }

    #[test]
    fn each_function_has_one_entry() {
        let mut seen = BTreeSet::new();
        let twice: Vec<&str> = names().map(|(_, name)| name).filter(|name| !seen.insert(*name)).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    #[test]
    fn unreviewed_functions_are_unknown() {
        for name in [
            "frobnicate",
            "",
            "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc",
            "strtok2",
            "_ZSt4cout",
        ] {
            assert_eq!(of(name).effect, Effect::Unknown, "{name}");
        }
        // Nodes of lists and trees are changed inside the shared library: nothing is hidden only where the calls are announced.
        for name in ["_ZNSt8__detail15_List_node_base7_M_hookEPS0_", "_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base"]
        {
            assert!(is_modelled(name) && of(name).touches.contains(0), "{name}");
        }
    }

    #[test]
    fn rust_allocator_shims_hide_nothing() {
        assert_eq!(of("_RNvCs5QKde7ScR4H_7___rustc12___rust_alloc").effect, Effect::None);
        assert_eq!(of("_RNvCsfsCkXRxaIdu_7___rustc35___rust_no_alloc_shim_is_unstable_v2").effect, Effect::None);
        for other in ["_RNvCs5QKde7ScR4H_7___rustc17rust_begin_unwind", "__rust_alloc", "_RNvCs1_5alloc12___rust_alloc"]
        {
            assert_eq!(of(other).effect, Effect::Unknown, "{other}");
        }
    }

    #[test]
    fn state_inside_of_libraries_is_hidden() {
        for name in [
            "strtok",
            "rand",
            "srand",
            "random",
            "drand48",
            "setenv",
            "getenv",
            "putenv",
            "localtime",
            "gmtime",
            "asctime",
            "ctime",
            "strerror",
            "setlocale",
            "getpwnam",
            "gethostbyname",
            "tmpnam",
            "__xpg_basename",
            "dirname",
            "ttyname",
            "getopt",
            "lgamma",
            "mblen",
        ] {
            assert_eq!(of(name).effect, Effect::HiddenState, "{name}");
        }
    }

    #[test]
    fn memory_accessed_unseen_is_identified_by_its_argument() {
        for (name, argument) in [
            ("sscanf", 2),
            ("fgets", 0),
            ("fread", 0),
            ("getline", 0),
            ("pread", 1),
            ("times", 0),
            ("stat", 1),
            ("stat64", 1),
            ("clock_getres", 1),
            ("localtime_r", 1),
            ("getcwd", 0),
            ("uname", 0),
            ("mbstowcs", 0),
            ("sigprocmask", 2),
            ("realpath", 1),
            ("stpcpy", 0),
            ("pthread_attr_init", 0),
            ("socketpair", 3),
            ("__isoc99_sscanf", 5),
            ("__isoc23_strtol", 1),
            ("__stpcpy_chk", 0),
            ("qsort", 0),
            ("getsockopt", 3),
            ("epoll_wait", 1),
            ("sem_getvalue", 1),
        ] {
            let function = of(name);
            assert!(function.touches.contains(argument), "{name}");
            assert_ne!(function.effect, Effect::Unknown, "{name}");
        }
        assert!(of("abs").touches.is_empty() && of("pthread_mutex_lock").touches.is_empty());
        assert!(!of("fgets").touches.contains(2));
    }

    #[test]
    fn sources_of_randomness_count_without_other_threads() {
        for name in ["getrandom", "arc4random", "getpid", "sched_getcpu", "shmat"] {
            assert!(of(name).effect.counts_alone(), "{name}");
        }
        assert!(!of("strtok").effect.counts_alone());
    }

    #[test]
    fn entries_give_the_position_of_the_file_argument() {
        let place = |name| (of(name).effect, of(name).file, of(name).mode);
        assert_eq!(place("open"), (Effect::FileOpen, 0, 1));
        assert_eq!(place("openat64"), (Effect::FileOpen, 1, 2));
        assert_eq!(place("fopen64"), (Effect::FileOpenMode, 0, 1));
        assert_eq!(place("lseek64"), (Effect::FilePosition, 0, 0));
        assert_eq!(place("fgets"), (Effect::FilePosition, 2, 0));
        assert_eq!(place("fwrite"), (Effect::FileChange, 3, 0));
        assert_eq!(place("access"), (Effect::FileLook, 0, 0));
        assert_eq!(place("rename"), (Effect::FileBoth, 0, 1));
        assert_eq!(place("symlink"), (Effect::FileBoth, 1, 0));
        assert_eq!(place("fflush"), (Effect::FileChange, 0, 0));
        assert_eq!(of("readdir").effect, Effect::ProcessState);
        assert_eq!(place("mkdir"), (Effect::FileBoth, 0, 0));
    }

    #[test]
    fn harmless_functions_are_harmless() {
        for name in [
            "abs",
            "sqrt",
            "sqrtf",
            "powl",
            "malloc",
            "free",
            "_Znwm",
            "pthread_mutex_lock",
            "__cxa_throw",
            "_ZSt17__throw_bad_allocv",
            "_ZSt20__throw_length_errorPKc",
            "__errno_location",
            "exit",
            "__tsan_acquire",
        ] {
            let function = of(name);
            assert_eq!((function.effect, function.touches.is_empty()), (Effect::None, true), "{name}");
        }
    }

    #[test]
    fn effects_have_numbers() {
        for byte in 0..=u8::MAX {
            assert!(Effect::from_byte(byte).is_none_or(|effect| effect as u8 == byte));
        }
        for (effect, _) in table::ALL {
            assert_eq!(Effect::from_byte(effect as u8), Some(effect));
        }
    }
}
