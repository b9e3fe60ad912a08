//! Library functions that are described by code: those that call functions of the program, start threads or wait for
//! them.
//!
//! The roles of their arguments alone cannot describe them. The code is only for the analysis: it is compiled like the
//! program, but never linked to it.

use super::build::Built;
use crate::{Error, files, target};
use racehunter_compile::{Language, Toolkit};
use racehunter_ir::{Linkage, Module, SymbolKind, read_program};
use std::collections::BTreeSet;
use std::ffi::OsString;

/// Sources, each with the functions that it can define: the word that selects them, and their linker names, or what these
/// begin with (`*`). Later sources may define what an earlier one needs.
const SOURCES: [Source; 6] = [
    Source {
        file: "threads.cpp",
        text: include_str!("library/threads.cpp"),
        language: Language::Cxx,
        standard: "-std=c++17",
        functions: &[
            ("start", &["_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"]),
            ("join", &["_ZNSt6thread4joinEv"]),
            ("detach", &["_ZNSt6thread6detachEv"]),
            (
                "condition",
                &[
                    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE",
                    "_ZNSt18condition_variable10notify_oneEv",
                    "_ZNSt18condition_variable10notify_allEv",
                    "_ZNSt18condition_variableC1Ev",
                    "_ZNSt18condition_variableD1Ev",
                ],
            ),
        ],
    },
    Source {
        file: "containers.cpp",
        text: include_str!("library/containers.cpp"),
        language: Language::Cxx,
        standard: "-std=c++17",
        functions: &[(
            "tree",
            &[
                "_ZSt18_Rb_tree_increment*",
                "_ZSt18_Rb_tree_decrement*",
                "_ZSt29_Rb_tree_insert_and_rebalance*",
                "_ZSt28_Rb_tree_rebalance_for_erase*",
            ],
        )],
    },
    Source {
        file: "errors.cpp",
        text: include_str!("library/errors.cpp"),
        language: Language::Cxx,
        standard: "-std=c++17",
        functions: &[(
            "errors",
            &[
                "_ZNSt9exceptionD*",
                "_ZNSt11logic_error*",
                "_ZNSt12domain_error*",
                "_ZNSt16invalid_argument*",
                "_ZNSt12length_error*",
                "_ZNSt12out_of_range*",
                "_ZNSt13runtime_error*",
                "_ZNSt11range_error*",
                "_ZNSt14overflow_error*",
                "_ZNSt15underflow_error*",
            ],
        )],
    },
    Source {
        file: "callbacks.c",
        text: include_str!("library/callbacks.c"),
        language: Language::C,
        standard: "-std=gnu11",
        functions: &[
            ("qsort", &["qsort"]),
            ("qsort_r", &["qsort_r"]),
            ("bsearch", &["bsearch"]),
            ("lfind", &["lfind"]),
            ("lsearch", &["lsearch"]),
            (TERMINATE, &["__clang_call_terminate"]),
        ],
    },
    Source {
        file: "language.c",
        text: include_str!("library/language.c"),
        language: Language::C,
        standard: "-std=gnu11",
        functions: &[
            ("guard", &["__cxa_guard_acquire", "__cxa_guard_release", "__cxa_guard_abort"]),
            ("once", &["__once_proxy"]),
        ],
    },
    Source {
        file: "library.c",
        text: include_str!("library/library.c"),
        language: Language::C,
        standard: "-std=gnu11",
        functions: &[
            ("strtok", &["strtok"]),
            ("strtok_r", &["strtok_r"]),
            ("strsep", &["strsep"]),
            ("time", &["localtime", "gmtime", "asctime", "ctime"]),
            ("hosts", &["gethostbyname", "gethostbyaddr"]),
            ("addresses", &["getaddrinfo", "freeaddrinfo"]),
            ("users", &["getpwnam", "getpwuid", "getgrnam", "getgrgid"]),
            ("getopt", &["getopt", "getopt_long", "getopt_long_only"]),
        ],
    },
];

/// Defined in each C++ module, but described anyway.
const TERMINATE: &str = "terminate";

struct Source {
    file: &'static str,
    text: &'static str,
    language: Language,
    standard: &'static str,
    functions: &'static [(&'static str, &'static [&'static str])],
}

/// Adds the code of the described functions that the program calls but does not define. Returns true if there are any
/// besides harmless ones.
pub fn add(built: &mut Built) -> Result<bool, Error> {
    let mut counts = false;
    for source in SOURCES {
        let words = wanted(built, &source);
        counts |= words.iter().any(|word| *word != TERMINATE);
        // Headers of another library have other names; the functions then stay unknown.
        if !words.is_empty()
            && let Some(modules) = compile(built, &source, &words)?
        {
            built.modules.extend(modules);
        }
    }
    Ok(counts)
}

/// Returns the words for the functions of a source that the program calls but does not define.
fn wanted(built: &Built, source: &Source) -> Vec<&'static str> {
    let (mut here, mut named) = (BTreeSet::new(), BTreeSet::new());
    for symbol in built.modules.iter().flat_map(|module| &module.symbols) {
        match symbol.kind {
            SymbolKind::Function { defined: false, .. } => named.insert(symbol.name.as_str()),
            _ => here.insert(symbol.name.as_str()),
        };
    }
    let has =
        |all: &BTreeSet<&str>, names: &[&str]| all.iter().any(|name| names.iter().any(|pattern| is_one(name, pattern)));
    let is_wanted = |word: &str, names: &[&str]| match word {
        TERMINATE => has(&here, names),
        _ => has(&named, names) && !has(&here, names),
    };
    let wanted = source.functions.iter().filter(|(word, names)| is_wanted(word, names));
    wanted.map(|(word, _)| *word).collect()
}

/// Returns true if a name is this one, or begins with it if it ends with a star.
fn is_one(name: &str, pattern: &str) -> bool {
    pattern.strip_suffix('*').map_or(name == pattern, |begin| name.starts_with(begin))
}

fn compile(built: &Built, source: &Source, words: &[&str]) -> Result<Option<Vec<Module>>, Error> {
    let toolkit = Toolkit::discover()?;
    let path = built.directory.join(source.file);
    files::write(&path, source.text.as_bytes())?;
    let object = built.directory.join(format!("{}-{}.o", source.file, words.join("-")));
    let options = ["-O0", "-g", "-w", "-pthread", source.standard, "-c"].map(OsString::from);
    let mut line: Vec<OsString> =
        options.into_iter().chain(words.iter().map(|word| format!("-DWANT_{word}").into())).collect();
    line.push(path.into());
    if !target::compile(source.language, line, &object, &toolkit, &[])? {
        return Ok(None);
    }
    let mut modules = read_program(&object)?;
    let names: Vec<&str> = source.functions.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let is_described = |name: &str| names.iter().any(|pattern| is_one(name, pattern));
    for module in &mut modules {
        for symbol in module.symbols.iter_mut().filter(|symbol| is_described(&symbol.name)) {
            // It replaces the program's own definition.
            symbol.linkage = Linkage::External;
        }
        // Executions do not know its instructions.
        for instruction in module.functions.iter_mut().flat_map(|function| &mut function.instructions) {
            instruction.site = None;
        }
    }
    if modules.is_empty() {
        return Err(Error::Scan("the descriptions of library functions have no code".to_owned()));
    }
    Ok(Some(modules))
}
