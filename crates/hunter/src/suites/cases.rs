//! Test programs and their cases: GoogleTest, Catch2, CTest, or a program that is one test.

use super::SuiteError;
use crate::{Error, files};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The test framework of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framework {
    /// Recognise it by the symbols of the program.
    Auto,
    /// GoogleTest.
    Gtest,
    /// Catch2.
    Catch2,
    /// The program is one test.
    Plain,
}

/// A test that is hunted on its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The program, or the suite that CTest has it in.
    pub suite: String,
    /// Its name there.
    pub name: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its working directory, if it is not the current one.
    pub directory: Option<PathBuf>,
    /// Additional environment variables.
    pub environment: Vec<(String, String)>,
    /// The exit status that means "skipped".
    pub skips_with: Option<i64>,
    /// Why the result of a hunt could differ from that of the suite.
    pub obstacle: Option<String>,
}

/// Returns the cases of a program.
///
/// # Errors
/// If the program does not exist, cannot list its cases, or has none.
pub fn of_program(program: &Path, framework: Framework, arguments: &[String]) -> Result<Vec<Case>, Error> {
    let program = &program.canonicalize().map_err(|source| SuiteError::Missing(program.to_path_buf(), source))?;
    let found = match framework {
        Framework::Auto => look_into(program)?,
        named => named,
    };
    let suite = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let case = |name: String, selects: Option<String>| Case {
        suite: suite.clone(),
        name,
        program: program.clone(),
        arguments: selects.into_iter().chain(arguments.iter().cloned()).collect(),
        directory: None,
        environment: Vec::new(),
        skips_with: None,
        obstacle: None,
    };
    let cases: Vec<Case> = match found {
        Framework::Gtest => {
            let names = gtest(&listed(program, &["--gtest_list_tests"])?);
            names.into_iter().map(|name| case(name.clone(), Some(format!("--gtest_filter={name}")))).collect()
        }
        Framework::Catch2 => {
            // Catch2 2 exits with the number of tests; version 3 does not know this option.
            let old = asked(program, &["--list-test-names-only"])?;
            let old = String::from_utf8_lossy(&old.stdout).into_owned();
            let names = match catch2(&old) {
                names if names.is_empty() || old.contains("Error(s) in input") => {
                    catch2(&listed(program, &["--list-tests", "--verbosity", "quiet"])?)
                }
                names => names,
            };
            names.into_iter().map(|name| case(name.clone(), Some(catch2_selector(&name)))).collect()
        }
        Framework::Plain | Framework::Auto => vec![case(suite.clone(), None)],
    };
    if cases.is_empty() { Err(SuiteError::Empty(program.clone()).into()) } else { Ok(cases) }
}

/// Returns the tests that CTest knows in a build directory.
///
/// # Errors
/// If CTest cannot list them, or there are none.
pub fn of_ctest(directory: &Path) -> Result<Vec<Case>, Error> {
    let ended = Command::new("ctest")
        .arg("--test-dir")
        .arg(directory)
        .arg("--show-only=json-v1")
        .output()
        .map_err(|source| SuiteError::Start("ctest".to_owned(), source))?;
    if !ended.status.success() {
        let why = String::from_utf8_lossy(&ended.stderr).into_owned();
        return Err(SuiteError::CTest(directory.to_path_buf(), why).into());
    }
    // `.` has no name of its own.
    let whole = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_path_buf());
    let suite = whole.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let cases = ctest(&ended.stdout, &suite).map_err(SuiteError::CTestFormat)?;
    if cases.is_empty() { Err(SuiteError::CTestEmpty(directory.to_path_buf()).into()) } else { Ok(cases) }
}

/// Returns the test framework of a program, by its symbols.
fn look_into(program: &Path) -> Result<Framework, Error> {
    let bytes = files::read(program).map_err(Error::file("read", program))?;
    let has = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    Ok(match () {
        () if has("gtest_list_tests") || has("_ZN7testing8internal") => Framework::Gtest,
        () if has("_ZN5Catch") => Framework::Catch2,
        () => Framework::Plain,
    })
}

