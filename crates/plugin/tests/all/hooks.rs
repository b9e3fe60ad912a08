//! Every kind of operation gets the hooks that the runtime expects.

use crate::common::{Code, LEVELS, code, sample};

fn accesses(flags: &[&str]) -> Code {
    code(&sample("accesses.c"), flags)
}

#[test]
fn accesses_are_announced_at_every_level() {
    for level in LEVELS {
        let code = accesses(&[level]);
        for (function, hooks) in [
            ("increment", &["read4", "write4"][..]),
            ("read_volatile", &["read4"]),
            ("write_sizes", &["write1", "write2", "write8"]),
            ("write_wide", &["write_range"]),
            ("read_extended", &["read_range"]),
            ("clear", &["write_range"]),
            ("move", &["read_range", "write_range"]),
            ("constant", &[]),
            ("thread_own", &["read4", "write4"]),
            ("by_value", &["read_range"]),
            ("fetch_add", &["atomic_rmw"]),
            ("load_acquire", &["atomic_load"]),
            ("store_release", &["atomic_store"]),
            ("exchange", &["cmpxchg"]),
            ("exchange_pointer", &["cmpxchg"]),
            ("fence", &["fence"]),
            ("signal_fence", &[]),
            ("local", &["round"]),
            ("spin", &["read4", "round"]),
            ("poll", &["atomic_load"]),
            ("escaped", &["write4", "read4"]),
            ("length", &["lib_string"]),
            ("compare", &["lib_string"]),
            ("unseen", &["atomic_load"]),
            ("untouched", &[]),
            ("bare", &[]),
            ("nothing", &[]),
            ("resolve", &[]),
            ("assembler", &[]),
        ] {
            assert_eq!(code.hooks(function), hooks, "{function} at {level}");
        }
    }
}

#[test]
fn the_life_of_a_local_is_announced_if_others_may_know_it() {
    for level in LEVELS {
        let code = accesses(&[level]);
        let changes = |function: &str| -> Vec<String> {
            code.all_hooks(function).into_iter().filter(|hook| hook.starts_with("scope_")).collect()
        };
        // Without the optimiser the compiler marks only the end of the function.
        let expected: &[&str] = if level == "-O0" { &["scope_end"] } else { &["scope_begin", "scope_end"] };
        assert_eq!(changes("escaped"), expected, "{level}");
        assert!(changes("local").is_empty(), "{level}");
    }
}

#[test]
fn what_nobody_sees_is_told() {
    for level in LEVELS {
        let code = accesses(&[level]);
        let tells = |function: &str| code.all_hooks(function).iter().any(|hook| hook == "reached");
        assert!(tells("unseen"), "{level}");
        assert!(
            !tells("assembler") && !tells("increment") && !tells("length") && !tells("move") && !tells("fence"),
            "{level}"
        );
    }
}

#[test]
fn copies_read_before_they_write() {
    let code = accesses(&["-O0"]);
    let lines = code.function("copy");
    let position = |text: &str| lines.iter().position(|line| line.contains(text)).unwrap();
    assert!(position("__rh_read_range(ptr @second, i64 64") < position("__rh_write_range(ptr @first, i64 64"));
    assert!(position("__rh_write_range") < position("@llvm.memcpy"));
}

#[test]
fn hooks_come_right_before_their_operation() {
    let code = accesses(&["-O1"]);
    let lines = code.function("increment");
    for pair in [["__rh_read4(ptr @counter", "load i32, ptr @counter"], ["__rh_write4(ptr @counter", "store i32"]] {
        let hook = lines.iter().position(|line| line.contains(pair[0])).unwrap();
        assert!(lines[hook].contains("call preserve_mostcc void"), "{}", lines[hook]);
        assert!(lines[hook + 1].contains(pair[1]), "{}", lines[hook + 1]);
    }
    assert!(
        code.0
            .lines()
            .any(|line| { line.contains("declare") && line.contains("preserve_mostcc void @__rh_read4(ptr, ptr)") })
    );
}

