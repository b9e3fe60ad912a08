//! The compiler wrapper with a real compiler and the real plugin; the runtime is the stub.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::common::{VERSION, compiler, plugin, sample, succeed};
use racehunter_compile::{Compiler, Language, Toolkit, command_line};

const COUNTER: &str = "int counter; int increment(void) { return ++counter; }\n";
const MAIN: &str = "int increment(void); int main(void) { return increment() == 1 ? 0 : 1; }\n";

/// A directory with an installed toolkit and two source files.
struct Workshop {
    directory: tempfile::TempDir,
    toolkit: Toolkit,
}

impl Workshop {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let stub = sample("stub.c");
        succeed(compiler(&stub).args(["-c", "-O1", "-w", "-fPIC"]).arg(&stub).arg("-o").arg(path("stub.o")));
        succeed(Command::new("ar").arg("rcs").arg(path("libracehunter_rt.a")).arg(path("stub.o")));
        std::fs::write(path("racehunter.dynlist"), "{ __rh_*; RH_BUDGET; __tsan_init; };").unwrap();
        std::fs::create_dir(path("include")).unwrap();
        std::fs::write(path("include/racehunter.h"), "#define FROM_RACEHUNTER 1\n").unwrap();
        std::fs::write(path("counter.c"), COUNTER).unwrap();
        std::fs::write(path("main.c"), MAIN).unwrap();
        let toolkit = Toolkit {
            compiler: Compiler {
                c: format!("clang-{VERSION}").into(),
                cxx: format!("clang++-{VERSION}").into(),
                version: VERSION,
            },
            plugin: plugin().to_owned(),
            runtime: path("libracehunter_rt.a"),
            dynamic_list: path("racehunter.dynlist"),
            include: Some(path("include")),
        };
        Self { directory, toolkit }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn command(&self, language: Language, line: &str) -> Command {
        let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let mut command = Command::new(self.toolkit.program(language));
        command.current_dir(self.directory.path());
        // Response files are relative to the working directory, which is the test's own here.
        let arguments =
            arguments.into_iter().map(|argument| match argument.to_str().and_then(|text| text.strip_prefix('@')) {
                Some(file) => format!("@{}", self.path(file).display()).into(),
                None => argument,
            });
        command.args(command_line(arguments.collect(), &self.toolkit).unwrap());
        command
    }

    fn cc(&self, line: &str) -> Output {
        let output = succeed(&mut self.command(Language::C, line));
        let noise = String::from_utf8_lossy(&output.stderr);
        assert!(noise.is_empty(), "{line}: {noise}");
        output
    }

    /// Runs a program that must succeed; returns the names of the hooks that it called.
    fn run(&self, program: &str) -> Vec<String> {
        let log = self.path("log");
        succeed(Command::new(self.path(program)).env("STUB_LOG", &log).env("LD_LIBRARY_PATH", self.directory.path()));
        let text = std::fs::read_to_string(log).unwrap();
        let hooks = text.lines().filter_map(|line| line.split(' ').next());
        hooks.filter(|hook| *hook != "module" && *hook != "end").map(str::to_owned).collect()
    }
}

#[test]
fn compiles_and_links_in_two_steps() {
    let workshop = Workshop::new();
    workshop.cc("-O2 -Wall -Werror -c main.c");
    workshop.cc("-O2 -Wall -Werror -c counter.c -o counter.o -MMD -MF counter.d");
    assert!(workshop.path("counter.d").exists());
    workshop.cc("main.o counter.o -o program");
    assert_eq!(workshop.run("program"), ["read4", "write4"]);
}

#[test]
fn compiles_and_links_at_once() {
    let workshop = Workshop::new();
    for flags in ["", "-O2", "-O1 -fsanitize=thread", "-O2 -no-pie -fno-pie", "-O2 -Werror"] {
        workshop.cc(&format!("{flags} main.c counter.c -o program"));
        assert_eq!(workshop.run("program"), ["read4", "write4"], "{flags}");
    }
    workshop.cc("-O1 -fsanitize=undefined main.c counter.c -o program");
    let hooks = workshop.run("program");
    assert!(hooks.ends_with(&["read4".to_owned(), "write4".to_owned()]), "{hooks:?}");
}

#[test]
fn takes_objects_of_old_link_flags() {
    let workshop = Workshop::new();
    workshop.cc("-O1 -c main.c counter.c");
    workshop.cc("-fsanitize=thread main.o counter.o -o program");
    assert_eq!(workshop.run("program"), ["read4", "write4"]);
}

