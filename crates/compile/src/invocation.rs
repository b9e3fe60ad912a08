//! A parsed command line.

use std::ffi::OsString;

use crate::CompileError;
use crate::options::{self, Input};

/// The stage at which clang stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Only answers a question about itself, or has nothing to do.
    Query,
    /// Preprocesses, lists dependencies, or checks the syntax.
    Front,
    /// Compiles, and leaves objects, assembler or LLVM code.
    Compile,
    /// Links.
    Link,
}

/// What a link produces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// An executable.
    Executable,
    /// A shared library.
    Shared,
    /// An object made of others (`-r`).
    Relocatable,
}

/// What the wrapper needs to know about a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// Its last stage.
    pub stage: Stage,
    /// Its output, if it links.
    pub output: Output,
    /// True if an input goes through the optimiser.
    pub has_code: bool,
    /// True if there is any input.
    pub has_inputs: bool,
    /// True if the code is not optimised.
    pub is_unoptimised: bool,
    /// True if the user turned ThreadSanitizer off for this command.
    pub thread_sanitizer_off: bool,
    /// True if the user asked for ThreadSanitizer.
    pub thread_sanitizer_on: bool,
    /// True if another sanitizer is on.
    pub other_sanitizer: bool,
    /// True if the linker was asked to refuse undefined symbols.
    pub forbids_undefined: bool,
}

impl Invocation {
    /// Parses the arguments of a command, in which response files are already expanded.
    ///
    /// # Errors
    ///
    /// When the command asks for something that RaceHunter cannot do.
    pub fn parse(arguments: &[OsString]) -> Result<Self, CompileError> {
        let mut parser = Parser::default();
        let texts: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
        let mut index = 0;
        while index < texts.len() {
            let argument = &*texts[index];
            let value = texts.get(index + 1).map(|value| &**value);
            index += 1;
            if options::takes_value(argument) {
                parser.pair(argument, value.unwrap_or_default());
                index += 1;
            } else {
                parser.single(argument)?;
            }
        }
        parser.finish()
    }
}

#[derive(Default)]
struct Parser {
    stage: Option<Stage>,
    shared: bool,
    relocatable: bool,
    static_flag: Option<String>,
    other_target: Option<String>,
    language: Option<String>,
    code: bool,
    inputs: bool,
    libraries: bool,
    optimised: bool,
    thread: Option<bool>,
    other_sanitizers: Vec<String>,
    /// Words for the linker, in order, however they were passed.
    linker: Vec<String>,
    only_files: bool,
}

impl Parser {
    /// Handles an option with its value.
    fn pair(&mut self, option: &str, value: &str) {
        match option {
            "-x" | "--language" => self.language = Some(value.to_owned()),
            "-Xlinker" => self.linker.push(value.to_owned()),
            "-z" => self.linker.extend(["-z".to_owned(), value.to_owned()]),
            "-l" => self.libraries = true,
            "-target" => self.target(value),
            _ => {}
        }
    }

    /// Handles a single argument.
    fn single(&mut self, argument: &str) -> Result<(), CompileError> {
        if self.only_files || argument == "-" || !argument.starts_with('-') {
            self.file(argument);
            return Ok(());
        }
        match argument {
            "--" => self.only_files = true,
            _ if options::is_query(argument) => self.reach(Stage::Query),
            "-E"
            | "-M"
            | "-MM"
            | "-fsyntax-only"
            | "--preprocess"
            | "--dependencies"
            | "--user-dependencies"
            | "--analyze" => self.reach(Stage::Front),
            "-c" | "-S" | "--compile" | "--assemble" | "--precompile" | "-emit-ast" | "-emit-pch" => {
                self.reach(Stage::Compile);
            }
            "-shared" | "--shared" => self.shared = true,
            "-r" | "-Wl,-r" | "-Wl,--relocatable" => self.relocatable = true,
            "-static" | "--static" | "-static-pie" => self.static_flag = Some(argument.to_owned()),
            "-m32" | "-mx32" | "-m16" => self.other_target = Some(argument.to_owned()),
            _ => self.prefixed(argument)?,
        }
        Ok(())
    }

