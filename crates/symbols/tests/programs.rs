//! Names for real programs, compiled here by real compilers.

use std::path::{Path, PathBuf};
use std::process::Command;

use racehunter_symbols::source::Access;
use racehunter_symbols::{Form, Frame, Kind, Part, Symbols, SymbolsError, inspect, own_frame};
use tempfile::TempDir;

/// A compiled program that prints addresses and their expected names.
struct Program {
    directory: TempDir,
    executable: PathBuf,
}

/// One line of its output: kind, address, name.
struct Said {
    kind: String,
    address: u64,
    name: String,
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

fn run(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

impl Program {
    fn compile(compiler: &str, name: &str, options: &[&str]) -> Self {
        let directory = TempDir::new().expect("a directory");
        let executable = directory.path().join("program");
        run(Command::new(compiler).arg(source(name)).arg("-o").arg(&executable).args(options));
        Self { directory, executable }
    }

    fn output(&self) -> Vec<Said> {
        let output = String::from_utf8(run(&mut Command::new(&self.executable))).expect("text");
        let said: Vec<Said> = output
            .lines()
            .map(|line| {
                let mut parts = line.splitn(3, ' ');
                let mut next = || parts.next().unwrap_or_default().to_owned();
                let (kind, address, name) = (next(), next(), next());
                Said { kind, address: u64::from_str_radix(&address, 16).expect("an address"), name }
            })
            .collect();
        assert!(!said.is_empty(), "the program prints something");
        said
    }

    fn symbols(&self) -> Symbols {
        Symbols::load(&self.executable).expect("symbols")
    }
}

/// Every address that the program prints is named as the program says.
fn check_names(program: &Program) {
    let symbols = program.symbols();
    for said in program.output() {
        let found = match said.kind.as_str() {
            "data" => symbols.data_symbol(said.address).map(|symbol| symbol.name),
            "tls" => symbols.thread_local_of(said.address, 4).map(|symbol| symbol.name),
            _ => symbols.frames(said.address).first().map(|frame| frame.function.clone()),
        };
        assert_eq!(found.as_deref(), Some(said.name.as_str()), "at {:x}", said.address);
    }
}

#[test]
fn variables_and_fields_of_c() {
    for (compiler, options) in [
        ("clang-22", &["-g", "-O1"][..]),
        ("clang-22", &["-g", "-gdwarf-4", "-O0"]),
        ("clang-22", &["-g", "-no-pie", "-O2"]),
        ("clang-22", &["-g", "-gz", "-O1"]),
        ("cc", &["-g", "-O1"]),
        ("cc", &["-g", "-gdwarf-4", "-O0"]),
    ] {
        check_names(&Program::compile(compiler, "variables.c", options));
    }
}

#[test]
fn variables_and_functions_of_cpp() {
    for (compiler, options) in [("clang++-22", &["-g", "-O1"][..]), ("c++", &["-g", "-O0"])] {
        check_names(&Program::compile(compiler, "names.cpp", options));
    }
}

#[test]
fn a_variable_has_its_declaration_and_its_size() {
    let program = Program::compile("clang-22", "variables.c", &["-g"]);
    let symbols = program.symbols();
    let said = program.output();
    let table = said.iter().find(|said| said.name == "table[4].next").expect("printed");
    let symbol = symbols.data_symbol(table.address).expect("known");
    assert_eq!((symbol.offset, symbol.size, symbol.thread_local), (4 * 16 + 8, 5 * 16, false));
    assert!(symbol.file.ends_with("tests/programs/variables.c"), "{}", symbol.file);
    assert_eq!(symbol.line, line_of("variables.c", "struct node table[5]"));
    assert!(!Path::new(&symbol.file).is_absolute(), "below the working directory: {}", symbol.file);
    // Larger accesses mean larger parts.
    assert_eq!(symbols.data_symbol_of(table.address - 8, 16).expect("known").name, "table[4]");
    assert_eq!(symbols.data_symbol_of(table.address - 8, 32).expect("known").name, "table");
    let local = symbols.thread_local_of(0, 4).expect("known");
    assert_eq!((local.name.as_str(), local.thread_local), ("local.one", true));
    let field = |name: &str| said.iter().find(|said| said.name == name).expect("printed").address;
    // Two bit fields share a byte: only the structure can be named.
    assert_eq!(symbols.data_symbol(field("queue.both") + 4).expect("known").name, "queue");
    assert_eq!(symbols.data_symbol(1), None);
    assert_eq!(symbols.data_symbol(u64::MAX), None);
}

#[test]
fn what_the_optimiser_takes_apart_keeps_its_name() {
    // Each member of a structure that no other code sees becomes a variable.
    let code = "static struct { int a; long b; int c[2]; } s;
        void set(int i) { s.a = i; s.b = i; s.c[1] = i; } long get(void) { return s.a + s.b + s.c[1]; }
        int main(int n, char **v) { (void)v; set(n); return (int)get(); }";
    let directory = TempDir::new().expect("a directory");
    let (file, executable) = (directory.path().join("parts.c"), directory.path().join("parts"));
    std::fs::write(&file, code).expect("can be written");
    run(Command::new("clang-22").args(["-g", "-O1", "-fno-inline"]).arg(&file).arg("-o").arg(&executable));
    let table = String::from_utf8(run(Command::new("nm").arg(&executable))).expect("text");
    let symbols = Symbols::load(&executable).expect("symbols");
    let mut names = Vec::new();
    for line in table.lines().filter(|line| line.contains(" b s.") || line.ends_with(" b s")) {
        let address = u64::from_str_radix(line.split(' ').next().expect("an address"), 16).expect("a number");
        names.push(symbols.data_symbol(address).expect("known").name);
    }
    names.sort();
    assert_eq!(names, ["s.a", "s.b", "s.c[1]"]);
}

#[test]
fn expressions_have_the_types_of_what_they_name() {
    let symbols = Program::compile("clang-22", "accesses.c", &["-g", "-O0", "-pthread"]).symbols();
    let frame = |function: &str| Frame {
        function: function.to_owned(),
        file: source("accesses.c").to_string_lossy().into_owned(),
        line: line_of("accesses.c", &format!("TEST {function}(")) + 1,
        column: 1,
    };
    let form = |function: &str, expression: &str, size| symbols.form_of(&frame(function), expression, 0x1000, size);
    assert_eq!(form("members", "q->count", 4), Some(Form::Signed));
    assert_eq!(form("members", "q->head->next", 8), Some(Form::Pointer));
    assert_eq!(form("members", "q->head->next->v", 4), Some(Form::Signed));
    assert_eq!(form("members", "q->nodes[2].v", 4), Some(Form::Signed));
    assert_eq!(form("elements", "q->items[i + 1]", 4), Some(Form::Signed));
    assert_eq!(form("pointers", "*p", 4), Some(Form::Signed));
    assert_eq!(form("pointers", "pp", 8), Some(Form::Pointer));
    assert_eq!(form("globals", "qp->head", 8), Some(Form::Pointer));
    let part = |name: &str, first_bit, bits, form| Part { name: name.to_owned(), first_bit, bits, form };
    let node = Form::Parts(vec![part("v", 0, 32, Form::Signed), part("next", 64, 64, Form::Pointer)]);
    assert_eq!(form("members", "q->nodes[2]", 16), Some(node.clone()));
    assert_eq!(form("members", "*q->head", 16), Some(node));
    // Part of a value, what is not known, and what is not a name.
    assert_eq!(form("members", "q->count", 2), None);
    assert_eq!(form("members", "q->missing", 4), None);
    assert_eq!(form("members", "next(q)->count", 4), None);
    let nowhere = Frame { function: "nowhere".to_owned(), ..frame("members") };
    assert_eq!(symbols.form_of(&nowhere, "q->count", 0x1000, 4), None);

    // The bits are the lowest of what is read if that begins with them, and the address says whether it does.
    let flags = |address| symbols.form_of(&frame("members"), "q->flags", address, 1);
    let row = 0x1000 + 40 + 4 + 64 + 4 + 8 + 64;
    assert_eq!(flags(row), Some(Form::Parts(vec![part("", 0, 3, Form::Unsigned)])));
    assert_eq!(flags(row + 1), None);

    // In a block that holds one queue, each byte has its name; where a pointer could point into something larger,
    // none has.
    let count = (40, 4, 192);
    let named = |expression: &str, place| symbols.part_of(&frame("members"), expression, place);
    assert_eq!(named("*q", count), Some(("q->count".to_owned(), Some(Form::Signed))));
    assert_eq!(named("*q", (40, 4, 384)), None);
    assert_eq!(named("q->head[i]", (24, 8, 64)), Some(("q->head[i].next".to_owned(), Some(Form::Pointer))));
    assert_eq!(named("q->nodes[i]", (24, 8, 64)), None, "part of the block that `q` points to");

    let element = |expression: &str| symbols.element_size(&frame("members"), expression);
    assert_eq!(element("q->head[3].v"), Some(16));
    assert_eq!(element("q->nodes[3].v"), None, "part of the block that `q` points to");
    assert_eq!(element("q->head[3].next->v"), None, "another block");
}

#[test]
fn inlined_functions_are_frames_of_their_own() {
    for compiler in ["clang-22", "cc"] {
        let program = Program::compile(compiler, "variables.c", &["-g", "-O2"]);
        let symbols = program.symbols();
        let code = program.output().into_iter().find(|said| said.kind == "code").expect("printed").address;
        let frames = symbols.frames(code);
        let shown: Vec<_> = frames.iter().map(|frame| (frame.function.as_str(), frame.line)).collect();
        let line = |text| line_of("variables.c", text);
        let expected = [
            ("innermost", line("void innermost(void)")),
            ("middle", line("  innermost();")),
            ("outer", line("  middle();")),
        ];
        assert_eq!(shown, expected);
        assert!(frames.iter().all(|frame| frame.column > 0 && frame.file.ends_with("variables.c")));
        assert_eq!(symbols.frames(code), frames, "also the second time");
    }
}

#[test]
fn without_debug_information_the_symbol_table_answers() {
    let program = Program::compile("clang-22", "variables.c", &["-O1"]);
    let symbols = program.symbols();
    assert!(!symbols.binary().debug_info);
    for said in program.output() {
        match (said.kind.as_str(), said.name.as_str()) {
            ("code", _) => {
                let frames = symbols.frames(said.address);
                assert_eq!(frames.len(), 1);
                assert_eq!((frames[0].function.as_str(), frames[0].line), ("outer", 0));
            }
            ("data", "counter" | "hidden" | "flag") => {
                assert_eq!(symbols.data_symbol(said.address).expect("known").name, said.name);
            }
            ("data", "matrix[2][3]") => {
                assert_eq!(symbols.data_symbol(said.address).expect("known").name, "matrix+44");
            }
            _ => {}
        }
    }
    let symbols = {
        run(Command::new("strip").arg(&program.executable));
        program.symbols()
    };
    let frames = symbols.frames(program.output().last().expect("printed").address);
    assert_eq!(frames[0].function, "??");
}

#[test]
fn unknown_addresses_have_a_frame_nevertheless() {
    let program = Program::compile("clang-22", "variables.c", &["-g"]);
    let mut symbols = program.symbols();
    for code in [0, 1, 0x7fff_0000_0000, u64::MAX] {
        let frames = symbols.frames(code);
        assert_eq!((frames.len(), frames[0].function.as_str()), (1, "??"));
    }
    symbols.add_module(0x7fff_0000_0000, 0x7fff_0000_1000, program.directory.path().join("libgone.so"));
    assert_eq!(symbols.frames(0x7fff_0000_0010)[0].function, "?? (libgone.so)");
}

#[test]
fn shared_libraries_have_absolute_addresses() {
    let program = Program::compile("clang-22", "variables.c", &["-g", "-O2"]);
    let library = program.directory.path().join("libnames.so");
    let options = ["-shared", "-fPIC", "-g", "-O2", "-o"];
    run(Command::new("clang-22").arg(source("variables.c")).args(options).arg(&library));
    // The library is built from the same source: its own addresses are found through its symbol table.
    let said = run(Command::new("nm").arg(&library));
    let said = String::from_utf8(said).expect("text");
    let counter = said.lines().find(|line| line.ends_with(" counter")).expect("in the table");
    let counter = u64::from_str_radix(counter.split(' ').next().unwrap_or_default(), 16).expect("an address");
    let outer = said.lines().find(|line| line.ends_with(" outer")).expect("in the table");
    let outer = u64::from_str_radix(outer.split(' ').next().unwrap_or_default(), 16).expect("an address");
    let base = 0x7f12_3456_0000;
    let mut symbols = program.symbols();
    symbols.add_module(base, base + 0x10_0000, &library);
    assert_eq!(symbols.data_symbol(base + counter).expect("known").name, "counter");
    assert_eq!(symbols.frames(base + outer + 1).last().expect("a frame").function, "outer");
}

/// The names at clang's columns, compared with the annotations in the source.
#[test]
fn columns_of_clang() {
    for level in ["-O0", "-O1"] {
        let directory = TempDir::new().expect("a directory");
        let object = directory.path().join("accesses.o");
        let executable = directory.path().join("program");
        run(Command::new("clang-22")
            .args(["-g", "-fsanitize=thread", "-c", level, "-o"])
            .arg(&object)
            .arg(source("accesses.c")));
        run(Command::new("clang-22").args(["-w", "-O1", "-o"]).arg(&executable).arg(&object).arg(source("hooks.c")));
        let program = Program { directory, executable };
        let symbols = program.symbols();
        let mut seen: Vec<(u32, String)> = Vec::new();
        for said in program.output() {
            let frames = symbols.frames(said.address);
            let frame = &frames[own_frame(&frames).expect("a frame")];
            let access = if said.kind == "w" { Access::Write } else { Access::Read };
            let name = symbols.expression(frame, access).unwrap_or_else(|| "nothing".to_owned());
            seen.push((frame.line, format!("{} {name}", said.kind)));
        }
        let text = std::fs::read_to_string(source("accesses.c")).expect("the source");
        let annotated: Vec<(u32, &str)> =
            (1..).zip(text.lines()).filter_map(|(line, text)| Some((line, text.split_once("//~ ")?.1))).collect();
        assert!(annotated.len() > 20);
        for (line, expected) in annotated {
            let mut found: Vec<&str> =
                seen.iter().filter(|(at, _)| *at == line).map(|(_, name)| name.as_str()).collect();
            let mut expected: Vec<&str> = expected.split(", ").collect();
            // The optimiser may drop or reorder accesses, but the remaining ones must have the right name.
            if level == "-O0" {
                found.sort_unstable();
                expected.sort_unstable();
                assert_eq!(found, expected, "{level}, line {line}");
            } else {
                assert!(found.iter().all(|name| expected.contains(name)), "{level}, line {line}: {found:?}");
            }
        }
    }
}

#[test]
fn files_that_cannot_be_hunted_say_why() {
    let program = Program::compile("cc", "variables.c", &["-g"]);
    let plain = inspect(&program.executable).expect("readable");
    assert_eq!(plain.kind, Kind::Uninstrumented);
    assert!(plain.debug_info && !plain.is_huntable());
    assert!(plain.to_string().ends_with("is not instrumented (no RaceHunter section)"));

    let at = |name: &str| program.directory.path().join(name);
    std::fs::write(at("script"), "#!/bin/sh\n").expect("written");
    assert_eq!(inspect(&at("script")).expect("readable").kind, Kind::NotElf);

    let build = |arguments: &[&str], name: &str| {
        run(Command::new("cc").args(arguments).arg("-o").arg(at(name)).arg(source("variables.c")));
        inspect(&at(name)).expect("readable").kind
    };
    assert_eq!(build(&["-c"], "object.o"), Kind::Object);
    assert_eq!(build(&["-shared", "-fPIC"], "library.so"), Kind::Library);

    // RaceHunter's mark in a separate section, as the compiler wrapper leaves it.
    std::fs::write(at("mark.c"), "__attribute__((section(\"rh_sites\"), used)) static char sites[4];")
        .expect("written");
    let mark = at("mark.c");
    let mark = mark.to_str().expect("text");
    assert_eq!(build(&[mark], "marked"), Kind::Instrumented);
    assert_eq!(build(&[mark, "-static"], "static"), Kind::Static);
    assert_eq!(build(&[mark, "-static-pie"], "static-pie"), Kind::Static);

    let mut bytes = std::fs::read(at("marked")).expect("readable");
    bytes[18] = 0xb7;
    std::fs::write(at("arm"), &bytes).expect("written");
    assert_eq!(inspect(&at("arm")).expect("readable").kind, Kind::Foreign("64-bit ARM".to_owned()));
    bytes.truncate(40);
    bytes[18] = 0x3e;
    std::fs::write(at("cut"), &bytes).expect("written");
    assert!(matches!(inspect(&at("cut")), Err(SymbolsError::Damaged { .. })));
    assert!(matches!(inspect(&at("absent")), Err(SymbolsError::Read { .. })));
    assert!(Symbols::load(&at("script")).is_err());
}

#[test]
fn the_identity_changes_with_the_program() {
    let identity = |options: &[&str]| {
        let program = Program::compile("cc", "variables.c", options);
        inspect(&program.executable).expect("readable").identity
    };
    let hashed = &["-Wl,--build-id=none", "-O1"][..];
    assert_eq!(identity(hashed), identity(hashed));
    assert_ne!(identity(hashed), identity(&["-Wl,--build-id=none", "-O2"]));
    assert_eq!(identity(&["-Wl,--build-id=0x0123abcd"]), "0123abcd");
}

/// Any damaged program gives answers without a panic.
#[test]
fn damaged_debug_information_is_survived() {
    let program = Program::compile("clang-22", "variables.c", &["-g", "-O1"]);
    let whole = std::fs::read(&program.executable).expect("readable");
    let said = program.output();
    let damaged = program.directory.path().join("damaged");
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut loaded = 0;
    for _ in 0..300 {
        let mut bytes = whole.clone();
        for _ in 0..20 {
            // Past the ELF header, so that most of it still loads.
            let at = 0x400 + random() % (bytes.len() - 0x400);
            bytes[at] = random() as u8;
        }
        std::fs::write(&damaged, &bytes).expect("written");
        let Ok(symbols) = Symbols::load(&damaged) else { continue };
        loaded += 1;
        for said in &said {
            assert!(!symbols.frames(said.address).is_empty());
            let _ = symbols.data_symbol(said.address);
        }
    }
    assert!(loaded > 100, "only {loaded} were loaded at all");
}

fn line_of(file: &str, text: &str) -> u32 {
    let source = std::fs::read_to_string(source(file)).expect("the source");
    let line = source.lines().position(|line| line.contains(text)).expect("a line");
    u32::try_from(line + 1).expect("a small number")
}
