//! Instrumented programs still behave as before, and the hooks agree with the exported code.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{LEVELS, VERSION, compiler, instrumenting, is_installed, sample, succeed};
use racehunter_ir::{Module, ModuleId, Operation, Order, read_program};

struct Event {
    hook: String,
    module: ModuleId,
    site: u32,
    values: [u64; 2],
    depth: u64,
}

struct Run {
    modules: HashMap<ModuleId, Module>,
    events: Vec<Event>,
    /// Events that were counted but not announced.
    counted: usize,
    end: String,
}

/// Builds `run.cc` with the stub as its runtime.
fn build(directory: &Path, flags: &[&str]) -> PathBuf {
    build_sample("run.cc", directory, flags)
}

fn build_sample(name: &str, directory: &Path, flags: &[&str]) -> PathBuf {
    let (stub, program) = (directory.join("stub.o"), directory.join("program"));
    let (stub_source, source) = (sample("stub.c"), sample(name));
    succeed(compiler(&stub_source).args(["-c", "-O1", "-w"]).arg(&stub_source).arg("-o").arg(&stub));
    succeed(
        instrumenting(&source)
            .args(flags)
            .arg("-fno-sanitize-link-runtime")
            .arg(&source)
            .arg(&stub)
            .arg("-o")
            .arg(&program),
    );
    program
}

fn run(directory: &Path, program: &Path, traced: bool) -> Run {
    run_with(directory, program, if traced { &[("STUB_TRACE", "1")] } else { &[] })
}

fn run_with(directory: &Path, program: &Path, wishes: &[(&str, &str)]) -> Run {
    let log = directory.join("log");
    let mut command = Command::new(program);
    command.env("STUB_LOG", &log);
    command.envs(wishes.iter().copied());
    succeed(&mut command);
    let modules = read_program(program).unwrap().into_iter().map(|module| (module.id, module)).collect();
    let text = std::fs::read_to_string(&log).unwrap();
    let mut result = Run { modules, events: Vec::new(), counted: 0, end: String::new() };
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let hex = |word: &str| u64::from_str_radix(word, 16).unwrap();
        match words[..] {
            ["module", id, sites] => {
                let module = result.modules.get(&ModuleId(hex(id))).expect("the module is in the program");
                assert_eq!(module.site_count.to_string(), sites);
            }
            ["end", depth, counted] => {
                (result.end, result.counted) = (depth.to_owned(), counted.parse().unwrap());
            }
            [hook, id, site, a, b, depth] => result.events.push(Event {
                hook: hook.to_owned(),
                module: ModuleId(hex(id)),
                site: site.parse().unwrap(),
                values: [hex(a), hex(b)],
                depth: depth.parse().unwrap(),
            }),
            _ => panic!("{line}"),
        }
    }
    result
}

/// Returns true if a hook belongs before such an instruction.
fn fits(event: &Event, operation: Option<&Operation>) -> bool {
    let Some(operation) = operation else { return event.hook == "enter" };
    match (event.hook.as_str(), operation) {
        ("vptr_read", Operation::Load { bytes: 8, order: None, .. })
        | ("vptr_update", Operation::Store { bytes: 8, order: None, .. })
        | ("branch", Operation::Branch | Operation::Switch)
        | ("leave", Operation::Return | Operation::Resume)
        | ("call" | "lib_string", Operation::Call | Operation::Invoke { .. })
        | ("fence", Operation::Fence(_)) => true,
        ("read_range", Operation::Load { bytes, .. }) | ("write_range", Operation::Store { bytes, .. }) => {
            event.values[1] == *bytes
        }
        ("read_range" | "write_range", Operation::Call | Operation::Invoke { .. }) => true,
        ("atomic_load", Operation::Load { bytes, order: Some(_), .. })
        | ("atomic_store", Operation::Store { bytes, order: Some(_), .. })
        | ("atomic_rmw", Operation::Update { bytes, .. }) => event.values[1] & 0xff == *bytes,
        ("cmpxchg", Operation::CompareExchange { success: Order::SequentiallyConsistent, bytes, .. }) => {
            event.values[0] & 0xff == *bytes
        }
        (hook, Operation::Load { bytes, order: None, .. }) => hook == format!("read{bytes}"),
        (hook, Operation::Store { bytes, order: None, .. }) => hook == format!("write{bytes}"),
        _ => false,
    }
}

