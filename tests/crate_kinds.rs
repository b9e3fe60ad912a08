//! `cargo racehunter` on crates of every kind: with C and C++ code, with custom harnesses, and those that cannot be hunted.

use crate::crates::{Crate, command, sysroots};
use racehunter_e2e::tool;
use serde_json::Value;

const MANIFEST: &str = "[package]\nname = \"program\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";

/// A build script without dependencies: it uses the compilers that the `cc` crate would use.
const BUILD: &str = r#"
fn main() {
    let out = std::env::var("OUT_DIR").unwrap();
    let target = std::env::var("TARGET").unwrap().replace('-', "_");
    let compiler = |variable: &str, usual: &str| {
        let chosen = std::env::var(format!("{variable}_{target}")).or_else(|_| std::env::var(variable));
        chosen.unwrap_or_else(|_| usual.to_owned())
    };
    let run = |program: String, words: &[&str]| {
        assert!(std::process::Command::new(program).args(words).current_dir(&out).status().unwrap().success());
    };
    let here = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    run(compiler("CC", "cc"), &["-g", "-c", &format!("{here}/counter.c"), "-o", "counter.o"]);
    run(compiler("CXX", "c++"), &["-g", "-c", &format!("{here}/threads.cpp"), "-o", "threads.o"]);
    run("ar".to_owned(), &["crs", "libmixed.a", "counter.o", "threads.o"]);
    println!("cargo:rustc-link-search={out}\ncargo:rustc-link-lib=static=mixed\ncargo:rustc-link-lib=stdc++");
}
"#;

fn mixed() -> Crate {
    let program = Crate::new(include_str!("programs/rust/mixed/lib.rs"));
    program.workshop.write("counter.c", include_str!("programs/rust/mixed/counter.c"));
    program.workshop.write("threads.cpp", include_str!("programs/rust/mixed/threads.cpp"));
    program.workshop.write("build.rs", BUILD);
    program
}

#[test]
fn a_crate_with_c_and_cpp_code_is_hunted_as_a_whole() {
    let program = mixed();
    let tested = program.test(&["--runs", "60"], 1);
    let race = |test: &str| {
        assert_eq!(tested.verdict(test), "found", "{test}");
        let finding = tested.line("finding", test);
        assert_eq!(finding["kind"], "data-race", "{finding}");
        let site = &finding["sites"][0];
        (site["file"].as_str().expect("text").to_owned(), site["line"].as_u64().expect("a number"))
    };
    assert_eq!(race("c_without_a_lock"), ("counter.c".to_owned(), 8));
    assert_eq!(race("called_back_without_a_lock"), ("src/lib.rs".to_owned(), 40));
    for test in ["c_with_a_lock", "called_back_with_a_lock"] {
        assert!(["clean", "proved"].contains(&tested.verdict(test)), "{test} is {}", tested.verdict(test));
        let uncontrolled = &tested.line("summary", test)["uncontrolled"];
        assert_eq!(uncontrolled, &Value::Array(Vec::new()), "{test}");
    }
}

