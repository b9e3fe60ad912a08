//! From the user's command line to clang's.

use std::ffi::{OsStr, OsString};

use crate::invocation::{Invocation, Output, Stage};
use crate::{CompileError, Toolkit, response};

/// Returns the arguments for clang: RaceHunter's, then the user's, then the runtime.
///
/// # Errors
///
/// When the command asks for something that RaceHunter cannot do, or names a response file that cannot be read.
pub fn command_line(arguments: Vec<OsString>, toolkit: &Toolkit) -> Result<Vec<OsString>, CompileError> {
    let expanded = response::expand(&arguments)?;
    let invocation = Invocation::parse(&expanded)?;
    let links = invocation.stage == Stage::Link;
    let mut line = Line::default();
    if invocation.stage != Stage::Query && invocation.has_code {
        line.compile(&invocation, toolkit);
    }
    // With `-fsanitize=thread` clang would link ThreadSanitizer's runtime.
    let hides_sanitizer = links && !keeps_sanitizer(&invocation) && invocation.thread_sanitizer_on;
    let mut ours = Line::default();
    if links {
        ours.link(&invocation, toolkit);
    }
    // Libraries belong at the end, but clang treats what follows `--` as files.
    let comes_last = !expanded.iter().any(|argument| argument == "--");
    if !comes_last {
        line.0.append(&mut ours.0);
    }
    match hides_sanitizer {
        true => line.0.extend(expanded.into_iter().filter_map(|argument| without_thread(&argument))),
        false => line.0.extend(arguments),
    }
    line.0.append(&mut ours.0);
    Ok(line.0)
}

/// Returns true if the driver itself may get `-fsanitize=thread`. If the driver also links, it must not, unless nothing
/// else needs the sanitizers' runtime, so that it can be turned off as a whole.
fn keeps_sanitizer(invocation: &Invocation) -> bool {
    invocation.stage != Stage::Link || (invocation.has_code && !invocation.other_sanitizer)
}

#[derive(Default)]
struct Line(Vec<OsString>);

impl Line {
    fn add<const N: usize>(&mut self, arguments: [&str; N]) {
        self.0.extend(arguments.map(OsString::from));
    }

    fn add_path(&mut self, prefix: &str, path: impl AsRef<OsStr>) {
        let mut argument = OsString::from(prefix);
        argument.push(path);
        self.0.push(argument);
    }

    /// Adds a path for the linker. Not through `-Wl,`, which would split it at commas.
    fn add_linker_path(&mut self, prefix: &str, path: impl AsRef<OsStr>) {
        self.add(["-Xlinker"]);
        self.add_path(prefix, path);
    }

    fn compile(&mut self, invocation: &Invocation, toolkit: &Toolkit) {
        if !invocation.thread_sanitizer_off {
            match keeps_sanitizer(invocation) {
                true => self.add(["-fsanitize=thread"]),
                false => self.add(["-Xclang", "-fsanitize=thread"]),
            }
        }
        if invocation.stage != Stage::Front {
            self.add_path("-fpass-plugin=", &toolkit.plugin);
            self.add(["-g", "-fno-omit-frame-pointer"]);
            if invocation.is_unoptimised {
                // Without this every function is `optnone`, and its locals stay in memory.
                self.add(["-Xclang", "-disable-O0-optnone"]);
                // The optimiser marks the ends of blocks anyway; using a local's memory after that is a bug.
                self.add(["-Xclang", "-fsanitize-address-use-after-scope"]);
            }
        }
        if let Some(include) = &toolkit.include {
            self.add(["-isystem"]);
            self.0.push(include.clone().into());
        }
    }

    fn link(&mut self, invocation: &Invocation, toolkit: &Toolkit) {
        if keeps_sanitizer(invocation) {
            self.add(["-fno-sanitize-link-runtime"]);
        }
        match invocation.output {
            Output::Executable => {
                self.add_linker_path("--dynamic-list=", &toolkit.dynamic_list);
                self.add(["-Wl,--whole-archive"]);
                self.add_linker_path("", &toolkit.runtime);
                self.add(["-Wl,--no-whole-archive", "-lpthread", "-ldl"]);
                if invocation.other_sanitizer {
                    // The other sanitizer's runtime comes first, and has functions of these names too.
                    self.add(["-Wl,--defsym=signal=bsd_signal", "-Wl,--defsym=sigaction=__sigaction"]);
                }
            }
            // The hooks are in the executable.
            Output::Shared if invocation.forbids_undefined => self.add(["-Wl,-z,undefs"]),
            Output::Shared | Output::Relocatable => {}
        }
    }
}

