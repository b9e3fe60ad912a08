//! JUnit XML, as CI systems read it: tests that passed, failed, or were skipped.

use std::fmt::Write as _;
use std::time::Duration;

use racehunter_finding::{Coverage, Finding};

use crate::short::{explored, place, unclear};
use crate::text::clean;
use crate::{Told, Verdict};

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Nothing was found.
    Passed,
    /// Something was found: one text each, whose first line says what it is.
    Failed(Vec<String>),
    /// It could not be hunted, or finding nothing is inconclusive, for this reason.
    Error(String),
    /// There is nothing to hunt, for this reason.
    Skipped(String),
}

/// One test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// The suite that it belongs to.
    pub suite: String,
    /// Its name.
    pub name: String,
    /// Its duration.
    pub elapsed: Duration,
    /// How it ended.
    pub ending: Ending,
}

/// Returns all tests as one file, suite by suite.
#[must_use]
pub fn file(tests: &[Test]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Jenkins' schema allows no number of skipped tests here.
    let _ = writeln!(out, "<testsuites name=\"racehunter\"{}>", totals(tests.iter(), false));
    let mut suites: Vec<&str> = Vec::new();
    for test in tests {
        if !suites.contains(&test.suite.as_str()) {
            suites.push(&test.suite);
        }
    }
    for suite in suites {
        let own = || tests.iter().filter(|test| test.suite == suite);
        let _ = writeln!(out, "  <testsuite name=\"{}\"{}>", escape(suite), totals(own(), true));
        own().for_each(|test| case(&mut out, test));
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn totals<'t>(tests: impl Iterator<Item = &'t Test> + Clone, has_skipped: bool) -> String {
    let number = |is: fn(&Ending) -> bool| tests.clone().filter(|test| is(&test.ending)).count();
    let seconds: f64 = tests.clone().map(|test| test.elapsed.as_secs_f64()).sum();
    let skipped = number(|ending| matches!(ending, Ending::Skipped(_)));
    let skipped = if has_skipped { format!(" skipped=\"{skipped}\"") } else { String::new() };
    format!(
        " tests=\"{}\" failures=\"{}\" errors=\"{}\"{skipped} time=\"{seconds:.3}\"",
        tests.clone().count(),
        number(|ending| matches!(ending, Ending::Failed(_))),
        number(|ending| matches!(ending, Ending::Error(_))),
    )
}

fn case(out: &mut String, Test { suite, name, elapsed, ending }: &Test) {
    let seconds = elapsed.as_secs_f64();
    let _ =
        write!(out, "    <testcase classname=\"{}\" name=\"{}\" time=\"{seconds:.3}\"", escape(suite), escape(name));
    let inside = match ending {
        Ending::Passed => {
            out.push_str("/>\n");
            return;
        }
        Ending::Failed(lines) => {
            let first = lines.iter().flat_map(|text| text.lines()).next().unwrap_or_default();
            let all: Vec<String> = lines.iter().flat_map(|text| text.lines()).map(escape).collect();
            format!("<failure message=\"{}\" type=\"finding\">{}</failure>", escape(first), all.join("\n"))
        }
        Ending::Error(why) => format!("<error message=\"{}\" type=\"unclear\"/>", escape(why)),
        Ending::Skipped(why) => format!("<skipped message=\"{}\"/>", escape(why)),
    };
    let _ = writeln!(out, ">\n      {inside}\n    </testcase>");
}

const HUNT: &str = "racehunter hunt";

/// Returns a hunt as tests: one for each finding, and one for the hunt if no finding counts. A hunt without findings
/// has passed, unless its result is inconclusive or the command fails for another reason.
pub(crate) fn hunt(findings: &[Finding], coverage: Option<(&Coverage, Duration)>, failure: Option<&str>) -> String {
    // The first test gets the time of the hunt, because readers add the times up.
    let mut elapsed = coverage.map_or(Duration::ZERO, |(_, elapsed)| elapsed);
    let mut test = |name: String, ending: Ending| Test {
        suite: HUNT.to_owned(),
        name,
        elapsed: std::mem::take(&mut elapsed),
        ending,
    };
    let mut tests: Vec<Test> = Vec::new();
    for finding in findings {
        let line = line(finding);
        let ending = match (&finding.suppressed, finding.confirmed) {
            (Some(reason), _) => Ending::Skipped(format!("suppressed: {reason}")),
            (None, true) => Ending::Failed(vec![line]),
            (None, false) => Ending::Skipped(format!("not confirmed: {line}")),
        };
        tests.push(test(format!("{} {}", finding.kind.name(), finding.id), ending));
    }
    if let Some((coverage, _)) = coverage.filter(|_| !findings.iter().any(Finding::counts)) {
        let told = Told::of(findings.iter());
        let failure = || failure.map(str::to_owned);
        let ending = unclear(coverage).or_else(failure).map_or(Ending::Passed, Ending::Error);
        tests.push(test(explored(coverage, told), ending));
    }
    file(&tests)
}

/// Returns a hunt that had nothing to hunt.
pub(crate) fn nothing(why: &str, failed: bool) -> String {
    let why = why.to_owned();
    let ending = if failed { Ending::Error(why) } else { Ending::Skipped(why) };
    file(&[Test { suite: HUNT.to_owned(), name: "hunt".to_owned(), elapsed: Duration::ZERO, ending }])
}

/// Returns a scan as tests: its findings, and the verdict.
pub(crate) fn scan(findings: &[Finding], verdict: &Verdict, elapsed: Duration) -> String {
    let test = |name: String, ending: Ending| Test { suite: "racehunter scan".to_owned(), name, elapsed, ending };
    let found = findings.iter().filter(|finding| finding.counts());
    let mut tests: Vec<Test> = found
        .map(|finding| test(format!("{} {}", finding.kind.name(), finding.id), Ending::Failed(vec![line(finding)])))
        .collect();
    let ending = match verdict.word {
        "race-free" => Ending::Passed,
        "race" => Ending::Failed(vec![verdict.sentence()]),
        _ => Ending::Error(verdict.sentence()),
    };
    tests.push(test("verdict".to_owned(), ending));
    file(&tests)
}

fn line(finding: &Finding) -> String {
    let place = finding.sites.first().map_or_else(|| "??".to_owned(), place);
    failure(&format!("{place}: "), finding.kind.name(), &finding.message, &finding.id, finding.cause.as_deref())
}

/// Returns the text of a finding, for people who see nothing else of it. `place` ends with a colon, unless it is empty.
#[must_use]
pub fn failure(place: &str, kind: &str, message: &str, id: &str, cause: Option<&str>) -> String {
    let cause = cause.map_or_else(String::new, |cause| format!("\n  cause: {cause}"));
    format!("{place}{kind}: {message} [{id}]{cause}")
}

/// Text in an attribute or element.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for letter in clean(text).chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML does not allow these two characters.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hunt_passes_only_where_the_command_succeeds() {
        let coverage = Coverage::default();
        let counts = |text: &str| {
            let number =
                |name: &str| text.split(name).nth(1).and_then(|rest| rest.split('"').nth(1)).map(str::to_owned);
            ["errors=", "skipped="].map(|name| number(name).unwrap())
        };
        let hunt = |coverage: &Coverage, failure| hunt(&[], Some((coverage, Duration::ZERO)), failure);
        assert_eq!(counts(&hunt(&coverage, None)), ["0", "0"]);
        assert_eq!(counts(&hunt(&coverage, Some("interrupted"))), ["1", "0"]);
        let unclear = Coverage { unclear: vec!["no execution completed".to_owned()], ..coverage };
        assert_eq!(counts(&hunt(&unclear, None)), ["1", "0"]);
        assert_eq!(counts(&nothing("it has no threads", false)), ["0", "1"]);
        assert_eq!(counts(&nothing("it ended with status 1", true)), ["1", "0"]);
    }

    #[test]
    fn every_ending_has_its_form() {
        let test = |name: &str, ending: Ending| Test {
            suite: "queue".to_owned(),
            name: name.to_owned(),
            elapsed: Duration::from_millis(1500),
            ending,
        };
        let text = file(&[
            test("pops", Ending::Passed),
            test(
                "a<b & \"c\"",
                Ending::Failed(vec!["a.c:3: data race\x1b\n  cause: c".to_owned(), "b.c:4".to_owned()]),
            ),
            test("waits", Ending::Error("nothing completed".to_owned())),
            test("plain", Ending::Skipped("no threads".to_owned())),
        ]);
        assert_eq!(
            text,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"racehunter\" tests=\"4\" failures=\"1\" errors=\"1\" time=\"6.000\">
  <testsuite name=\"queue\" tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\" time=\"6.000\">
    <testcase classname=\"queue\" name=\"pops\" time=\"1.500\"/>
    <testcase classname=\"queue\" name=\"a&lt;b &amp; &quot;c&quot;\" time=\"1.500\">
      <failure message=\"a.c:3: data race\u{fffd}\" type=\"finding\">a.c:3: data race\u{fffd}\n  cause: c\nb.c:4</failure>
    </testcase>
    <testcase classname=\"queue\" name=\"waits\" time=\"1.500\">
      <error message=\"nothing completed\" type=\"unclear\"/>
    </testcase>
    <testcase classname=\"queue\" name=\"plain\" time=\"1.500\">
      <skipped message=\"no threads\"/>
    </testcase>
  </testsuite>
</testsuites>
"
        );
    }
}
