//! The formats for programs: JSON lines, and SARIF checked against the rules of its standard.

use super::findings::{all, coverage, data_race, uncontrolled};
use super::{reporter, text};
use racehunter_finding::{Coverage, Finding, Kind};
use racehunter_report::{Bound, Format, Verdict};
use serde_json::Value;
use std::collections::HashSet;
use std::time::Duration;

/// Reports everything there is to report, in one format.
fn everything(format: Format) -> String {
    let mut reporter = reporter(format);
    for (_, finding) in all() {
        reporter.finding(&finding).expect("written");
    }
    for kind in Kind::ALL {
        reporter.finding(&Finding { kind, ..data_race() }).expect("written");
    }
    let suppressed = Some("a \"known\" one\n<tag>".to_owned());
    reporter.finding(&Finding { suppressed, ..data_race() }).expect("written");
    for (variables, threads) in [(None, None), (Some(1), Some(2))] {
        let bound = Bound { bound: 1, variables, threads, iterations: threads, executions: 57, complete: true };
        reporter.bound(&bound).expect("written");
    }
    let chance = Some("at least 0.5".to_owned());
    let coverage = Coverage { uncontrolled: uncontrolled(), chance, ..coverage() };
    reporter.summary(&coverage, Duration::from_millis(840)).expect("written");
    text(reporter)
}

/// The end-to-end tests compare this snapshot with the schema in the documentation.
#[test]
fn json_lines_of_everything() {
    insta::assert_snapshot!(everything(Format::Json));
}

fn sarif() -> Value {
    serde_json::from_str(&everything(Format::Sarif)).expect("one JSON document")
}

/// Calls `check` with the path and value of each node.
fn visit(value: &Value, path: &str, check: &mut impl FnMut(&str, &Value)) {
    check(path, value);
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| visit(value, &format!("{path}/{name}"), check)),
        Value::Array(items) => items.iter().for_each(|item| visit(item, path, check)),
        _ => {}
    }
}

/// The rules of SARIF 2.1.0 that concern what we write: required properties, values that are allowed, references.
#[test]
fn sarif_keeps_to_the_standard() {
    check_sarif(&sarif());
    check_sarif(&scanned());
}

/// Returns the log of a scan that shows a race, suspects another and does not model something.
fn scanned() -> Value {
    let mut reporter = reporter(Format::Sarif);
    reporter.finding(&data_race()).expect("written");
    let suspected = Finding { confirmed: false, execution: 0, replayed: [0, 0], steps: Vec::new(), ..data_race() };
    reporter.finding(&suspected).expect("written");
    reporter.verdict(&verdict(), Duration::from_millis(40)).expect("written");
    serde_json::from_str(&text(reporter)).expect("one JSON document")
}

fn verdict() -> Verdict {
    Verdict {
        word: "unknown",
        tier: None,
        why: "not modelled: a call of `f`".to_owned(),
        candidates: 1,
        gaps: vec!["a call of `f` (a.c:3)".to_owned()],
        threads: 2,
    }
}

#[test]
fn what_is_suspected_cannot_be_replayed() {
    let log = scanned();
    let results = log["runs"][0]["results"].as_array().expect("results");
    assert!(results[0]["properties"]["replay"].is_string() && results[0]["level"] == "error");
    assert!(results[1]["properties"]["replay"].is_null() && results[1]["level"] == "warning", "{}", results[1]);
    assert_eq!(log["runs"][0]["properties"]["verdict"], "unknown");
    let notices = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"];
    assert_eq!(notices[1]["message"]["text"], "not modelled: a call of `f` (a.c:3)");
    let said = |format: Format| {
        let mut reporter = reporter(format);
        reporter.verdict(&verdict(), Duration::from_millis(40)).expect("written");
        text(reporter)
    };
    let sentence = "unknown, 1 pair suspected: not modelled: a call of `f`";
    assert_eq!(said(Format::Short), format!("note[not-modelled]: a call of `f` (a.c:3)\nverdict: {sentence}\n"));
    assert!(said(Format::Github).ends_with(&format!("::notice title=RaceHunter::{sentence}\n")));
    assert_eq!(said(Format::Human), "   Verdict unknown [0.0s]\n   Because not modelled: a call of `f`\n");
}