/// A compiler chosen by the user is used as is, and its code is not seen.
#[test]
fn a_compiler_chosen_by_the_user_is_kept() {
    let program = mixed();
    let mut chosen = command();
    chosen.args(["test", "--message-format", "json", "--quiet", "--runs", "20", "c_with_a_lock"]);
    chosen.env("RACEHUNTER_SYSROOTS", sysroots()).env("CC", "gcc").env("CXX", "g++");
    let ended = program.workshop.run(&mut chosen).expect(0);
    let summary = ended.stdout.lines().find(|line| line.contains(r#""reason":"summary""#)).expect("a summary");
    assert!(summary.contains("counter_add_locked"), "{summary}");
}

/// Both forms in which a C program can use a Rust library.
#[test]
fn a_c_program_with_a_rust_library_is_hunted_as_a_whole() {
    let program = Crate::new(include_str!("programs/rust/mixed/library.rs"));
    program.workshop.write("Cargo.toml", &format!("{MANIFEST}\n[lib]\ncrate-type = [\"staticlib\", \"cdylib\"]\n"));
    program.workshop.write("main.c", include_str!("programs/rust/mixed/main.c"));
    let built = program.run(&["build", "--quiet"]).expect(0).stdout;
    let libraries: Vec<&str> = built.lines().collect();
    assert_eq!(libraries.len(), 2, "{built}");
    for library in libraries {
        let hunt = |options: &[&str], status: i32| {
            let linked = [&["-g", "main.c", library, "-o", "main", "-lpthread", "-ldl", "-lm"], options].concat();
            program.workshop.cc(linked).expect(0);
            program.workshop.hunt(&program.workshop.path("main"), &["--runs", "60"]).expect(status)
        };
        let found = hunt(&[], 1);
        for finding in &found.findings {
            let mut places = finding.sites.iter().map(|site| (site.file.rsplit('/').next(), site.line));
            let is_there = places.all(|place| matches!(place, (Some("lib.rs"), 11 | 12)));
            assert!(finding.kind == "data-race" && is_there, "{library}: {:?}", found.overview());
        }
        assert!(hunt(&["-DFIXED"], 0).findings.is_empty(), "{library}");
    }
}

/// Returns the message of the panic in which a test reports what it has seen.
fn message(program: &Crate, seed: &str) -> String {
    let out = format!("out-{seed}");
    let tested = program.test(&["--runs", "12", "--seed", seed, "--out", &out, "says_what_it_has"], 1);
    let finding = tested.line("finding", "says_what_it_has");
    assert_eq!(finding["replayed"], serde_json::json!([5, 5]));
    finding["message"].as_str().expect("text").to_owned()
}

/// Keys of hash maps, thread ids, addresses, clocks: they are the same in every execution, in this hunt and in the next.
#[test]
fn random_values_are_the_same_in_every_execution() {
    let program = Crate::new(include_str!("programs/rust/determined.rs"));
    let said = message(&program, "1");
    assert!(said.contains("ThreadId(") && said.contains("SystemTime {"), "{said}");
    assert_eq!(said, message(&program, "2"));
}

/// Reports use the thread names of the program.
#[test]
fn the_names_of_threads_are_in_the_report() {
    let source = "#[test]\nfn races() {\n    static mut SHARED: u32 = 0;\n    let named = std::thread::Builder::new().name(\"the writer\".to_owned());\n    \
                  let thread = named.spawn(|| unsafe { SHARED = 1 }).unwrap();\n    assert!(unsafe { SHARED } < 2);\n    thread.join().unwrap();\n}\n";
    let program = Crate::new(source);
    let ended = program.run(&["test", "--quiet", "--runs", "20"]).expect(1);
    assert!(ended.stdout.contains("thread T1 `the writer`"), "{}", ended.stdout);
    assert!(ended.stdout.contains("T1 the writer"), "{}", ended.stdout);
}

#[test]
fn a_custom_harness_is_hunted_as_a_whole() {
    let program = Crate::new("");
    program.workshop.write("Cargo.toml", &format!("{MANIFEST}\n[[test]]\nname = \"own\"\nharness = false\n"));
    let main = "use std::sync::atomic::{AtomicU32, Ordering};\n\
                static COUNT: AtomicU32 = AtomicU32::new(0);\n\
                fn main() {\n\
                    let add = || COUNT.store(COUNT.load(Ordering::SeqCst) + 1, Ordering::SeqCst);\n\
                    let thread = std::thread::spawn(add);\n\
                    add();\n\
                    thread.join().unwrap();\n\
                    assert_eq!(COUNT.load(Ordering::SeqCst), 2);\n\
                }\n";
    program.workshop.write("tests/own.rs", main);
    let ended = program.run(&["test", "--quiet", "--runs", "60", "--test", "own"]).expect(1);
    assert!(ended.stdout.contains("FOUND program::own ("), "{}", ended.stdout);
    assert!(ended.stdout.contains("error[assertion]: panic: assertion `left == right` failed"), "{}", ended.stdout);
}

#[test]
fn a_procedural_macro_is_left_out_with_a_message() {
    let program = Crate::new("#[test]\nfn nothing() {}\n");
    program.workshop.write("Cargo.toml", &format!("{MANIFEST}\n[lib]\nproc-macro = true\n"));
    program
        .run(&["test"])
        .expect(4)
        .says("Left out the tests of program: procedural macros run inside of the compiler");
}

/// Cargo builds tests to unwind, whatever the profile says; programs abort, and the message is in the report.
#[test]
fn a_panic_that_aborts_is_a_finding() {
    let program = Crate::new("#[test]\nfn unwinds() {\n    std::thread::spawn(|| panic!()).join().unwrap_err();\n}\n");
    program.workshop.write("Cargo.toml", &format!("{MANIFEST}\n[profile.dev]\npanic = \"abort\"\n"));
    program
        .workshop
        .write("src/main.rs", "fn main() {\n    let _ = std::thread::spawn(|| panic!(\"in a thread\")).join();\n}\n");
    let tested = program.test(&["--runs", "20", "--lib"], 0);
    assert!(["clean", "proved"].contains(&tested.verdict("unwinds")));
    let ended = program.run(&["run", "--quiet", "--runs", "20", "--message-format", "json"]).expect(1);
    assert!(ended.stdout.contains("in a thread"), "{}", ended.stdout);
}

/// The harness reports nothing about such a test, and what comes after the exit is not checked.
#[test]
fn a_test_that_ends_the_program_with_success_is_not_proved() {
    let program = Crate::new(
        "#[test]\nfn leaves() {\n    let thread = std::thread::spawn(|| ());\n    \
         if thread.is_finished() {\n        std::process::exit(0);\n    }\n    thread.join().unwrap();\n}\n",
    );
    let ended = program.run(&["test", "--quiet", "--runs", "300"]);
    assert!(!ended.stdout.contains("proved"), "{}", ended.stdout);
    assert!(ended.stdout.contains("exit(0) before the end of the test"), "{}", ended.stdout);
}

#[test]
fn a_test_that_needs_a_terminal_fails_as_without_racehunter() {
    let program =
        Crate::new("#[test]\nfn asks() {\n    std::fs::File::open(\"/dev/tty\").expect(\"a terminal\");\n}\n");
    // Not a child of this process: other tests here run programs, and end children that leave their group.
    let mut detached = std::process::Command::new("sh");
    detached.args(["-c", "setsid --wait \"$@\"; exit $?", "sh"]);
    detached.arg(tool::path().with_file_name("cargo-racehunter")).args(["racehunter", "test", "--quiet"]);
    detached.env("RACEHUNTER_SYSROOTS", sysroots());
    let ended = program.workshop.run(&mut detached).expect(1);
    assert!(
        ended.stdout.contains("FAILED program asks (in its only schedule: it makes no thread)"),
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.contains("a terminal: Os { code: 6"), "{}", ended.stdout);
}

/// A `no_std` crate has no standard library that could be controlled; its tests have one, if the crate allows it.
#[test]
fn a_crate_without_a_standard_library_is_tested_with_one() {
    let source = "#![cfg_attr(not(test), no_std)]\n#[test]\nfn nothing() {}\n";
    let program = Crate::new(source);
    program.run(&["test", "--quiet"]).expect(4);
    let program =
        Crate::new("#![no_std]\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! {\n    loop {}\n}\n");
    program.run(&["test", "--quiet"]).expect(2).says("the crate does not compile");
}

/// A tool needed to instrument the standard library is missing.
#[test]
fn missing_binutils_are_named_with_what_to_install() {
    let program = Crate::new("#[test]\nfn nothing() {}\n");
    let mut without = command();
    let toolchain = std::process::Command::new("rustc").args(["--print", "sysroot"]).output().expect("rustc runs");
    let bin = std::path::Path::new(String::from_utf8_lossy(&toolchain.stdout).trim()).join("bin");
    without.args(["test", "--quiet"]).env("PATH", bin).env("RACEHUNTER_SYSROOTS", program.workshop.path("sysroots"));
    let ended = program.workshop.run(&mut without).expect(2).says("`ar` is not installed");
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
}

/// clang of the toolchain's LLVM compiles the standard library; here there is a plugin for a version that no machine has.
#[test]
fn without_clang_it_says_what_to_install() {
    let program = Crate::new("#[test]\nfn nothing() {}\n");
    let rustc = "#!/bin/sh\ncase \"$1\" in -vV) printf 'release: 1.99.0\\nhost: x86_64-unknown-linux-gnu\\nLLVM version: 99.1.0\\n';; \
                 *) echo /;; esac\n";
    let path = program.workshop.write("rustc", rustc);
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("permissions can be set");
    for file in ["libracehunter_plugin_99.so", "libracehunter_rt.a", "racehunter.dynlist"] {
        program.workshop.write(&format!("kit/{file}"), "");
    }
    let mut without = command();
    without.args(["test", "--quiet"]).env("RUSTC", path).env("RACEHUNTER_LIB", program.workshop.path("kit"));
    let ended = program.workshop.run(&mut without).expect(2);
    let ended = ended.says("rustc 1.99.0 uses LLVM 99, and clang-99 is not installed");
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
}

/// What is linked statically, or is not instrumented, cannot be controlled.
#[test]
fn flags_that_cannot_work_are_refused_with_the_reason() {
    let program = Crate::new("#[test]\nfn nothing() {}\n");
    for (flags, why) in [
        ("-C target-feature=+crt-static", "a statically linked C library cannot be controlled"),
        ("-C prefer-dynamic", "the shared standard library is not instrumented"),
    ] {
        let mut refused = command();
        refused.args(["test"]).env("RUSTFLAGS", flags).env("RACEHUNTER_SYSROOTS", sysroots());
        program.workshop.run(&mut refused).expect(2).says(why);
    }
}

/// `cargo xtask test --all` runs these: tokio takes long to compile.
mod slow {
    use super::{Crate, message};

    /// What tokio draws for `select!`, its clock, and its ports. The output is compared between executions.
    #[test]
    fn tokio_is_the_same_in_every_execution() {
        let program = Crate::new(include_str!("programs/rust/tokio.rs"));
        program.workshop.write(
            "Cargo.toml",
            "[package]\nname = \"program\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies.tokio]\nversion = \"1\"\n\
             features = [\"io-util\", \"macros\", \"net\", \"rt-multi-thread\", \"sync\", \"time\"]\n",
        );
        let said = message(&program, "1");
        assert!(said.contains("ms hello at 127.0.0.1:"), "{said}");
        assert_eq!(said, message(&program, "2"));
        let tested = program.test(&["--runs", "100", "--check-output", "draws_the_same"], 0);
        assert!(tested.line("test", "draws_the_same")["threads"].as_u64() > Some(1));
    }
}