fn check(run: &Run, what: &str) {
    assert_eq!(run.end, "0", "{what}: no frame is left when `main` has returned");
    assert!(run.events.len() > 30, "{what}: {} events", run.events.len());
    for event in &run.events {
        let module = &run.modules[&event.module];
        let site = module.site(event.site).unwrap_or_else(|| panic!("{what}: no site {}", event.site));
        let operation = site.instruction.map(|(_, instruction)| &instruction.operation);
        assert!(fits(event, operation), "{what}: {} before {operation:?}", event.hook);
    }
}

#[test]
fn programs_run_and_their_events_are_found_in_the_code() {
    for level in LEVELS {
        let directory = tempfile::tempdir().unwrap();
        let program = build(directory.path(), &[level]);
        let plain = run(directory.path(), &program, false);
        check(&plain, level);
        let trace = ["branch", "enter", "leave", "call"];
        assert!(!plain.events.iter().any(|event| trace.contains(&event.hook.as_str())), "{level}");
        let traced = run(directory.path(), &program, true);
        check(&traced, level);
        for hook in trace {
            assert!(traced.events.iter().any(|event| event.hook == hook), "{level}: {hook}");
        }
        // Tracing only adds.
        let accesses = |run: &Run| {
            let kept = run.events.iter().filter(|event| !trace.contains(&event.hook.as_str()));
            kept.map(|event| (event.site, event.depth)).collect::<Vec<_>>()
        };
        assert_eq!(accesses(&plain), accesses(&traced), "{level}");
    }
}

#[test]
fn what_is_skipped_is_counted() {
    for level in LEVELS {
        let directory = tempfile::tempdir().unwrap();
        let program = build(directory.path(), &[level]);
        let (whole, clear) =
            (run(directory.path(), &program, false), run_with(directory.path(), &program, &[("STUB_CLEAR", "1")]));
        assert_eq!(clear.end, "0", "{level}");
        assert!(clear.events.len() < whole.events.len() / 2, "{level}: {} events", clear.events.len());
        assert_eq!(clear.events.len() + clear.counted, whole.events.len() + whole.counted, "{level}");
    }
}

/// Loops in three versions: control moves from one to another in the middle of an iteration.
#[test]
fn loops_announce_what_is_near_and_count_the_rest() {
    for level in LEVELS {
        let directory = tempfile::tempdir().unwrap();
        let program = build_sample("loops.c", directory.path(), &[level, "-fno-pie", "-no-pie"]);
        let whole = run(directory.path(), &program, false);
        let all = whole.events.len() + whole.counted;
        let clear = run_with(directory.path(), &program, &[("STUB_CLEAR", "1")]);
        assert_eq!(clear.events.len() + clear.counted, all, "{level}");
        assert!(clear.events.len() < whole.events.len() / 10, "{level}: {} events", clear.events.len());
        let start = whole.events.iter().find(|event| event.hook == "write4").unwrap().values[0];
        for element in [0, 1, 17, 40, 63] {
            let watching = run_with(directory.path(), &program, &[("STUB_WATCH", &element.to_string())]);
            assert_eq!(watching.events.len() + watching.counted, all, "{level}, element {element}");
            assert!(watching.events.len() < whole.events.len() / 2, "{level}: {} events", watching.events.len());
            let near = |run: &Run| {
                let near = run.events.iter().filter(|event| event.values[0] == start + element * 4);
                near.map(|event| (event.site, event.hook.clone())).collect::<Vec<_>>()
            };
            assert!(!near(&whole).is_empty(), "{level}, element {element}");
            assert_eq!(near(&watching), near(&whole), "{level}, element {element}");
        }
        for budget in [1, 5, 100, 1000] {
            let short =
                run_with(directory.path(), &program, &[("STUB_CLEAR", "1"), ("STUB_BUDGET", &budget.to_string())]);
            assert_eq!(short.events.len() + short.counted, all, "{level}, budget {budget}");
        }
    }
}

