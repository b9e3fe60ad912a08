//! docs/papers.md names where each item of a paper is in the code and which test shows it; all of these must exist.

use std::path::Path;

/// The root of the project.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// Returns the texts between single backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

/// Returns what is wrong with a name in the document, if it names a file or something in one.
fn trouble(name: &str) -> Option<String> {
    let (path, inside, is_test) = match (name.split_once("::"), name.split_once('#')) {
        (Some((path, test)), _) => (path, Some(test), true),
        (None, Some((path, inside))) => (path, Some(inside), false),
        (None, None) => (name, None, false),
    };
    let directories = ["crates/", "tests/", "targets/", "docs/", "probes/", "xtask/", "benches/"];
    if !directories.iter().any(|directory| path.starts_with(directory)) {
        return None;
    }
    let Ok(content) = std::fs::read(root().join(path)) else { return Some(format!("`{path}` does not exist")) };
    let content = String::from_utf8_lossy(&content);
    match (inside, is_test) {
        // A property is a function whose arguments have no types.
        (Some(test), true) if !content.contains(&format!("fn {test}(")) => {
            Some(format!("`{path}` has no test `{test}`"))
        }
        (Some(_), true) if !is_compiled(path) => Some(format!("`{path}` is not part of a test program")),
        (Some(word), false) if !has_word(&content, word) => Some(format!("`{path}` has no `{word}`")),
        _ => None,
    }
}

/// Returns whether an end-to-end test file is part of a program. One that no other file names would never be compiled.
fn is_compiled(path: &str) -> bool {
    let Some(name) = path.strip_prefix("tests/").and_then(|rest| rest.split(['.', '/']).next()) else { return true };
    let commands = std::fs::read_to_string(root().join("tests/commands.rs")).unwrap_or_default();
    let is_own = ["targets", "scan", "commands", "shows"].contains(&name);
    is_own || commands.lines().any(|line| line == format!("mod {name};"))
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(is_part)
            && !text[at + word.len()..].chars().next().is_some_and(is_part)
    })
}

#[test]
fn every_file_and_test_named_in_the_document_exists() {
    let document = std::fs::read_to_string(root().join("docs/papers.md")).expect("the document exists");
    let names = quoted(&document);
    assert!(names.iter().filter(|name| name.contains(".rs::")).count() > 20, "tests are named");
    let troubles: Vec<String> = names.into_iter().filter_map(trouble).collect();
    assert!(troubles.is_empty(), "{}", troubles.join("\n"));
}

#[test]
fn missing_names_are_noticed() {
    assert!(trouble("tests/papers.rs::no_such_test").is_some());
    assert!(trouble("tests/papers.rs#no_such_word_").is_none(), "the word occurs in this line");
    assert!(trouble("crates/abi/src/lib.rs#path_off").is_some());
    assert!(trouble("crates/no/such/file.rs").is_some());
    assert!(is_compiled("tests/papers.rs") && is_compiled("crates/abi/src/lib.rs"));
    assert!(!is_compiled("tests/schema/main.rs") && !is_compiled("tests/no_such_file.rs"));
    assert_eq!(trouble("--detector"), None);
}