#[test]
fn atomic_hooks_say_size_and_order() {
    let code = accesses(&["-O1"]);
    let info = |function: &str| {
        let lines = code.function(function);
        let line =
            lines.iter().find(|line| line.contains("__rh_") && line.contains("@__rh_sites") && line.contains(", i32 "));
        let (_, rest) = line.unwrap().rsplit_once(", i32 ").unwrap();
        rest.split([')', ',']).next().unwrap().parse::<u32>().unwrap()
    };
    assert_eq!(info("fetch_add"), 4 | 4 << 8);
    assert_eq!(info("load_acquire"), 4 | 2 << 8);
    assert_eq!(info("store_release"), 4 | 3 << 8);
    assert_eq!(info("exchange"), 4 | 5 << 8);
    assert_eq!(info("exchange_pointer"), 8 | 5 << 8 | 5 << 16);
    assert_eq!(info("fence"), 5);
}

#[test]
fn tracing_is_behind_its_flag() {
    let code = accesses(&["-O1"]);
    assert_eq!(code.all_hooks("branch").iter().filter(|hook| *hook == "branch").count(), 1);
    for function in ["branch", "choose", "indirect"] {
        let lines = code.function(function);
        let flags = lines.iter().filter(|line| line.contains("load i8, ptr @__rh_tracing")).count();
        let trace = ["branch", "enter", "leave", "call"];
        let hooks = code.all_hooks(function).iter().filter(|hook| trace.contains(&hook.as_str())).count();
        assert_eq!(flags, hooks, "{function}");
        assert!(hooks >= 3, "{function}");
    }
    assert!(code.function("choose").iter().any(|line| line.contains("__rh_branch") && line.contains("i64 %")));
    assert!(code.function("indirect").iter().any(|line| line.contains("__rh_call") && line.contains("ptr %0")));
}

/// Returns the store that gives the frame back, by the name of the loaded stack pointer.
fn frame_of(lines: &[&str]) -> String {
    let load = lines.iter().find(|line| line.contains("load ptr, ptr @__rh_stack")).expect("a frame");
    load.trim().split(' ').next().unwrap().to_owned()
}

#[test]
fn frames_end_where_functions_do() {
    let code = accesses(&["-O1"]);
    for function in ["increment", "choose", "unseen"] {
        let lines = code.function(function);
        let store = format!("store ptr {}, ptr @__rh_stack", frame_of(&lines));
        for (index, _) in lines.iter().enumerate().filter(|(_, line)| line.trim().starts_with("ret ")) {
            assert!(lines[index - 1].contains(&store), "{function}: {}", lines[index - 1]);
        }
    }
    for function in ["nothing", "untouched", "bare", "signal_fence"] {
        assert!(!code.function(function).iter().any(|line| line.contains("__rh_stack")), "{function}");
    }
}

#[test]
fn frames_end_before_tail_calls() {
    let code = accesses(&["-O1"]);
    let lines = code.function("tail");
    let call = lines.iter().position(|line| line.contains("musttail call")).unwrap();
    assert!(lines[call - 1].contains(&format!("store ptr {}, ptr @__rh_stack", frame_of(&lines))));
    assert!(lines[call + 1].trim().starts_with("ret "));
}

#[test]
fn frames_are_restored_after_exceptions_and_jumps() {
    let code = code(&sample("objects.cc"), &["-O1"]);
    let lines = code.function("_Z7guardedi");
    let frame = frame_of(&lines);
    let next = lines
        .iter()
        .find(|line| line.contains(&format!("getelementptr inbounds i8, ptr {frame}, i64 16")))
        .and_then(|line| line.trim().split(' ').next())
        .unwrap();
    let pads: Vec<usize> = (0..lines.len()).filter(|&index| lines[index].contains("= landingpad")).collect();
    assert!(pads.len() >= 3);
    for pad in pads {
        // The clauses of a landing pad follow on separate lines.
        let after = lines[pad + 1..].iter().find(|line| {
            let line = line.trim();
            !line.starts_with("catch ")
                && !line.starts_with("cleanup")
                && !line.starts_with("filter ")
                && !line.starts_with('#')
        });
        assert!(after.unwrap().contains(&format!("store ptr {next}, ptr @__rh_stack")), "{after:?}");
    }
    for (index, _) in lines.iter().enumerate().filter(|(_, line)| line.trim().starts_with("resume ")) {
        assert!(lines[index - 1].contains(&format!("store ptr {frame}, ptr @__rh_stack")));
    }
    let c = accesses(&["-O1"]);
    let lines = c.function("jump");
    let call = lines.iter().position(|line| line.contains("@_setjmp") && line.contains("= call")).unwrap();
    assert!(lines[call + 1].contains(", ptr @__rh_stack"), "{}", lines[call + 1]);
}

