//! Which parts of a program are instrumented.

use crate::messages;
use crate::text::{clean, count};
use racehunter_finding::Gap;
use racehunter_symbols::{Effect, Instrumentation};

/// The libraries whose functions have models.
const MODELLED: [&str; 7] = ["libc.so", "libm.so", "libpthread.so", "libdl.so", "librt.so", "libgcc_s.so", "ld-linux"];

/// Returns a description of what is seen of a program, and what is not.
#[must_use]
pub fn seen(program: &Instrumentation) -> String {
    let mut out = match program.has_symbols {
        true => format!("seen      {}\n", count(program.functions as u64, "function")),
        false => "seen      unknown: the program has no symbol table; do not strip it\n".to_owned(),
    };
    let mut list = |title: &str, items: Vec<String>| {
        for (index, item) in items.into_iter().enumerate() {
            out += &format!("{:<10}{}\n", if index == 0 { title } else { "" }, clean(&item));
        }
    };
    let plain = |(name, file): &(String, String)| match file.as_str() {
        "" => format!("{name}: compiled without instrumentation"),
        file => format!("{name} ({file}): compiled without instrumentation"),
    };
    let gap = |(effect, name): &(Effect, String)| messages::unseen(&Gap::named(effect.name()), name);
    list("not seen", program.plain.iter().map(plain).collect());
    list("calls", program.gaps.iter().map(gap).collect());
    let others = program.libraries.iter().filter(|name| !MODELLED.iter().any(|known| name.starts_with(known)));
    list(
        "libraries",
        others.map(|name| format!("{name}: a hunt names the unknown functions that it calls there")).collect(),
    );
    out
}
