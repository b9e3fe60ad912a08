//! Functions outside the program: descriptions are read from configuration, checked, and looked up by name.

mod kinds;
pub mod streams;

pub use kinds::{
    Allocate, Arguments, AtExit, Barrier, CallBack, Create, Does, Join, Keep, Lock, MemoryEffect, NewKey, Release,
    Semaphore, Unlock, Wait,
};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The function that throws an exception of the program. Arguments: the object, its type, and its destructor.
pub const THROW: &str = "__cxa_throw";

/// The built-in descriptions.
const DEFAULT: &str = include_str!("../../models/default.toml");

/// Configurations that come with the tool and are used by name.
const SHIPPED: [(&str, &str); 2] =
    [("linux", include_str!("../../models/linux.toml")), ("tasks", include_str!("../../models/tasks.toml"))];

/// What a function does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Model {
    /// Starts a thread.
    Create(Create),
    /// Joins a thread.
    Join(Join),
    /// Takes a lock.
    Lock(Lock),
    /// Releases a lock.
    Unlock(Unlock),
    /// Releases a lock and takes it again.
    Wait(Wait),
    /// Operates on a semaphore.
    Semaphore(Semaphore),
    /// Operates on a barrier.
    Barrier(Barrier),
    /// Begins an atomic section.
    AtomicBegin,
    /// Ends an atomic section.
    AtomicEnd,
    /// Allocates memory.
    Allocate(Allocate),
    /// Frees memory.
    Release(Release),
    /// Touches the memory of its arguments.
    Access(Box<MemoryEffect>),
    /// Calls its argument.
    Call(CallBack),
    /// Creates a key for thread-specific pointers.
    Key(NewKey),
    /// Stores a thread-specific pointer.
    Keep(Keep),
    /// Returns a thread-specific pointer.
    Recall,
    /// Does not return.
    Stop,
    /// Does not return, but ends the program like the end of `main`.
    Exit,
    /// Registers a function that is called when the program ends.
    AtExit(AtExit),
    /// Does not return, but throws an exception: of the program, or of a library.
    Throw,
    /// Returns the exception that was caught.
    Caught,
    /// Ends the handling of an exception, and destroys it.
    EndOfCatch,
    /// Ends the thread.
    Leave,
    /// Begins to read the variable arguments of its caller.
    Variadic,
    /// Returns any value.
    Input,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Names {
    #[serde(default)]
    names: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Atomic {
    #[serde(default)]
    begin: Vec<String>,
    #[serde(default)]
    end: Vec<String>,
    #[serde(default)]
    prefix: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    prefix: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct File {
    create: BTreeMap<String, Create>,
    join: BTreeMap<String, Join>,
    lock: BTreeMap<String, Lock>,
    unlock: BTreeMap<String, Unlock>,
    wait: BTreeMap<String, Wait>,
    semaphore: BTreeMap<String, Semaphore>,
    barrier: BTreeMap<String, Barrier>,
    allocate: BTreeMap<String, Allocate>,
    release: BTreeMap<String, Release>,
    access: BTreeMap<String, MemoryEffect>,
    call: BTreeMap<String, CallBack>,
    key: BTreeMap<String, NewKey>,
    keep: BTreeMap<String, Keep>,
    recall: Names,
    at_exit: BTreeMap<String, AtExit>,
    stop: Names,
    exit: Names,
    throw: Names,
    leave: Names,
    atomic: Atomic,
    input: Input,
}

/// Why a configuration was refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ModelError {
    /// It does not have the expected form.
    #[error("{0}")]
    Form(String),
    /// One function is described twice.
    #[error("`{name}` is described twice: in [{first}] and in [{second}]")]
    Twice {
        /// The function.
        name: String,
        /// The first section.
        first: &'static str,
        /// The second section.
        second: &'static str,
    },
    /// An unknown word.
    #[error("`{name}`: \"{word}\" is not a list of arguments; the only word is \"all\"")]
    Word {
        /// The function.
        name: String,
        /// The word.
        word: String,
    },
}

/// Models of functions outside the program.
#[derive(Clone, Debug)]
pub struct Models {
    functions: FxHashMap<String, Model>,
    atomic_prefixes: Vec<String>,
    input_prefixes: Vec<String>,
}

impl Default for Models {
    fn default() -> Self {
        let mut models =
            Self { functions: FxHashMap::default(), atomic_prefixes: Vec::new(), input_prefixes: Vec::new() };
        models.extend(DEFAULT).expect("the configuration that comes with the program is in order");
        models
    }
}

impl Models {
    /// Returns the built-in configuration of this name.
    pub fn shipped(name: &str) -> Option<&'static str> {
        SHIPPED.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// Adds the functions of a configuration; a description replaces an earlier one of the same function.
    ///
    /// # Errors
    ///
    /// If the text is not a configuration, or contradicts itself.
    pub fn extend(&mut self, text: &str) -> Result<(), ModelError> {
        let file: File = toml::from_str(text).map_err(|error| ModelError::Form(error.to_string()))?;
        let mut added: BTreeMap<String, (&'static str, Model)> = BTreeMap::new();
        let mut add = |name: String, section: &'static str, model: Model| match added.get(&name) {
            Some(&(first, _)) => Err(ModelError::Twice { name, first, second: section }),
            None => {
                added.insert(name, (section, model));
                Ok(())
            }
        };
        for (name, model) in file.create {
            add(name, "create", Model::Create(model))?;
        }
        for (name, model) in file.join {
            add(name, "join", Model::Join(model))?;
        }
        for (name, model) in file.lock {
            add(name, "lock", Model::Lock(model))?;
        }
        for (name, model) in file.unlock {
            add(name, "unlock", Model::Unlock(model))?;
        }
        for (name, model) in file.wait {
            add(name, "wait", Model::Wait(model))?;
        }
        for (name, model) in file.semaphore {
            add(name, "semaphore", Model::Semaphore(model))?;
        }
        for (name, model) in file.barrier {
            add(name, "barrier", Model::Barrier(model))?;
        }
        for (name, model) in file.allocate {
            add(name, "allocate", Model::Allocate(model))?;
        }
        for (name, model) in file.release {
            add(name, "release", Model::Release(model))?;
        }
        for (name, model) in file.access {
            for arguments in [&model.reads, &model.writes] {
                if let Arguments::Word(word) = arguments
                    && word != "all"
                {
                    return Err(ModelError::Word { name, word: word.clone() });
                }
            }
            add(name, "access", Model::Access(Box::new(model)))?;
        }
        for (name, model) in file.call {
            add(name, "call", Model::Call(model))?;
        }
        for (name, model) in file.key {
            add(name, "key", Model::Key(model))?;
        }
        for (name, model) in file.keep {
            add(name, "keep", Model::Keep(model))?;
        }
        for name in file.recall.names {
            add(name, "recall", Model::Recall)?;
        }
        for name in file.stop.names {
            add(name, "stop", Model::Stop)?;
        }
        for name in file.exit.names {
            add(name, "exit", Model::Exit)?;
        }
        for (name, model) in file.at_exit {
            add(name, "at_exit", Model::AtExit(model))?;
        }
        for name in file.throw.names {
            add(name, "throw", Model::Throw)?;
        }
        for name in file.leave.names {
            add(name, "leave", Model::Leave)?;
        }
        for name in file.atomic.begin {
            add(name, "atomic", Model::AtomicBegin)?;
        }
        for name in file.atomic.end {
            add(name, "atomic", Model::AtomicEnd)?;
        }
        self.functions.extend(added.into_iter().map(|(name, (_, model))| (name, model)));
        self.atomic_prefixes.extend(file.atomic.prefix);
        self.input_prefixes.extend(file.input.prefix);
        Ok(())
    }

    /// Returns the model of a function outside the program, if there is one.
    pub fn of(&self, name: &str) -> Option<Model> {
        if let Some(model) = self.functions.get(name) {
            return Some(model.clone());
        }
        if self.input_prefixes.iter().any(|prefix| name.starts_with(prefix.as_str())) {
            return Some(Model::Input);
        }
        exception(name).or_else(|| streams::of(name)).or_else(|| intrinsic(name))
    }

    /// Returns true if functions of this name are atomic sections.
    pub fn is_atomic(&self, name: &str) -> bool {
        !self.functions.contains_key(name)
            && self.atomic_prefixes.iter().any(|prefix| name.starts_with(prefix.as_str()))
    }
}

/// Models the interface that compilers use for exceptions.
fn exception(name: &str) -> Option<Model> {
    Some(match name {
        THROW => Model::Throw,
        "__cxa_begin_catch" | "__cxa_get_exception_ptr" => Model::Caught,
        "__cxa_end_catch" => Model::EndOfCatch,
        _ => return None,
    })
}

/// Models compiler intrinsics.
fn intrinsic(name: &str) -> Option<Model> {
    let name = name.strip_prefix("llvm.")?;
    let is = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let copy = MemoryEffect {
        writes: Arguments::Some(vec![0]),
        reads: Arguments::Some(vec![1]),
        copies: true,
        length: Some(2),
        ..MemoryEffect::default()
    };
    Some(if is(&["memcpy.", "memmove.", "memcpy.inline."]) {
        Model::Access(Box::new(copy))
    } else if is(&["memset."]) {
        Model::Access(Box::new(MemoryEffect {
            writes: Arguments::Some(vec![0]),
            length: Some(2),
            numbers: true,
            ..MemoryEffect::default()
        }))
    } else if is(&["va_start"]) {
        Model::Variadic
    } else if is(&["va_copy"]) {
        Model::Access(Box::new(MemoryEffect { length: None, ..copy }))
    } else if is(&["trap", "debugtrap", "ubsantrap"]) {
        Model::Stop
    } else if is(&["ptrmask.", "launder.", "strip.", "expect.", "threadlocal.address"]) {
        Model::Access(Box::new(MemoryEffect { returns: Some(0), ..MemoryEffect::default() }))
    } else if is(&[
        "va_end",
        "eh.typeid.for",
        "dbg.",
        "lifetime.",
        "stacksave",
        "stackrestore",
        "assume",
        "abs.",
        "smax.",
        "smin.",
        "umax.",
        "umin.",
        "sadd.",
        "uadd.",
        "ssub.",
        "usub.",
        "smul.",
        "umul.",
        "ctpop.",
        "ctlz.",
        "cttz.",
        "bswap.",
        "bitreverse.",
        "fshl.",
        "fshr.",
        "fabs.",
        "sqrt.",
        "floor.",
        "ceil.",
        "trunc.",
        "rint.",
        "round.",
        "fmuladd.",
        "fma.",
        "copysign.",
        "pow.",
        "powi.",
        "exp.",
        "exp2.",
        "log.",
        "log2.",
        "log10.",
        "sin.",
        "cos.",
        "maxnum.",
        "minnum.",
        "is.constant.",
        "objectsize.",
        "prefetch.",
        "donothing",
        "invariant.",
        "experimental.noalias",
        "frameaddress",
        "returnaddress",
        "is.fpclass",
        "readcyclecounter",
    ]) {
        Model::Access(Box::default())
    } else {
        return None;
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_in_order() {
        let models = Models::default();
        assert!(matches!(models.of("pthread_create"), Some(Model::Create(Create { entry: 2, .. }))));
        assert_eq!(models.of("__VERIFIER_nondet_int"), Some(Model::Input));
        assert_eq!(models.of("__VERIFIER_atomic_begin"), Some(Model::AtomicBegin));
        assert!(!models.is_atomic("__VERIFIER_atomic_inc"));
        let mut tasks = models.clone();
        tasks.extend(Models::shipped("tasks").unwrap()).unwrap();
        assert!(tasks.is_atomic("__VERIFIER_atomic_inc") && !tasks.is_atomic("__VERIFIER_atomic_begin"));
        assert_eq!(models.of("who_knows"), None);
    }

    #[test]
    fn what_is_shipped_is_in_order() {
        let mut models = Models::default();
        for (name, _) in SHIPPED {
            models.extend(Models::shipped(name).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let created = Create { handle: None, entry: 0, argument: 1 };
        assert_eq!(models.of("kthread_run"), Some(Model::Create(created)));
        assert!(matches!(models.of("down_read"), Some(Model::Lock(Lock { shared: true, .. }))));
        assert_eq!(Models::shipped("hurd"), None);
    }

    #[test]
    fn what_the_user_says_replaces_what_is_known() {
        let mut models = Models::default();
        models.extend("[lock]\nmy_lock = { lock = 1 }\npthread_mutex_lock = { lock = 0, tries = true }").unwrap();
        assert_eq!(models.of("my_lock"), Some(Model::Lock(Lock { lock: 1, tries: false, shared: false })));
        assert!(matches!(models.of("pthread_mutex_lock"), Some(Model::Lock(Lock { tries: true, .. }))));
    }

    /// Any file is either valid or an error.
    #[test]
    fn no_file_makes_it_panic() {
        let good = "[lock]\nf = { lock = 1, tries = true }\n[create]\ng = { entry = 2, handle = 0 }\n[access]\n\
                    h = { reads = \"all\", writes = [0] }\n";
        let mut random = 1_u64;
        let mut below = |limit: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % limit
        };
        let mut refused = 0;
        for _ in 0..500 {
            let mut bytes = good.as_bytes().to_vec();
            for _ in 0..1 + below(3) {
                match below(3) {
                    0 => drop(bytes.remove(below(bytes.len()))),
                    1 => bytes.insert(below(bytes.len()), b"[]\"=.{}\n09-x"[below(12)]),
                    _ => bytes.truncate(1 + below(bytes.len())),
                }
            }
            let mut models = Models::default();
            refused += u32::from(models.extend(&String::from_utf8_lossy(&bytes)).is_err());
            let _ = models.of("f");
        }
        assert!((100..500).contains(&refused), "{refused}");
    }

    #[test]
    fn mistakes_are_told() {
        let mut models = Models::default();
        let error = models.extend("[lock]\nf = { lock = 0 }\n[unlock]\nf = { lock = 0 }").unwrap_err();
        assert_eq!(error.to_string(), "`f` is described twice: in [lock] and in [unlock]");
        for (text, part) in [
            ("[lock]\nf = { look = 0 }", "look"),
            ("[locks]\nf = 1", "locks"),
            ("[create]\nf = { handle = 0 }", "entry"),
            ("[access]\nf = { reads = \"some\" }", "some"),
        ] {
            let error = models.extend(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