#[test]
fn locations_lead_to_the_source() {
    let directory = tempfile::tempdir().unwrap();
    let program = build(directory.path(), &["-O2"]);
    let run = run(directory.path(), &program, false);
    let source = std::fs::read_to_string(sample("run.cc")).unwrap();
    let mut found = 0;
    for event in run.events.iter().filter(|event| event.hook == "write4") {
        let module = &run.modules[&event.module];
        let site = module.site(event.site).unwrap();
        let Some(location) = site.location.and_then(|location| module.locations(location).next()) else { continue };
        if module.file(location.file).ends_with("samples/run.cc")
            && module.location_function(location).contains("thrower")
        {
            let line = source.lines().nth(location.line as usize - 1).unwrap();
            assert!(line.contains("counter++"), "{line}");
            found += 1;
        }
    }
    assert!(found > 0);
}

#[test]
fn names_and_initialisers_are_exported() {
    let directory = tempfile::tempdir().unwrap();
    let program = build(directory.path(), &["-O1"]);
    let modules = read_program(&program).unwrap();
    let module = &modules[0];
    let symbol = |name: &str| module.symbols.iter().find(|symbol| symbol.name == name).unwrap();
    let racehunter_ir::SymbolKind::Variable { bytes: 4, declaration: Some(declaration), .. } = &symbol("counter").kind
    else {
        panic!("{:?}", symbol("counter"))
    };
    let declaration = module.declaration(*declaration).unwrap();
    assert_eq!((declaration.name.as_str(), declaration.type_name.as_str()), ("counter", "int"));
    // The virtual table of `Derived` points to its functions.
    let racehunter_ir::SymbolKind::Variable { pointers, constant: true, .. } = &symbol("_ZTV7Derived").kind else {
        panic!("{:?}", symbol("_ZTV7Derived"))
    };
    let targets: Vec<&str> =
        pointers.iter().map(|pointer| module.symbol(pointer.symbol).unwrap().name.as_str()).collect();
    assert!(targets.contains(&"_ZN7Derived5valueEv"), "{targets:?}");
    let thrower = module.functions.iter().find(|function| module.function_name(function) == "_Z7throweri").unwrap();
    let names: Vec<&str> = thrower
        .variables
        .iter()
        .map(|variable| module.declaration(variable.declaration).unwrap().name.as_str())
        .collect();
    assert!(names.contains(&"n"), "{names:?}");
}

#[test]
fn link_time_optimisation_keeps_hooks_and_code() {
    let linker = format!("ld.lld-{VERSION}");
    if !is_installed(&linker) {
        eprintln!("skipped: {linker} is not installed");
        return;
    }
    for flavour in ["-flto", "-flto=thin"] {
        let directory = tempfile::tempdir().unwrap();
        let program = build(directory.path(), &["-O2", flavour, "-fuse-ld=lld"]);
        let optimised = run(directory.path(), &program, false);
        check(&optimised, flavour);
        let plain_directory = tempfile::tempdir().unwrap();
        let plain = run(plain_directory.path(), &build(plain_directory.path(), &["-O2"]), false);
        let count = |run: &Run, hook: &str| run.events.iter().filter(|event| event.hook == hook).count();
        for hook in ["atomic_rmw", "cmpxchg", "write4"] {
            assert_eq!(count(&optimised, hook), count(&plain, hook), "{flavour}: {hook}");
        }
    }
}

#[test]
fn the_code_survives_stripping_and_unused_sections() {
    let directory = tempfile::tempdir().unwrap();
    let program =
        build(directory.path(), &["-O2", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-s"]);
    check(&run(directory.path(), &program, false), "stripped");
}

#[test]
fn damaged_programs_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let program = build(directory.path(), &["-O1"]);
    let mut bytes = std::fs::read(&program).unwrap();
    let at = bytes.windows(4).position(|window| window == b"RHIR").unwrap();
    bytes[at + 40] ^= 0x55;
    let error = racehunter_ir::read_section(&bytes, &program).unwrap_err().to_string();
    assert!(error.contains("damaged"), "{error}");
    let stub = directory.path().join("stub.o");
    let error = read_program(&stub).unwrap_err().to_string();
    assert!(error.contains(".rh_ir"), "{error}");
}
