//! Checks that links, paths and commands in the documents exist.

use super::{files, name, read};
use crate::USAGE;
use crate::shell::root;
use anyhow::Result;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Directories whose files documents name.
const DIRECTORIES: [&str; 8] = ["crates/", "docs/", "tests/", "targets/", "probes/", "xtask/", "benches/", "fuzz/"];

pub(super) fn check() -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let mut headings = HashMap::new();
    let mut commands = commands(&read(&root().join("crates/cli/src/arguments.rs"))?);
    // There are further commands under gdb.
    let debugger = read(&root().join("crates/hunter/src/commands.py"))?;
    commands.extend(debugger.lines().flat_map(|line| after(line, "racehunter ")).map(str::to_owned));
    for file in documents()? {
        let text = read(&file)?;
        for (number, line) in (1..).zip(text.lines()) {
            let mut complain = |what: String| wrong.push(format!("{}:{number}: {what}", name(&file)));
            for link in links(line) {
                if let Some(what) = broken(&file, link, &mut headings)? {
                    complain(what);
                }
            }
            for word in quoted(line) {
                let is_path = DIRECTORIES.iter().any(|directory| word.starts_with(directory));
                let is_plain = !word.contains(['*', ' ', '<', '$', '{', '…']) && !word.contains("NAME");
                if is_path
                    && is_plain
                    && let Some(what) = missing(word)?
                {
                    complain(what);
                }
            }
            for task in after(line, "cargo xtask ").filter(|task| task.len() > 1) {
                if !USAGE.contains(&format!("\n  {task} ")) {
                    complain(format!("there is no `cargo xtask {task}`"));
                }
            }
            for word in quoted(line).filter(|word| word.starts_with("racehunter ")) {
                let known = |command: &&str| !commands.iter().any(|known| known == command);
                if let Some(command) = after(word, "racehunter ").next().filter(known) {
                    complain(format!("there is no `racehunter {command}`"));
                }
            }
        }
    }
    Ok(wrong)
}

/// Returns why a path does not exist: `FILE`, `FILE:LINE`, or `FILE#WORD` for a word in the file.
fn missing(path: &str) -> Result<Option<String>> {
    let (file, word) = path.split_once('#').unwrap_or((path, ""));
    let file = file.split(':').next().unwrap_or(file);
    let full = root().join(file);
    if !full.exists() {
        return Ok(Some(format!("there is no {file}")));
    }
    Ok((!word.is_empty() && !read(&full)?.contains(word)).then(|| format!("there is no `{word}` in {file}")))
}

/// Returns the documents of the project.
pub(super) fn documents() -> Result<Vec<PathBuf>> {
    let mut all = files(&root().join("docs"), "md")?;
    let top =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "targets/README.md", "probes/README.md"];
    all.extend(top.map(|file| root().join(file)).into_iter().filter(|path| path.exists()));
    Ok(all)
}

/// Returns the targets of the links in a line.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// Returns the texts between backticks in a line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Returns the words in lower case that follow each occurrence of some text.
fn after<'a>(line: &'a str, text: &'a str) -> impl Iterator<Item = &'a str> {
    let end = |letter: char| !(letter.is_ascii_lowercase() || letter == '-' || letter == '+');
    let word = move |rest: &'a str| rest.split(end).next().unwrap_or_default().trim_start_matches("--");
    line.split(text).skip(1).map(word).filter(|word| !word.is_empty())
}

/// Returns why a link is broken.
fn broken(file: &Path, link: &str, headings: &mut HashMap<PathBuf, Vec<String>>) -> Result<Option<String>> {
    if link.contains("://") || link.starts_with("mailto:") {
        return Ok(None);
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let directory = file.parent().unwrap_or(Path::new("."));
    let target = if path.is_empty() { file.to_path_buf() } else { directory.join(path) };
    if !target.exists() {
        return Ok(Some(format!("the link to {path} leads nowhere")));
    }
    if anchor.is_empty() || target.extension().is_none_or(|extension| extension != "md") {
        return Ok(None);
    }
    if !headings.contains_key(&target) {
        headings.insert(target.clone(), anchors(&read(&target)?));
    }
    let known = headings.get(&target).is_some_and(|anchors| anchors.iter().any(|known| known == anchor));
    Ok((!known).then(|| format!("{} has no heading #{anchor}", name(&target))))
}

/// Returns the anchors of the headings of a document, as GitHub makes them.
fn anchors(text: &str) -> Vec<String> {
    let mut is_code = false;
    let mut anchors: Vec<String> = Vec::new();
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        if is_code || !line.starts_with('#') {
            continue;
        }
        let kept = |letter: char| match letter {
            ' ' => Some('-'),
            letter if letter.is_alphanumeric() || letter == '-' || letter == '_' => Some(letter),
            _ => None,
        };
        let anchor: String = line.trim_start_matches('#').trim().to_lowercase().chars().filter_map(kept).collect();
        let again = anchors.iter().filter(|known| **known == anchor).count();
        anchors.push(if again == 0 { anchor } else { format!("{anchor}-{again}") });
    }
    anchors
}

/// Returns the names of the commands, from the code that reads them.
fn commands(source: &str) -> Vec<String> {
    let body = source.split("pub enum Command {").nth(1).and_then(|rest| rest.split("\n}").next()).unwrap_or_default();
    let variant = |line: &str| {
        let name = line.strip_prefix("    ")?.split(['(', ' ', ',']).next()?;
        name.starts_with(|letter: char| letter.is_ascii_uppercase()).then(|| name.to_lowercase())
    };
    let renamed = body.split("name = \"").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned);
    body.lines().filter_map(variant).chain(renamed).chain(["help".to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_links_and_commands_are_parsed() {
        assert_eq!(anchors("# A b's `c`\n```\n# no\n```\n## A b's `c`\n"), ["a-bs-c", "a-bs-c-1"]);
        assert_eq!(links("[a](b.md#c), [d](e)").collect::<Vec<_>>(), ["b.md#c", "e"]);
        assert_eq!(
            after("run cargo xtask test, or cargo xtask bench micro", "cargo xtask ").collect::<Vec<_>>(),
            ["test", "bench"]
        );
        let commands = commands(
            "pub enum Command {\n    /// x\n    Hunt(Hunt),\n    #[command(name = \"c++\")]\n    Cxx {\n        a: B,\n    },\n}\n",
        );
        assert_eq!(commands, ["hunt", "cxx", "c++", "help"]);
    }
}
