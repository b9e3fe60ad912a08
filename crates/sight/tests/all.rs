//! docs/libc.md matches the tables, and covers every function that ThreadSanitizer intercepts.
#![allow(missing_docs)]

use racehunter_sight::models::{self, Condition, Direction, Length, Part, Place, Touch};
use racehunter_sight::{Effect, is_modelled, of};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const INTERCEPTED: &str = include_str!("interceptors.txt");

fn intercepted() -> impl Iterator<Item = &'static str> {
    INTERCEPTED.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_ascii_whitespace)
}

/// Describes what RaceHunter sees of a function.
fn status(name: &str) -> &'static str {
    let function = of(name);
    if is_modelled(name) {
        return "modelled";
    }
    match (models::of(name), function.effect) {
        (Some(_), _) => "modelled in part, noted",
        (None, Effect::None) if function.touches.is_empty() => "by the runtime",
        (None, Effect::None) => "noted if the memory is shared",
        (None, Effect::Unknown) => "noted (`library`)",
        (None, Effect::HiddenState) => "noted (`hidden-state`)",
        (None, Effect::Random) => "noted (`random`)",
        (None, Effect::Alias) => "noted (`alias`)",
        (None, effect) if effect.is_about_files() => "files, noted if they are shared",
        (None, effect) if effect.is_modelled() => "by the runtime",
        (None, _) => "noted (`kernel-state`)",
    }
}

fn place(place: Place<'_>) -> String {
    match place {
        Place::Argument(at) => format!("argument {}", at + 1),
        Place::Stream(at) => format!("the stream at argument {}", at + 1),
        Place::Behind(at) => format!("what the pointer at argument {} points to", at + 1),
        Place::Result => "what is returned".to_owned(),
        Place::Hidden(name) => format!("state `{name}`"),
        Place::Variable(name) => format!("the variable `{name}`"),
    }
}

fn length(length: Length) -> String {
    let most = |at: Option<u8>| at.map_or_else(String::new, |at| format!(", at most argument {}", at + 1));
    match length {
        Length::Bytes(1) => "1 byte".to_owned(),
        Length::Bytes(bytes) => format!("{bytes} bytes"),
        Length::Text(1, limit) => format!("string{}", most(limit)),
        Length::Text(_, limit) => format!("wide string{}", most(limit)),
        Length::As(_, at) => format!("as long as argument {}", at + 1),
        Length::Product(first, Some(second), _) => format!("argument {} x argument {}", first + 1, second + 1),
        Length::Product(first, None, 1) => format!("argument {}", first + 1),
        Length::Product(first, None, factor) => format!("{factor} x argument {}", first + 1),
        Length::Even(at) => format!("argument {}, rounded down to an even number", at + 1),
        Length::Pages(at) => format!("a byte for each page of argument {}", at + 1),
        Length::Descriptors(at) => format!("a set of argument {} descriptors", at + 1),
        Length::Result(None, 1) => "the result".to_owned(),
        Length::Result(None, factor) => format!("{factor} x the result"),
        Length::Result(Some(at), _) => format!("the result x argument {}", at + 1),
        Length::ResultUpTo(at) => format!("the result{}", most(Some(at))),
        Length::ResultAndOne(_, limit) => format!("the result and its terminator{}", most(limit)),
        Length::Pointed(at) => format!("length given by argument {}", at + 1),
        Length::UpToResult(..) => "up to the match".to_owned(),
    }
}

fn words(touch: &Touch<'_>) -> String {
    let does = match touch.direction {
        Direction::Read => "reads",
        Direction::Write => "writes",
        Direction::Modify => "changes",
        Direction::Locked => "changes, under a lock,",
    };
    let size = match touch.place {
        Place::Hidden(_) => String::new(),
        _ => format!(" ({})", length(touch.length)),
    };
    let when = match touch.condition {
        Condition::Always => "",
        Condition::Something => " unless 0 is returned",
        Condition::Zero => " if 0 is returned",
        Condition::Success => " if it succeeds",
        Condition::Positive => " if the result is positive",
    };
    format!("{does} {}{size}{when}", place(touch.place))
}

fn routine(name: &str) -> &'static str {
    match name {
        "printf" | "vprintf" => "reads and writes what the format says",
        "scanf" | "vscanf" => "writes what the format and the result say",
        "mem" | "cmp" | "case" | "wmem" | "wcmp" | "wcase" => "reads both up to the first difference",
        "cat" | "wcat" => "reads both, writes after the first",
        "copyto" => "reads and writes up to the character",
        "int" | "float" => "reads the number",
        "token" | "separate" => "reads the word, writes its end",
        "backwards" => "reads from the end back to the match",
        "vector" => "the buffers, up to the result if they are written",
        "message" => "the header, the name, the buffers, the control data",
        "poll" => "reads descriptors and events, writes the answers",
        "sort" => "reads and writes the array",
        "environment" => "reads or writes the list of variables",
        "address" => "reads or writes the address, by its family",
        "halts" => "if it fails, how much was written is noted as not seen",
        "short" => "if it ends within an item, what was written of that is noted as not seen",
        "hook" | "unhook" | "transfer" | "reverse" | "swap" => "reads and writes the links of the nodes of a list",
        "next" | "previous" => "reads the links of the nodes of a tree up to the one that is returned",
        "insert" | "erase" => "reads and writes the links and colours of the nodes of a tree",
        "primes" => "reads and writes when a hash table grows",
        "locale" => "changes state `locale`, or reads it if no new one is given",
        _ => panic!("{name} has no words"),
    }
}

