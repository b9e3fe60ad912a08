//! Results as JUnit XML, which continuous integration systems read.

use crate::harness::Test;
use crate::hunts::{Hunted, Verdict};
use std::fmt::Write as _;

/// Returns one document, with a suite for each program.
pub fn document(tests: &[Test], results: &[(String, Hunted)]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"racehunter\">\n");
    let mut suites: Vec<String> = tests.iter().map(|test| test.program.title()).collect();
    suites.dedup();
    for suite in suites {
        let of = |test: &&Test| test.program.title() == suite;
        let cases: Vec<(&Test, &Hunted)> = tests
            .iter()
            .filter(of)
            .filter_map(|test| Some((test, &results.iter().find(|(title, _)| *title == test.title())?.1)))
            .collect();
        let number = |is: fn(&Verdict) -> bool| cases.iter().filter(|(_, hunted)| is(&hunted.verdict)).count();
        let failures = number(|verdict| matches!(verdict, Verdict::Found | Verdict::Failed(_)));
        let errors = number(|verdict| matches!(verdict, Verdict::Trouble(_)));
        let _ = writeln!(
            text,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\">",
            escape(&suite),
            cases.len()
        );
        for (test, hunted) in cases {
            case(&mut text, test, hunted);
        }
        text += "  </testsuite>\n";
    }
    text + "</testsuites>\n"
}

fn case(text: &mut String, test: &Test, hunted: &Hunted) {
    let name = test.name.as_deref().unwrap_or(&test.program.name);
    let _ = write!(
        text,
        "    <testcase name=\"{}\" classname=\"{}\" time=\"{:.3}\">",
        escape(name),
        escape(&test.program.title()),
        hunted.elapsed.as_secs_f64()
    );
    match &hunted.verdict {
        Verdict::Proved(_) | Verdict::Clean => {}
        Verdict::Skipped => *text += "<skipped message=\"no threads of its own\"/>",
        Verdict::Unclear(why) => {
            let _ = write!(text, "<skipped message=\"{}\"/>", escape(why));
        }
        Verdict::Trouble(why) => {
            let _ = write!(text, "<error message=\"{}\"/>", escape(why));
        }
        Verdict::Failed(said) => {
            let _ = write!(text, "<failure message=\"failed\">{}</failure>", escape(said));
        }
        Verdict::Found => {
            let findings = hunted.lines.iter().filter(|line| line["reason"] == "finding" && line["confirmed"] == true);
            for line in findings {
                let of = |name: &str| escape(line[name].as_str().unwrap_or_default());
                let _ = write!(
                    text,
                    "<failure type=\"{}\" message=\"{}\">cargo racehunter replay {}</failure>",
                    of("kind"),
                    of("message"),
                    of("id")
                );
            }
        }
    }
    *text += "</testcase>\n";
}

/// Escapes text for XML; characters that XML does not allow are left out.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' => escaped += "&#10;",
            '\t' => escaped.push(letter),
            letter if letter.is_control() => {}
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Program;
    use serde_json::json;
    use std::time::Duration;

    #[test]
    fn has_a_case_for_each_test() {
        let program = Program {
            package: "queue".to_owned(),
            name: "queue".to_owned(),
            kind: "lib".to_owned(),
            is_test: true,
            path: "/p".into(),
            directory: "/".into(),
        };
        let test = |name: &str| Test { program: program.clone(), name: Some(name.to_owned()), ignored: false };
        let hunted = |verdict| Hunted {
            verdict,
            lines: vec![
                json!({"reason": "finding", "confirmed": true, "kind": "data-race", "message": "a < b", "id": "7f"}),
            ],
            findings: vec!["7f".to_owned()],
            executions: 3,
            threads: 2,
            unseen: Vec::new(),
            elapsed: Duration::from_millis(1500),
        };
        let tests = [test("pop"), test("new")];
        let results =
            [("queue new".to_owned(), hunted(Verdict::Skipped)), ("queue pop".to_owned(), hunted(Verdict::Found))];
        let text = document(&tests, &results);
        assert!(text.contains(r#"<testsuite name="queue" tests="2" failures="1" errors="0">"#), "{text}");
        assert!(
            text.contains(r#"<failure type="data-race" message="a &lt; b">cargo racehunter replay 7f</failure>"#),
            "{text}"
        );
        assert!(text.contains(r#"<testcase name="new" classname="queue" time="1.500"><skipped"#), "{text}");
    }

    #[test]
    fn leaves_out_what_xml_cannot_have() {
        assert_eq!(escape("a\u{1b}[0m & \"b\""), "a[0m &amp; &quot;b&quot;");
    }
}
