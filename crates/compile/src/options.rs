//! Facts about clang's options: which take a value, and what file names mean.

/// Options whose value is the next argument. Their value is never an input file.
const SEPARATE: &[&str] = &[
    "-o",
    "-x",
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-F",
    "-B",
    "-T",
    "-u",
    "-z",
    "-e",
    "-b",
    "-A",
    "-G",
    "-V",
    "-include",
    "-imacros",
    "-include-pch",
    "-isystem",
    "-isystem-after",
    "-iquote",
    "-idirafter",
    "-isysroot",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-iwithsysroot",
    "-iframework",
    "-cxx-isystem",
    "-c-isystem",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-Xclang",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xanalyzer",
    "-mllvm",
    "-target",
    "-arch",
    "-framework",
    "-aux-info",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-rpath",
    "-soname",
    "-wrapper",
    "--param",
    "--sysroot",
    "--prefix",
    "--output",
    "--include",
    "--include-directory",
    "--define-macro",
    "--undefine-macro",
    "--language",
    "--library-directory",
    "--serialize-diagnostics",
    "-serialize-diagnostics",
    "-ccc-install-dir",
    "-working-directory",
    "-install_name",
    "-current_version",
    "-compatibility_version",
    "-init",
    "-exported_symbols_list",
];

/// Returns true if the argument after this one is its value.
pub fn takes_value(argument: &str) -> bool {
    SEPARATE.contains(&argument)
}

/// Returns true if the option asks the compiler about itself; it then compiles nothing, whatever the other arguments
/// are.
pub fn is_query(argument: &str) -> bool {
    matches!(
        argument,
        "--version" | "--help" | "--help-hidden" | "-help" | "-dumpversion" | "-dumpmachine" | "-dumpspecs"
    ) || argument.starts_with("-print-")
        || argument.starts_with("--print-")
        || argument.starts_with("--autocomplete=")
}

/// What clang does with an input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Source or LLVM code: goes through the optimiser, and so through the plugin.
    Code,
    /// Assembler: becomes an object without going through the plugin.
    Assembler,
    /// For the linker.
    Object,
}

/// Returns the type of a file, by the language that `-x` gave or by its name.
pub fn input(file: &str, language: Option<&str>) -> Input {
    match language {
        Some("none") | None => by_name(file),
        Some("assembler" | "assembler-with-cpp") => Input::Assembler,
        Some(_) => Input::Code,
    }
}

fn by_name(file: &str) -> Input {
    // Standard input has no name; clang demands `-x` for it, except with `-E`.
    if file == "-" {
        return Input::Code;
    }
    let name = file.rsplit('/').next().unwrap_or(file);
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some(
            "c" | "i" | "ii" | "cc" | "cp" | "cpp" | "cxx" | "c++" | "C" | "CC" | "CPP" | "CXX" | "C++" | "m" | "mi"
            | "mm" | "mii" | "M" | "h" | "hh" | "H" | "hp" | "hxx" | "hpp" | "HPP" | "h++" | "tcc" | "ll" | "bc"
            | "cppm" | "ccm" | "cxxm" | "c++m" | "ixx" | "pcm" | "ast",
        ) => Input::Code,
        Some("s" | "S" | "sx" | "asm") => Input::Assembler,
        _ => Input::Object,
    }
}

/// Returns true for sanitizers that check values rather than memory, and so do not conflict with RaceHunter.
pub fn is_compatible_sanitizer(name: &str) -> bool {
    const INCOMPATIBLE: &[&str] = &[
        "address",
        "kernel-address",
        "hwaddress",
        "kernel-hwaddress",
        "memory",
        "kernel-memory",
        "leak",
        "dataflow",
        "type",
        "realtime",
        "numerical",
        "memtag",
        "safe-stack",
        "shadow-call-stack",
        "memtag-heap",
        "memtag-stack",
        "memtag-globals",
        "all",
    ];
    !INCOMPATIBLE.contains(&name)
}