/// Runs a program that lists its tests, without control.
fn asked(program: &Path, words: &[&str]) -> Result<Output, SuiteError> {
    let ended = Command::new(program).args(words).stdin(Stdio::null()).output();
    ended.map_err(|source| SuiteError::Start(program.display().to_string(), source))
}

/// Returns the output of a program that lists its tests.
fn listed(program: &Path, words: &[&str]) -> Result<String, SuiteError> {
    let ended = asked(program, words)?;
    if !ended.status.success() {
        return Err(SuiteError::Failed(format!("{} {}", program.display(), words.join(" ")), ended.status));
    }
    Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
}

/// Returns the names in GoogleTest's list: suites end with a dot, their cases are indented. Disabled ones are left out.
fn gtest(listed: &str) -> Vec<String> {
    let mut suite = None;
    let mut names = Vec::new();
    for line in listed.lines() {
        let plain = line.split("  #").next().unwrap_or_default();
        let is_case = plain.starts_with("  ");
        let name = plain.trim();
        match &suite {
            Some(suite) if is_case && !name.is_empty() => names.push(format!("{suite}{name}")),
            _ if !is_case && name.ends_with('.') && !name.contains(' ') => suite = Some(name.to_owned()),
            _ => {}
        }
    }
    names.retain(|name| !name.split(['.', '/']).any(|part| part.starts_with("DISABLED_")));
    names
}