/// Returns the argument without ThreadSanitizer, if anything is left of it.
fn without_thread(argument: &OsStr) -> Option<OsString> {
    let Some(list) = argument.to_str().and_then(|text| text.strip_prefix("-fsanitize=")) else {
        return Some(argument.to_owned());
    };
    let others: Vec<_> = list.split(',').filter(|name| *name != "thread").collect();
    (!others.is_empty()).then(|| format!("-fsanitize={}", others.join(",")).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Compiler;

    fn toolkit() -> Toolkit {
        Toolkit {
            compiler: Compiler { c: "clang-22".into(), cxx: "clang++-22".into(), version: 22 },
            plugin: "plugin.so".into(),
            runtime: "rt.a".into(),
            dynamic_list: "list".into(),
            include: Some("include".into()),
        }
    }

    fn line(arguments: &str) -> String {
        let arguments = arguments.split_whitespace().map(OsString::from).collect();
        let line = command_line(arguments, &toolkit()).unwrap();
        line.iter().map(|argument| argument.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    const COMPILE: &str = "-fsanitize=thread -fpass-plugin=plugin.so -g -fno-omit-frame-pointer";
    const UNOPTIMISED: &str = "-Xclang -disable-O0-optnone -Xclang -fsanitize-address-use-after-scope";
    const LINK: &str =
        "-Xlinker --dynamic-list=list -Wl,--whole-archive -Xlinker rt.a -Wl,--no-whole-archive -lpthread -ldl";

    #[test]
    fn compiles_with_the_plugin() {
        assert_eq!(line("-O2 -c a.c"), format!("{COMPILE} -isystem include -O2 -c a.c"));
        let unoptimised = format!("{COMPILE} {UNOPTIMISED} -isystem include");
        assert_eq!(line("-c a.c -o a.o"), format!("{unoptimised} -c a.c -o a.o"));
        assert_eq!(line("-S a.c"), format!("{unoptimised} -S a.c"));
    }

    #[test]
    fn looks_the_same_to_the_preprocessor_without_the_plugin() {
        for command in ["-E a.c", "-M a.c", "-MM a.c", "-fsyntax-only a.c", "-E -x c -"] {
            assert_eq!(line(command), format!("-fsanitize=thread -isystem include {command}"));
        }
    }

    #[test]
    fn leaves_questions_alone() {
        for command in ["--version", "-v", "-print-search-dirs", "-dumpmachine", "-print-file-name=libc.so a.c", ""] {
            assert_eq!(line(command), command);
        }
    }

    #[test]
    fn links_the_runtime_into_executables_only() {
        assert_eq!(line("a.o -o a"), format!("a.o -o a {LINK}"));
        assert_eq!(line("-shared a.o -o a.so"), "-shared a.o -o a.so");
        assert_eq!(line("-r a.o b.o -o c.o"), "-r a.o b.o -o c.o");
    }

    #[test]
    fn lets_libraries_use_the_hooks_of_the_executable() {
        assert_eq!(line("-shared a.o -Wl,-z,defs"), "-shared a.o -Wl,-z,defs -Wl,-z,undefs");
    }

    #[test]
    fn compiles_and_links_at_once_without_the_sanitizers_runtime() {
        assert_eq!(
            line("-O1 a.c b.c"),
            format!("{COMPILE} -isystem include -O1 a.c b.c -fno-sanitize-link-runtime {LINK}")
        );
        let shared = line("-O1 -shared a.c");
        assert_eq!(shared, format!("{COMPILE} -isystem include -O1 -shared a.c -fno-sanitize-link-runtime"));
    }

    #[test]
    fn never_links_with_thread_sanitizer() {
        assert_eq!(line("-fsanitize=thread a.o"), format!("a.o {LINK}"));
        let names = "-Wl,--defsym=signal=bsd_signal -Wl,--defsym=sigaction=__sigaction";
        assert_eq!(line("-fsanitize=undefined,thread a.o"), format!("-fsanitize=undefined a.o {LINK} {names}"));
        let both = line("-O1 -fsanitize=undefined,thread a.c");
        assert!(both.starts_with("-Xclang -fsanitize=thread -fpass-plugin"), "{both}");
        assert!(both.contains(" -fsanitize=undefined a.c") && !both.contains("-fno-sanitize-link-runtime"), "{both}");
    }

    #[test]
    fn lets_the_user_turn_it_off() {
        let off = line("-O1 -c a.c -fno-sanitize=thread");
        assert!(!off.contains(" -fsanitize=thread") && !off.starts_with("-fsanitize=thread"), "{off}");
        assert!(off.contains("-fpass-plugin=plugin.so"), "{off}");
    }

    #[test]
    fn keeps_libraries_out_of_the_files_after_a_double_dash() {
        assert_eq!(line("-o a -- a.o"), format!("{LINK} -o a -- a.o"));
    }

    #[test]
    fn keeps_response_files_as_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("arguments");
        std::fs::write(&file, "-O2 -c a.c").unwrap();
        let argument = format!("@{}", file.display());
        assert_eq!(line(&argument), format!("{COMPILE} -isystem include {argument}"));
    }

    #[test]
    fn rewrites_response_files_that_ask_for_thread_sanitizer_at_link() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("arguments");
        std::fs::write(&file, "-fsanitize=thread a.o").unwrap();
        assert_eq!(line(&format!("@{}", file.display())), format!("a.o {LINK}"));
    }
}