    /// Handles options that contain their value.
    fn prefixed(&mut self, argument: &str) -> Result<(), CompileError> {
        if let Some(level) = argument.strip_prefix("-O") {
            self.optimised = level != "0";
        } else if let Some(list) = argument.strip_prefix("-fsanitize=") {
            for name in list.split(',') {
                self.enable(name)?;
            }
        } else if argument.starts_with("-fsanitize-coverage=") {
            return Err(CompileError::Coverage { flag: argument.to_owned() });
        } else if let Some(list) = argument.strip_prefix("-fno-sanitize=") {
            for name in list.split(',') {
                self.disable(name);
            }
        } else if let Some(words) = argument.strip_prefix("-Wl,") {
            self.linker.extend(words.split(',').map(str::to_owned));
        } else if let Some(language) = argument.strip_prefix("-x").or_else(|| argument.strip_prefix("--language=")) {
            self.language = Some(language.to_owned());
        } else if argument.starts_with("-l") {
            self.libraries = true;
        } else if let Some(keyword) = argument.strip_prefix("-z") {
            self.linker.extend(["-z".to_owned(), keyword.to_owned()]);
        } else if let Some(target) = argument.strip_prefix("--target=") {
            self.target(target);
        }
        Ok(())
    }

    fn target(&mut self, target: &str) {
        self.other_target = (!target.starts_with("x86_64")).then(|| format!("--target={target}"));
    }

    fn enable(&mut self, name: &str) -> Result<(), CompileError> {
        if name == "thread" {
            self.thread = Some(true);
        } else if options::is_compatible_sanitizer(name) {
            self.other_sanitizers.push(name.to_owned());
        } else {
            return Err(CompileError::Sanitizer { name: name.to_owned() });
        }
        Ok(())
    }

    fn disable(&mut self, name: &str) {
        if name == "thread" || name == "all" {
            self.thread = Some(false);
        }
        self.other_sanitizers.retain(|other| name != "all" && other != name);
    }

    fn file(&mut self, file: &str) {
        self.inputs = true;
        self.code |= options::input(file, self.language.as_deref()) == Input::Code;
    }

    /// Lowers the last stage; the option that stops earliest wins, as in clang.
    fn reach(&mut self, stage: Stage) {
        let order = |stage: Stage| match stage {
            Stage::Query => 0,
            Stage::Front => 1,
            Stage::Compile => 2,
            Stage::Link => 3,
        };
        self.stage = Some(self.stage.map_or(stage, |known| if order(stage) < order(known) { stage } else { known }));
    }

    fn finish(self) -> Result<Invocation, CompileError> {
        let has_inputs = self.inputs || self.libraries;
        // A header as the only input makes a precompiled header; it is compiled, and no link follows.
        let stage = match self.stage {
            Some(stage) if has_inputs || stage == Stage::Query => stage,
            None if has_inputs => Stage::Link,
            _ => Stage::Query,
        };
        let output = match (self.shared, self.relocatable) {
            (true, _) => Output::Shared,
            (false, true) => Output::Relocatable,
            (false, false) => Output::Executable,
        };
        if let (Stage::Front | Stage::Compile | Stage::Link, Some(flag)) = (stage, self.other_target) {
            return Err(CompileError::Target { flag });
        }
        if let (Stage::Link, Output::Executable, Some(flag)) = (stage, output, &self.static_flag) {
            return Err(CompileError::StaticLink { flag: flag.clone() });
        }
        Ok(Invocation {
            stage,
            output,
            has_code: self.code,
            has_inputs,
            is_unoptimised: !self.optimised,
            thread_sanitizer_off: self.thread == Some(false),
            thread_sanitizer_on: self.thread == Some(true),
            other_sanitizer: !self.other_sanitizers.is_empty(),
            forbids_undefined: forbids_undefined(&self.linker),
        })
    }
}