fn page() -> String {
    let mut text = String::from(
        "# C library functions

This page lists what RaceHunter knows about each function of the C library. Look a function up here if a summary names it as not
seen, or to find out whether a race through it can be found.

Models describe what a call does to the program's memory and to state inside the library; `crates/sight/src/models/functions.rs`
has one line per function. Accesses that are known before the call are announced like the program's own accesses. If the extent is
known only afterwards (how much `fgets` has written), the memory is a scheduling point before the call, and the detector learns the
rest when the call returns. A race is reported at the line of the call.

State inside the library is a separate object, which reports name like `strtok (C library)`. Two calls race on it if POSIX and the
GNU C library allow them to interfere. Where the library has a lock that POSIX does not require (`rand`), the calls are scheduling
points but do not race.

*Modelled*: RaceHunter sees everything that the function does to memory and hidden state. *Modelled in part, noted*: RaceHunter sees
what the table says, and also [names the call as not seen](runtime.md#what-is-not-seen), because it does more. A function that is
neither here nor in the table of reviewed functions is noted as `library`: the whitelist has no third answer.

Uninstrumented libraries may call `memcpy`, `memmove`, `memset`, `memcmp`, `memchr`, `strlen` and the most common string functions.
RaceHunter sees these calls, because the runtime redirects the pointers by which such a library calls them when the program starts.
The reported place is the last call that instrumented code made. Everything else that the library does stays unseen, and is noted.

`RACEHUNTER_BLESS=1 cargo test -p racehunter-sight` writes this page.

## Models

| functions | what is seen | |
|---|---|---|
",
    );
    for (names, model) in models::ALL {
        let names: Vec<String> = names.split_ascii_whitespace().map(|name| format!("`{name}`")).collect();
        let mut seen: Vec<String> = Vec::new();
        let mut is_partial = false;
        for part in models::parts(model) {
            match part {
                Part::Touch(touch) => seen.push(words(&touch)),
                Part::Routine(name, _) => seen.push(routine(name).to_owned()),
                Part::Partly => is_partial = true,
            }
        }
        let nothing = if is_partial { "nothing" } else { "nothing to see, or handled by the runtime" };
        let seen = if seen.is_empty() { nothing.to_owned() } else { seen.join("; ") };
        let status = if is_partial { "in part, noted" } else { "modelled" };
        writeln!(text, "| {} | {seen} | {status} |", names.join(", ")).expect("a string");
    }
    text += "
## Other functions that ThreadSanitizer intercepts

These functions have no model above. *By the runtime*: the runtime models the function (locks, threads, time, descriptors, memory), or
there is nothing to see.

| function | |
|---|---|
";
    for name in intercepted().filter(|name| models::of(name).is_none()) {
        writeln!(text, "| `{name}` | {} |", status(name)).expect("a string");
    }
    text
}

fn document() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/libc.md")
}

#[test]
fn the_page_matches_the_tables() {
    let wanted = page();
    if std::env::var_os("RACEHUNTER_BLESS").is_some() {
        std::fs::write(document(), &wanted).expect("the page can be written");
    }
    let written = std::fs::read_to_string(document()).unwrap_or_default();
    assert!(
        written == wanted,
        "docs/libc.md differs from the tables: RACEHUNTER_BLESS=1 cargo test -p racehunter-sight"
    );
}

#[test]
fn every_intercepted_function_is_seen_or_noted() {
    assert!(intercepted().count() > 450);
    for name in intercepted() {
        let function = of(name);
        let is_reviewed = function.effect != Effect::Unknown || models::of(name).is_some();
        // A function that accesses memory, and neither has a model nor is noted whenever the memory is shared, would
        // hide it.
        let hides = function.effect == Effect::None && !function.touches.is_empty() && !is_modelled(name);
        assert!(is_reviewed || status(name).starts_with("noted"), "{name}");
        assert!(!hides || status(name).contains("noted"), "{name}: {}", status(name));
    }
}

#[test]
fn common_functions_are_modelled() {
    for name in "fgets fread getline getdelim sscanf fscanf scanf puts fwrite printf vsnprintf time stat getcwd uname realpath
        sigprocmask qsort bsearch tsearch mbstowcs wcslen wmemcpy strlen memcpy regexec poll select epoll_wait recvmsg
        sendmsg readv writev preadv pthread_getname_np timespec_get strtok rand random drand48 getenv setenv localtime gmtime
        asctime ctime ttyname readdir crypt l64a"
        .split_ascii_whitespace()
    {
        assert!(is_modelled(name), "{name}");
    }
}