fn check_sarif(log: &Value) {
    assert_eq!(log["version"], "2.1.0");
    assert_eq!(log["runs"].as_array().map(Vec::len), Some(1));
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    let ids: HashSet<&str> = rules.iter().filter_map(|rule| rule["id"].as_str()).collect();
    assert_eq!(ids.len(), rules.len(), "ids of rules are unique");
    for result in run["results"].as_array().expect("results") {
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("small");
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(["error", "warning"].contains(&result["level"].as_str().expect("a level")));
        for flow in result["codeFlows"].as_array().into_iter().flatten() {
            check_flow(flow);
        }
        let ids: Vec<&Value> =
            result["relatedLocations"].as_array().into_iter().flatten().map(|of| &of["id"]).collect();
        assert_eq!(ids.iter().map(|id| id.as_u64()).collect::<HashSet<_>>().len(), ids.len());
    }
    visit(log, "", &mut |path, value| match path.rsplit('/').next().unwrap_or_default() {
        "message" | "shortDescription" | "fullDescription" => {
            assert!(value["text"].as_str().is_some_and(|text| !text.is_empty()), "{path}: {value}");
        }
        "physicalLocation" => assert!(value["artifactLocation"]["uri"].is_string(), "{path}"),
        "artifactLocation" => {
            let uri = value["uri"].as_str().expect("an address");
            let is_relative = value["uriBaseId"].is_string();
            assert_eq!(is_relative, !uri.contains("://") && !uri.starts_with('/'), "{uri}");
            assert!(uri.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"{}|\\^`".contains(&byte)), "{uri}");
            if let Some(base) = value["uriBaseId"].as_str() {
                assert!(run["originalUriBaseIds"][base].is_object(), "{base} is not defined");
            }
        }
        "startLine" | "startColumn" => assert!(value.as_u64().is_some_and(|number| number >= 1), "{path}"),
        "threadFlows" | "frames" | "locations" => {
            assert!(!value.is_array() || value.as_array().is_some_and(|items| !items.is_empty()), "{path}");
        }
        _ => assert!(!value.is_null(), "{path} is null"),
    });
}

/// One flow per thread, and the steps of all of them in order are the interleaving.
fn check_flow(flow: &Value) {
    let flows = flow["threadFlows"].as_array().expect("flows");
    let ids: HashSet<&str> = flows.iter().map(|flow| flow["id"].as_str().expect("an id")).collect();
    assert_eq!(ids.len(), flows.len());
    let mut order: Vec<u64> = Vec::new();
    for flow in flows {
        let steps = flow["locations"].as_array().expect("steps");
        let own: Vec<u64> = steps.iter().map(|step| step["executionOrder"].as_u64().expect("a number")).collect();
        assert!(own.is_sorted(), "steps of a thread are in their order: {own:?}");
        for step in steps {
            let importance = step["importance"].as_str().expect("a word");
            assert!(["essential", "important", "unimportant"].contains(&importance));
        }
        order.extend(own);
    }
    order.sort_unstable();
    assert!((1..).zip(&order).all(|(expected, number)| expected == *number), "all steps, once each: {order:?}");
}

#[test]
fn sarif_tells_what_is_suppressed_and_why() {
    let log = sarif();
    let results = log["runs"][0]["results"].as_array().expect("results");
    let suppressed: Vec<&Value> = results.iter().filter(|result| result["suppressions"].is_array()).collect();
    let [only] = suppressed.as_slice() else { panic!("one is suppressed") };
    assert_eq!(only["suppressions"][0]["kind"], "external");
    assert!(only["suppressions"][0]["justification"].as_str().is_some_and(|text| text.contains("known")));
}

/// The same bug under another schedule, at other addresses, has the same fingerprint and the same message.
#[test]
fn sarif_fingerprints_do_not_depend_on_the_execution() {
    let fingerprint = |finding: &Finding| {
        let mut reporter = reporter(Format::Sarif);
        reporter.finding(finding).expect("written");
        reporter.finish().expect("written");
        let log: Value = serde_json::from_str(&text(reporter)).expect("JSON");
        log["runs"][0]["results"][0]["partialFingerprints"].clone()
    };
    let mut other = data_race();
    other.execution = 7;
    other.preemptions = 3;
    other.steps.truncate(2);
    assert_eq!(fingerprint(&data_race()), fingerprint(&other));
    assert_eq!(fingerprint(&data_race())["racehunter/v1"], "7f3a0c11");
}
