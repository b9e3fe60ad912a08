//! `cargo xtask architecture`: checks what ARCHITECTURE.md claims about the code.
//!
//! The allowed dependencies are read from the code map of ARCHITECTURE.md itself. The other rules are tables here, each
//! row with its reason: which crates may contain unsafe code, which may read the clock, the environment or the
//! terminal, and which files may be longer than others. [`documents`] checks links, paths and commands of the
//! documents, and [`words`] phrases that were replaced everywhere.

mod documents;
mod layers;
mod words;

use crate::shell::root;
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// Crates that may contain unsafe code, and why. All others forbid it.
const UNSAFE: [(&str, &str); 5] = [
    ("runtime", "lives in other people's programs, without a library below it"),
    ("plugin", "calls LLVM"),
    ("launch", "shares memory with other processes, and prepares them between fork and exec"),
    ("trace", "maps files into memory"),
    ("companion", "calls the runtime by its address"),
];

/// Something that only some crates may read or write.
struct Access {
    what: &'static str,
    /// Words in the code that indicate it.
    words: &'static [&'static str],
    /// The crates that may use it, and why.
    allowed: &'static [(&'static str, &'static str)],
}

const ACCESS: [Access; 3] = [
    Access {
        what: "the clock",
        words: &["Instant::now", "SystemTime::now"],
        allowed: &[
            ("cli", "passes it to the hunter"),
            ("cargo", "is a command"),
            ("launch", "limits the time of processes"),
            ("fleet", "limits the time of requests, renews leases, and says when a status was written"),
            ("explain", "stops minimising when a hunt with --time has no time left"),
            ("runtime", "is part of programs that ask for the time"),
        ],
    },
    Access {
        what: "arguments or environment variables",
        words: &["env::var", "env::args", "env::vars"],
        allowed: &[
            ("cli", "is a command"),
            ("cargo", "is a command"),
            ("compile", "finds compilers on the PATH, and RACEHUNTER_LIB"),
            ("plugin", "gets its settings from the wrapper that way"),
            ("companion", "checks whether the program runs under a hunt"),
        ],
    },
    Access {
        what: "standard output, standard error or the terminal",
        words: &["println!", "eprintln!", "print!(", "eprint!(", "io::stdout", "io::stderr", "is_terminal()"],
        allowed: &[
            ("cli", "is a command"),
            ("cargo", "is a command"),
            ("plugin", "has no other way to say that it cannot work"),
        ],
    },
];

/// Maximum number of lines of a Rust file.
const LONGEST: usize = 600;

/// Longer files, and their maximum length. Rows may only be removed, and numbers only lowered.
const LONGER: [(&str, usize); 2] = [("crates/plugin/src/emit.rs", 657), ("crates/runtime/src/io/sockets.rs", 644)];

/// Maximum number of lines of all files of a crate, and what belongs there.
const SMALL: [(&str, usize, &str); 1] =
    [("cli", 2_500, "arguments, settings, and exit codes; work belongs into a library")];

/// Checks everything, and reports all violations.
pub fn run() -> Result<()> {
    let mut wrong = layers::check()?;
    wrong.extend(check_unsafe()?);
    wrong.extend(check_access()?);
    wrong.extend(check_sizes()?);
    wrong.extend(documents::check()?);
    wrong.extend(words::check()?);
    if wrong.is_empty() {
        return Ok(());
    }
    bail!("the code violates ARCHITECTURE.md:\n  {}", wrong.join("\n  "));
}

/// Returns the crates, by the names of their directories.
fn crates() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root().join("crates"))? {
        let entry = entry?;
        if entry.path().join("Cargo.toml").exists() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Returns the files below a directory with this extension, except build products.
fn files(below: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut work = vec![below.to_path_buf()];
    while let Some(directory) = work.pop() {
        for entry in fs::read_dir(&directory).with_context(|| format!("cannot read {}", directory.display()))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default();
            if path.is_dir() && name != "target" && name != ".git" {
                work.push(path);
            } else if path.extension().is_some_and(|own| own == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Returns the path of a file below the root.
fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// Returns the code of a file, without its unit tests and comments.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_code = |(_, line): &(usize, &str)| !line.trim_start().starts_with("//");
    (1..).zip(text.lines()).take_while(|(_, line)| *line != "#[cfg(test)]").filter(is_code)
}

fn check_unsafe() -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for name in crates()? {
        let source = root().join("crates").join(&name).join("src");
        let top = ["lib.rs", "main.rs"].map(|file| source.join(file)).into_iter().find(|path| path.exists());
        let forbids =
            top.map(|path| read(&path)).transpose()?.is_some_and(|text| text.contains("#![forbid(unsafe_code)]"));
        match UNSAFE.iter().any(|(allowed, _)| *allowed == name) {
            true if forbids => wrong.push(format!("crates/{name} forbids unsafe code: take its row out of the table")),
            false if !forbids => wrong.push(format!("crates/{name} does not say #![forbid(unsafe_code)]")),
            _ => {}
        }
    }
    Ok(wrong)
}

fn check_access() -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for krate in crates()? {
        for file in files(&root().join("crates").join(&krate).join("src"), "rs")? {
            let text = read(&file)?;
            for Access { what, words, allowed } in &ACCESS {
                if allowed.iter().any(|(name, _)| *name == krate) {
                    continue;
                }
                let mut lines = code(&text).filter(|(_, line)| words.iter().any(|word| line.contains(word)));
                if let Some((line, _)) = lines.next() {
                    wrong.push(format!("{}:{line}: crates/{krate} must not use {what}", name(&file)));
                }
            }
        }
    }
    Ok(wrong)
}

fn check_sizes() -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for directory in ["crates", "xtask", "tests", "benches", "fuzz"] {
        for file in files(&root().join(directory), "rs")? {
            let (name, lines) = (name(&file), read(&file)?.lines().count());
            let exception = LONGER.iter().find(|(known, _)| *known == name).map(|(_, most)| *most);
            match exception {
                Some(_) if lines <= LONGEST => {
                    wrong.push(format!("{name} has {lines} lines: take its row out of the table"));
                }
                Some(most) if lines > most => wrong.push(format!("{name} has {lines} lines, and may have {most}")),
                None if lines > LONGEST => wrong.push(format!("{name} has {lines} lines, and may have {LONGEST}")),
                _ => {}
            }
        }
    }
    for (krate, most, belongs) in SMALL {
        let mut lines = 0;
        for file in files(&root().join("crates").join(krate).join("src"), "rs")? {
            lines += read(&file)?.lines().count();
        }
        if lines > most {
            wrong.push(format!("crates/{krate} has {lines} lines, and may have {most}: it has {belongs}"));
        }
    }
    Ok(wrong)
}