#[test]
fn virtual_tables_have_hooks_of_their_own() {
    for level in LEVELS {
        let code = code(&sample("objects.cc"), &[level]);
        assert!(code.0.contains("@__rh_vptr_read("), "{level}");
        assert!(code.0.contains("@__rh_vptr_update("), "{level}");
    }
}

#[test]
fn masked_lanes_are_announced_one_by_one() {
    let avx = code(&sample("vectors.c"), &["-O2", "-mavx2"]);
    for (function, hook) in [
        ("load_some", "read4"),
        ("store_some", "write4"),
        ("gather", "read4"),
        ("gather_wide", "read4"),
        ("gather_some", "read4"),
    ] {
        assert_eq!(avx.hooks(function), [hook], "{function}");
        assert!(avx.function(function).iter().any(|line| line.contains("@llvm.cttz.i64")), "{function}");
    }
    assert_eq!(avx.hooks("stream"), ["write_range"]);
    // The optimiser vectorises these itself.
    assert!(avx.function("add").iter().any(|line| line.contains("__rh_read_range") && line.contains("i64 32")));
    assert!(avx.function("add_where").iter().any(|line| line.contains("call") && line.contains("@llvm.masked.load")));
    assert!(avx.hooks("add_where").contains(&"read4".to_owned()));

    let wide = code(&sample("vectors512.c"), &["-O2", "-mavx512f", "-mavx512vl"]);
    assert_eq!(wide.hooks("load_some"), ["read4"]);
    assert_eq!(wide.hooks("store_some"), ["write8"]);
    assert_eq!(wide.hooks("compress"), ["write_range"]);
    assert_eq!(wide.hooks("expand"), ["read_range"]);
    assert_eq!(wide.hooks("gather"), ["read4"]);
    assert_eq!(wide.hooks("scatter"), ["write4"]);
}

#[test]
fn thread_sanitizer_adds_nothing_but_its_constructor() {
    for level in LEVELS {
        for sample_name in ["accesses.c", "objects.cc"] {
            let code = code(&sample(sample_name), &[level]);
            let calls: Vec<_> =
                code.0.lines().filter(|line| line.contains("call ") && line.contains("@__tsan_")).collect();
            assert_eq!(calls, ["  call void @__tsan_init()"], "{sample_name} at {level}");
        }
    }
}

#[test]
fn promises_that_the_hooks_break_are_withdrawn() {
    let code = accesses(&["-O2"]);
    let head = code.function("increment")[0];
    let group = head.split(" #").nth(1).unwrap().split(' ').next().unwrap();
    let attributes = code.0.lines().find(|line| line.starts_with(&format!("attributes #{group} "))).unwrap();
    assert!(!attributes.contains("memory("), "{attributes}");
    assert!(!attributes.contains("nosync"), "{attributes}");
}

#[test]
fn a_module_passes_only_once() {
    let directory = tempfile::tempdir().unwrap();
    let once = directory.path().join("once.ll");
    std::fs::write(&once, accesses(&["-O1"]).0).unwrap();
    let twice = code(&once, &["-O1"]);
    assert_eq!(twice.hooks("increment"), ["read4", "write4"]);
    assert_eq!(twice.0.matches("define internal void @__rh_constructor").count(), 1);
}

#[test]
fn code_for_libraries_reaches_the_runtime_through_the_linker() {
    let program = accesses(&["-O1"]).0;
    assert!(program.contains("@__rh_stack = external dso_local global ptr"));
    let library = accesses(&["-O1", "-fPIC"]).0;
    assert!(library.contains("@__rh_stack = external global ptr"));
    assert!(library.contains("declare preserve_mostcc void @__rh_read4(ptr, ptr)"));
}
