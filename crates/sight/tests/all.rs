//! The page on functions of the C library says what the tables say, and nothing that ThreadSanitizer intercepts is left out.
#![allow(missing_docs)]

use racehunter_sight::models::{self, Condition, Direction, Length, Part, Place, Touch};
use racehunter_sight::{Effect, is_modelled, of};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const INTERCEPTED: &str = include_str!("interceptors.txt");

fn intercepted() -> impl Iterator<Item = &'static str> {
    INTERCEPTED.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_ascii_whitespace)
}

/// How a function is seen.
fn status(name: &str) -> &'static str {
    let function = of(name);
    if is_modelled(name) {
        return "modelled";
    }
    match (models::of(name), function.effect) {
        (Some(_), _) => "modelled in part, noted",
        (None, Effect::None) if function.touches.is_empty() => "by the runtime",
        (None, Effect::None) => "noted for memory that is shared",
        (None, Effect::Unknown) => "noted (`library`)",
        (None, Effect::HiddenState) => "noted (`hidden-state`)",
        (None, Effect::Random) => "noted (`random`)",
        (None, Effect::Alias) => "noted (`alias`)",
        (None, effect) if effect.is_about_files() => "files, noted for what is shared",
        (None, effect) if effect.is_modelled() => "by the runtime",
        (None, _) => "noted (`kernel-state`)",
    }
}

fn place(place: Place<'_>) -> String {
    match place {
        Place::Argument(at) => format!("argument {}", at + 1),
        Place::Stream(at) => format!("the stream at argument {}", at + 1),
        Place::Behind(at) => format!("what the pointer at argument {} leads to", at + 1),
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
        Length::ResultAndOne(_, limit) => format!("the result and its end{}", most(limit)),
        Length::Pointed(at) => format!("as argument {} says", at + 1),
        Length::UpToResult(..) => "up to what is found".to_owned(),
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
        "mem" | "cmp" | "case" | "wmem" | "wcmp" | "wcase" => "reads both up to where they differ",
        "cat" | "wcat" => "reads both, writes behind the first",
        "copyto" => "reads and writes up to the character",
        "int" | "float" => "reads the number",
        "token" | "separate" => "reads the word, writes its end",
        "backwards" => "reads from the end up to what is found",
        "vector" => "the pieces, up to the result where they are written",
        "message" => "the header, the name, the pieces, the control data",
        "poll" => "reads descriptors and events, writes the answers",
        "sort" => "reads and writes the array",
        "environment" => "reads or writes the list of variables",
        "address" => "reads or writes the address, by its family",
        "locale" => "changes state `locale`, or reads it where there is no new one",
        _ => panic!("{name} has no words"),
    }
}

fn page() -> String {
    let mut text = String::from(
        "# Functions of the C library

What calls of the C library do to memory of the program, and to state inside of the library, is seen by models: `crates/sight/src/models/functions.rs`
says for each function what it reads and writes. Accesses that are known before the call are announced like any of the program's
own. Where something is known only afterwards (how much `fgets` has written), the memory is a scheduling point before the call,
and the detector learns of the rest when it has returned. A race is reported at the line of the call.

State inside of the library is an object of its own, named in reports as `strtok (C library)`. Two calls that POSIX and the GNU C
library allow to disturb each other are a data race on it. Where the library has a lock that POSIX does not ask for (`rand`), the calls
are scheduling points, and no race.

*Modelled*: all that it does to memory and hidden state is seen. *Modelled in part, noted*: what is in the table is seen, and the call is
[named as not seen](runtime.md#what-is-not-seen) beside, since there is more. Functions that are neither here nor in the table of reviewed
functions are noted as `library`: the whitelist has no third answer.

Calls that libraries without instrumentation make are seen where they go to one of `memcpy`, `memmove`, `memset`, `memcmp`, `memchr`,
`strlen` and the most common string functions: the pointers by which such a library calls them are turned to the runtime when the program
starts. The place is that of the last call that instrumented code has made. What the library does by itself stays unseen, and is noted.

The tables are written by `RACEHUNTER_BLESS=1 cargo test -p racehunter-sight`.

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
        let nothing = if is_partial { "nothing" } else { "nothing to see, or by the runtime" };
        let seen = if seen.is_empty() { nothing.to_owned() } else { seen.join("; ") };
        let status = if is_partial { "in part, noted" } else { "modelled" };
        writeln!(text, "| {} | {seen} | {status} |", names.join(", ")).expect("a string");
    }
    text += "
## What ThreadSanitizer intercepts, and has no model above

*By the runtime*: it has a model in the runtime (locks, threads, time, descriptors, memory), or there is nothing to see.

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
fn the_page_says_what_the_tables_say() {
    let wanted = page();
    if std::env::var_os("RACEHUNTER_BLESS").is_some() {
        std::fs::write(document(), &wanted).expect("the page can be written");
    }
    let written = std::fs::read_to_string(document()).unwrap_or_default();
    assert!(
        written == wanted,
        "docs/libc.md is not what the tables say: RACEHUNTER_BLESS=1 cargo test -p racehunter-sight"
    );
}

#[test]
fn everything_that_is_intercepted_is_seen_or_noted() {
    assert!(intercepted().count() > 450);
    for name in intercepted() {
        let function = of(name);
        let is_reviewed = function.effect != Effect::Unknown || models::of(name).is_some();
        // A function that touches memory, and neither has a model nor is noted whenever the memory is shared, would hide it.
        let hides = function.effect == Effect::None && !function.touches.is_empty() && !is_modelled(name);
        assert!(is_reviewed || status(name).starts_with("noted"), "{name}");
        assert!(!hides || status(name).contains("noted"), "{name}: {}", status(name));
    }
}

#[test]
fn what_the_yardstick_asks_for_is_modelled() {
    for name in "fgets fread getline getdelim sscanf fscanf scanf puts fwrite printf vsnprintf time stat getcwd uname realpath
        sigprocmask qsort bsearch tsearch mbstowcs wcslen wmemcpy strlen memcpy regexec poll select epoll_wait recvmsg
        sendmsg readv writev preadv pthread_getname_np timespec_get strtok rand random drand48 getenv setenv localtime gmtime
        asctime ctime ttyname readdir crypt l64a"
        .split_ascii_whitespace()
    {
        assert!(is_modelled(name), "{name}");
    }
}