#[test]
fn makes_static_libraries_and_relocatable_objects() {
    let workshop = Workshop::new();
    workshop.cc("-O1 -c main.c counter.c");
    succeed(Command::new("ar").current_dir(workshop.directory.path()).args(["rcs", "libcounter.a", "counter.o"]));
    workshop.cc("main.o -L. -lcounter -o program");
    assert_eq!(workshop.run("program"), ["read4", "write4"]);
    workshop.cc("-r main.o counter.o -o both.o");
    workshop.cc("both.o -o program");
    assert_eq!(workshop.run("program"), ["read4", "write4"]);
}

#[test]
fn shared_libraries_use_the_runtime_of_the_program() {
    let workshop = Workshop::new();
    workshop.cc("-O1 -shared -fPIC counter.c -o libcounter.so -Wl,-z,defs");
    workshop.cc("-O1 main.c -L. -lcounter -o program");
    assert_eq!(workshop.run("program"), ["read4", "write4"]);

    let loader = "#include <dlfcn.h>\nint main(void) { void *library = dlopen(\"libcounter.so\", RTLD_NOW);\n\
                  if (!library) return 2;\nint (*increment)(void) = dlsym(library, \"increment\");\n\
                  return increment && increment() == 1 ? 0 : 1; }\n";
    std::fs::write(workshop.path("loader.c"), loader).unwrap();
    workshop.cc("-O1 loader.c -o loader");
    assert_eq!(workshop.run("loader"), ["read4", "write4"]);
}

#[test]
fn is_transparent_to_the_preprocessor() {
    let workshop = Workshop::new();
    let source = "#include <racehunter.h>\n#if __has_feature(thread_sanitizer) && FROM_RACEHUNTER\nyes\n#endif\n";
    std::fs::write(workshop.path("asks.c"), source).unwrap();
    let text = String::from_utf8(workshop.cc("-E -P asks.c").stdout).unwrap();
    assert_eq!(text.trim(), "yes");
    let rules = String::from_utf8(workshop.cc("-MM counter.c").stdout).unwrap();
    assert_eq!(rules.trim(), "counter.o: counter.c");
}

#[test]
fn reads_standard_input_and_response_files() {
    let workshop = Workshop::new();
    let mut child = workshop.command(Language::C, "-O1 -x c - -c -o counter.o").stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(COUNTER.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    std::fs::write(workshop.path("arguments"), "-O1 main.c\ncounter.o -o \"program\"\n").unwrap();
    workshop.cc("@arguments");
    assert_eq!(workshop.run("program"), ["read4", "write4"]);
}

#[test]
fn assembler_passes_through() {
    let workshop = Workshop::new();
    workshop.cc("-O1 -S counter.c -o counter.s");
    let text = std::fs::read_to_string(workshop.path("counter.s")).unwrap();
    assert!(text.contains("__rh_write4"));
    workshop.cc("-c counter.s -o counter.o");
    workshop.cc("-O1 main.c counter.o -o program");
    assert_eq!(workshop.run("program"), ["read4", "write4"]);
}

#[test]
fn answers_as_clang_does() {
    let workshop = Workshop::new();
    for question in ["--version", "-dumpmachine", "-print-search-dirs", "-print-file-name=libc.so"] {
        let ours = succeed(&mut workshop.command(Language::C, question)).stdout;
        let theirs = succeed(Command::new(&workshop.toolkit.compiler.c).arg(question)).stdout;
        assert_eq!(ours, theirs, "{question}");
    }
}

#[test]
fn failures_of_the_compiler_are_passed_on() {
    let workshop = Workshop::new();
    std::fs::write(workshop.path("wrong.c"), "int main(void) { return }\n").unwrap();
    let arguments = vec!["-c".into(), workshop.path("wrong.c").into(), "-o".into(), workshop.path("wrong.o").into()];
    let status = racehunter_compile::run(Language::C, arguments, &workshop.toolkit).unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn compiles_cxx() {
    let workshop = Workshop::new();
    let source = sample("run.cc");
    let line = format!("-O2 -std=c++17 {} -o program", source.display());
    succeed(&mut workshop.command(Language::Cxx, &line));
    assert!(workshop.run("program").len() > 30);
    assert!(Path::new(&workshop.path("program")).exists());
}