/// Returns true if these words make the linker refuse a shared library with undefined symbols.
fn forbids_undefined(linker: &[String]) -> bool {
    let mut forbidden = false;
    for (index, word) in linker.iter().enumerate() {
        let keyword = match (word.as_str(), linker.get(index + 1)) {
            ("-z", Some(keyword)) => keyword,
            (joined, _) => joined.strip_prefix("-z").unwrap_or(joined),
        };
        match keyword {
            "defs" | "--no-undefined" | "-no-undefined" => forbidden = true,
            "undefs" => forbidden = false,
            _ => {}
        }
    }
    forbidden
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Invocation {
        try_parse(line).unwrap()
    }

    fn try_parse(line: &str) -> Result<Invocation, CompileError> {
        Invocation::parse(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn knows_the_stage() {
        for (line, stage) in [
            ("-c a.c", Stage::Compile),
            ("-S a.c -o a.s", Stage::Compile),
            ("-E a.c", Stage::Front),
            ("-M a.c", Stage::Front),
            ("-MM -c a.c", Stage::Front),
            ("-MD -MF a.d -c a.c", Stage::Compile),
            ("-fsyntax-only a.c", Stage::Front),
            ("a.c", Stage::Link),
            ("a.o -o a", Stage::Link),
            ("-o a -lfoo", Stage::Link),
            ("-E -x c -", Stage::Front),
            ("--version", Stage::Query),
            ("-v", Stage::Query),
            ("-print-file-name=libc.so a.c", Stage::Query),
            ("-dumpmachine", Stage::Query),
            ("", Stage::Query),
            ("-v a.c", Stage::Link),
        ] {
            assert_eq!(parse(line).stage, stage, "{line}");
        }
    }

    #[test]
    fn values_of_options_are_no_inputs() {
        for line in ["-I dir.c", "-o out.c", "-MF a.c -MT b.c", "-include x.c", "-Xclang -load -Xclang a.c", "-D X"] {
            let invocation = parse(line);
            assert!(!invocation.has_inputs && !invocation.has_code, "{line}");
            assert_eq!(invocation.stage, Stage::Query, "{line}");
        }
    }

    #[test]
    fn tells_code_from_objects() {
        for (line, has_code) in [
            ("a.c", true),
            ("dir.d/a.cpp b.o", true),
            ("a.o b.a c.so d.so.1", false),
            ("a.s b.S", false),
            ("-x c a.weird", true),
            ("-xc++ -", true),
            ("-x c a.txt -x none b.o", true),
            ("-x none b.o", false),
            ("-x assembler a.c", false),
            ("-- -strange.c", true),
            ("a.bc", true),
        ] {
            assert_eq!(parse(line).has_code, has_code, "{line}");
        }
    }

    #[test]
    fn knows_the_optimisation() {
        for (line, unoptimised) in
            [("a.c", true), ("-O2 a.c", false), ("-O2 -O0 a.c", true), ("-O0 -Og a.c", false), ("-O a.c", false)]
        {
            assert_eq!(parse(line).is_unoptimised, unoptimised, "{line}");
        }
    }

    #[test]
    fn knows_what_is_linked() {
        assert_eq!(parse("a.o").output, Output::Executable);
        assert_eq!(parse("-shared a.o").output, Output::Shared);
        assert_eq!(parse("-r a.o b.o").output, Output::Relocatable);
    }

    #[test]
    fn refuses_static_programs_but_not_static_libraries() {
        for line in ["-static a.o", "-static-pie a.c", "a.o -o a --static"] {
            assert!(matches!(try_parse(line), Err(CompileError::StaticLink { .. })), "{line}");
        }
        for line in ["-static -c a.c", "-static-libgcc a.o", "-static-libstdc++ a.o", "-Wl,-Bstatic -lfoo a.o"] {
            assert!(try_parse(line).is_ok(), "{line}");
        }
    }

    #[test]
    fn refuses_sanitizers_of_memory() {
        for line in ["-fsanitize=address a.c", "-c -fsanitize=undefined,memory a.c", "-fsanitize=leak a.o"] {
            assert!(matches!(try_parse(line), Err(CompileError::Sanitizer { .. })), "{line}");
        }
        assert!(parse("-fsanitize=undefined a.c").other_sanitizer);
        assert!(!parse("-fsanitize=undefined -fno-sanitize=all a.c").other_sanitizer);
        assert!(!parse("-fsanitize=thread a.c").other_sanitizer);
        assert!(parse("-fno-sanitize=thread a.c").thread_sanitizer_off);
        assert!(!parse("-fno-sanitize=thread -fsanitize=thread a.c").thread_sanitizer_off);
    }

    #[test]
    fn refuses_other_processors() {
        assert!(matches!(try_parse("-m32 -c a.c"), Err(CompileError::Target { .. })));
        assert!(matches!(try_parse("--target=aarch64-linux-gnu -c a.c"), Err(CompileError::Target { .. })));
        assert!(matches!(try_parse("-target i386-linux-gnu -c a.c"), Err(CompileError::Target { .. })));
        assert!(try_parse("-m64 --target=x86_64-linux-gnu -c a.c").is_ok());
        assert!(try_parse("-m32 --version").is_ok());
    }

    #[test]
    fn sees_every_form_of_no_undefined() {
        for line in [
            "-shared a.o -Wl,-z,defs",
            "-shared a.o -Wl,-zdefs",
            "-shared a.o -Wl,-z -Wl,defs",
            "-shared a.o -Wl,--as-needed,--no-undefined",
            "-shared a.o -Xlinker -z -Xlinker defs",
            "-shared a.o -z defs",
            "-shared a.o -zdefs",
        ] {
            assert!(parse(line).forbids_undefined, "{line}");
        }
        for line in ["-shared a.o", "-shared a.o -Wl,-z,now", "-shared a.o -Wl,-z,defs,-z,undefs"] {
            assert!(!parse(line).forbids_undefined, "{line}");
        }
    }
}