/// Returns the names in Catch2's list, one per line.
fn catch2(listed: &str) -> Vec<String> {
    listed.lines().map(str::trim_end).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Escapes a name for Catch2's test selection.
fn catch2_selector(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if matches!(letter, '\\' | ',' | '[' | ']' | '*' | '"' | '~') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

#[derive(Deserialize)]
struct Listed {
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    name: String,
    #[serde(default)]
    command: Vec<String>,
    #[serde(default)]
    properties: Vec<Property>,
}

#[derive(Deserialize)]
struct Property {
    name: String,
    value: serde_json::Value,
}

/// Properties by which CTest decides what an outcome means, or what has to come first.
const DECIDING: [&str; 8] = [
    "WILL_FAIL",
    "PASS_REGULAR_EXPRESSION",
    "FAIL_REGULAR_EXPRESSION",
    "SKIP_REGULAR_EXPRESSION",
    "ENVIRONMENT_MODIFICATION",
    "FIXTURES_REQUIRED",
    "REQUIRED_FILES",
    "TIMEOUT_AFTER_MATCH",
];

/// What `gtest_discover_tests` sets `SKIP_REGULAR_EXPRESSION` to. A GoogleTest program that skips a test ends with 0.
const SKIPPED_BY_GTEST: &str = r"\[  SKIPPED \]";

/// Returns true if a property changes what an outcome means.
fn decides(property: &Property) -> bool {
    let is_of_gtest = |text: &serde_json::Value| text == SKIPPED_BY_GTEST;
    match &property.value {
        serde_json::Value::Bool(false) => false,
        serde_json::Value::Array(texts) if property.name == "SKIP_REGULAR_EXPRESSION" => !texts.iter().all(is_of_gtest),
        text if property.name == "SKIP_REGULAR_EXPRESSION" => !is_of_gtest(text),
        _ => true,
    }
}

/// Returns the tests in CTest's list. A test that was not built has no command.
fn ctest(listed: &[u8], suite: &str) -> Result<Vec<Case>, serde_json::Error> {
    let listed: Listed = serde_json::from_slice(listed)?;
    let case = |test: Test| {
        let property = |name: &str| test.properties.iter().find(|property| property.name == name);
        if property("DISABLED").is_some_and(|disabled| disabled.value == true) {
            return None;
        }
        let directory = property("WORKING_DIRECTORY").and_then(|place| place.value.as_str()).map(PathBuf::from);
        let variable = |text: &serde_json::Value| {
            text.as_str().and_then(|text| text.split_once('=')).map(|(name, value)| (name.to_owned(), value.to_owned()))
        };
        let variables = property("ENVIRONMENT").and_then(|all| all.value.as_array()).into_iter().flatten();
        let environment = variables.filter_map(variable).collect();
        let skips_with = property("SKIP_RETURN_CODE").and_then(|status| status.value.as_i64());
        let deciding = DECIDING.iter().find(|name| property(name).is_some_and(decides));
        let obstacle = match test.command.split_first() {
            None => Some("CTest has no command for it; it was not built".to_owned()),
            Some(_) => deciding.map(|name| format!("CTest judges it by {name}, which a hunt does not know")),
        };
        let mut words = test.command.into_iter();
        let (program, arguments) = (PathBuf::from(words.next().unwrap_or_default()), words.collect());
        let (suite, name) = (suite.to_owned(), test.name);
        Some(Case { suite, name, program, arguments, directory, environment, skips_with, obstacle })
    };
    Ok(listed.tests.into_iter().filter_map(case).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_of_googletest() {
        let listed = "Running main() from gtest_main.cc\nQueue.\n  Pops\n  DISABLED_Waits\nSizes/Pool.\n  Works/0  # GetParam() = 1\n  \
                      Works/1  # GetParam() = \"a b\"\nDISABLED_Old.\n  Case\n";
        assert_eq!(gtest(listed), ["Queue.Pops", "Sizes/Pool.Works/0", "Sizes/Pool.Works/1"]);
        assert!(gtest("nothing of the kind\n").is_empty());
    }

    #[test]
    fn cases_of_catch2() {
        assert_eq!(catch2("pops, then waits\nempty\n\n"), ["pops, then waits", "empty"]);
        assert_eq!(catch2_selector("a, b [c]*"), "a\\, b \\[c\\]\\*");
    }

    #[test]
    fn cases_of_ctest() {
        let listed = br#"{ "kind": "ctestInfo", "tests": [
            { "name": "queue", "command": ["/b/queue", "--fast"],
              "properties": [{ "name": "WORKING_DIRECTORY", "value": "/b" }, { "name": "TIMEOUT", "value": 3.5 }] },
            { "name": "off", "command": ["/b/off"], "properties": [{ "name": "DISABLED", "value": true }] },
            { "name": "not built" },
            { "name": "fails", "command": ["/b/fails"], "properties": [{ "name": "WILL_FAIL", "value": true }] },
            { "name": "gtest", "command": ["/b/gtest"],
              "properties": [{ "name": "SKIP_REGULAR_EXPRESSION", "value": ["\\[  SKIPPED \\]"] }] },
            { "name": "words", "command": ["/b/words"],
              "properties": [{ "name": "SKIP_REGULAR_EXPRESSION", "value": ["\\[  SKIPPED \\]", "not here"] }] },
            { "name": "skips", "command": ["/b/skips"], "properties": [{ "name": "SKIP_RETURN_CODE", "value": 77 },
              { "name": "ENVIRONMENT", "value": ["LIMIT=a=b"] }] } ] }"#;
        let cases = ctest(listed, "build").expect("good");
        let names: Vec<(&str, bool)> = cases.iter().map(|case| (case.name.as_str(), case.obstacle.is_some())).collect();
        assert_eq!(
            names,
            [
                ("queue", false),
                ("not built", true),
                ("fails", true),
                ("gtest", false),
                ("words", true),
                ("skips", false)
            ]
        );
        assert_eq!(cases[5].environment, [("LIMIT".to_owned(), "a=b".to_owned())]);
        assert_eq!(cases[5].skips_with, Some(77));
        assert_eq!((cases[0].name.as_str(), cases[0].arguments.as_slice()), ("queue", &["--fast".to_owned()][..]));
        assert_eq!(cases[0].directory.as_deref(), Some(Path::new("/b")));
        assert!(ctest(b"[]", "build").is_err());
    }
}
