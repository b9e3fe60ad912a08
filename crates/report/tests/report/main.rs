//! Output for people and scripts.

mod contracts;
mod findings;
mod page;

use std::path::Path;
use std::time::Duration;

use findings::{all, coverage, data_race, deadlock, step, threads, uncontrolled, use_after_free};
use racehunter_finding::{Coverage, Finding, Kind};
use racehunter_report::{Bound, Format, Reporter};
use serde_json::{Value, json};

fn reporter(format: Format) -> Reporter<Vec<u8>> {
    Reporter::new(Vec::new(), format).source_root(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/project"))
}

fn text(reporter: Reporter<Vec<u8>>) -> String {
    String::from_utf8(reporter.into_inner()).expect("text")
}

fn report(finding: &Finding, format: Format) -> String {
    let mut reporter = reporter(format);
    reporter.finding(finding).and_then(|()| reporter.finish()).expect("written");
    text(reporter)
}

fn wide(finding: &Finding, width: usize) -> String {
    let mut reporter = reporter(Format::Human).width(width);
    reporter.finding(finding).expect("written");
    text(reporter)
}

#[test]
fn each_kind_in_each_format() {
    for (name, finding) in all() {
        for format in Format::ALL {
            let mut text = report(&finding, format);
            if format == Format::Sarif {
                // The rules are the same each time, and have a separate test.
                let mut log: Value = serde_json::from_str(&text).expect("JSON");
                log["runs"][0]["tool"]["driver"]["rules"] = json!([]);
                text = format!("{log:#}");
            }
            insta::assert_snapshot!(format!("{name}_{}", format.name()), text);
        }
    }
}

/// Findings are read from files: any file that contains a finding can be printed.
#[test]
fn no_finding_makes_it_panic() {
    let mut random = 1_u64;
    let mut below = |limit: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % limit
    };
    let mut told = 0;
    for (_, finding) in all() {
        let good = serde_json::to_string(&finding).expect("JSON");
        for _ in 0..60 {
            let mut bytes = good.clone().into_bytes();
            for _ in 0..1 + below(4) {
                let digits: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at].is_ascii_digit()).collect();
                match below(3) {
                    // Replace a digit or a letter.
                    0 if !digits.is_empty() => {
                        let at = digits[below(digits.len())];
                        bytes.splice(at..=at, ["0", "9", "4294967295", "99"][below(4)].bytes());
                    }
                    1 => drop(bytes.remove(below(bytes.len()))),
                    _ => {
                        let at = below(bytes.len());
                        bytes[at] = b"a0 <&'\t"[below(7)];
                    }
                }
            }
            let Ok(finding) = serde_json::from_slice::<Finding>(&bytes) else { continue };
            told += 1;
            for format in Format::ALL {
                report(&finding, format);
            }
            wide(&finding, 30);
        }
    }
    assert!(told > 40, "{told}");
}

#[test]
fn colours() {
    let mut reporter = reporter(Format::Human).color(true);
    reporter.finding(&data_race()).expect("written");
    reporter.summary(&coverage(), Duration::from_millis(12_940)).expect("written");
    let text = text(reporter);
    insta::assert_snapshot!(text.replace('\u{1b}', "ESC"));
    // Without colours, the text is the same.
    let mut plain = self::reporter(Format::Human);
    plain.finding(&data_race()).expect("written");
    plain.summary(&coverage(), Duration::from_millis(12_940)).expect("written");
    assert_eq!(anstream::adapter::strip_str(&text).to_string(), self::text(plain));
}

#[test]
fn summaries() {
    let mut out = String::new();
    let stopped = Coverage {
        complete: false,
        finished: false,
        diverged: 2,
        timed_out: 1,
        executions: 1,
        guarantee: String::new(),
        assumes: Vec::new(),
        uncontrolled: uncontrolled(),
        ..coverage()
    };
    let half_blind = Coverage {
        complete: false,
        uncontrolled: uncontrolled().into_iter().filter(|what| what.what.is_unseen()).collect(),
        ..coverage()
    };
    for (coverage, findings) in [(coverage(), 0), (coverage(), 2), (stopped, 1), (half_blind, 0)] {
        for format in Format::ALL.into_iter().filter(|format| !matches!(format, Format::Sarif | Format::Junit)) {
            let mut quiet = reporter(format);
            for _ in 0..findings {
                quiet.finding(&data_race()).expect("written");
            }
            assert_eq!(quiet.findings(), findings);
            quiet.summary(&coverage, Duration::from_millis(12_940)).expect("written");
            let whole = text(quiet);
            let reported = report(&data_race(), format).repeat(usize::try_from(findings).expect("small"));
            out += &format!("--- {}\n{}", format.name(), whole.strip_prefix(&reported).expect("the findings first"));
        }
    }
    insta::assert_snapshot!(out);
}

#[test]
fn proved_is_said_only_of_complete_campaigns_without_findings() {
    let says = |coverage: &Coverage, findings: usize, format| {
        let mut reporter = reporter(format);
        for _ in 0..findings {
            reporter.finding(&data_race()).expect("written");
        }
        reporter.summary(coverage, Duration::ZERO).expect("written");
        text(reporter).to_lowercase().contains("proved")
    };
    for format in [Format::Human, Format::Short, Format::Github] {
        assert!(says(&coverage(), 0, format));
        assert!(!says(&coverage(), 1, format));
        assert!(!says(&Coverage { complete: false, finished: false, ..coverage() }, 0, format));
        let unclear = vec!["no execution completed".to_owned()];
        assert!(!says(&Coverage { unclear, ..coverage() }, 0, format));
    }
}

/// Returns the names and types of all fields, in order: `{a: number, b: [string]}`.
fn shape(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Array(items) => format!("[{}]", items.first().map_or_else(String::new, shape)),
        Value::Object(fields) => {
            let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}: {}", shape(value))).collect();
            format!("{{{}}}", fields.join(", "))
        }
    }
}

#[test]
fn json_keeps_its_contract() {
    let mut reporter = reporter(Format::Json);
    for (_, finding) in all() {
        reporter.finding(&finding).expect("written");
    }
    let bound = Bound { bound: 1, variables: None, threads: None, iterations: None, executions: 57, complete: true };
    reporter.bound(&bound).expect("written");
    reporter.summary(&coverage(), Duration::from_millis(840)).expect("written");
    let text = text(reporter);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(lines.len(), all().len() + 2);

    let promised = |line: &Value, fields: &[(&str, &str)]| {
        for (name, kind) in fields {
            assert_eq!(shape(&line[*name]), *kind, "{name} of {line}");
        }
    };
    for line in &lines[..all().len()] {
        promised(
            line,
            &[
                ("reason", "string"),
                ("id", "string"),
                ("kind", "string"),
                ("confirmed", "bool"),
                ("replayed", "[number]"),
                ("execution", "number"),
                ("preemptions", "number"),
                ("message", "string"),
                ("replay", "string"),
            ],
        );
        for site in line["sites"].as_array().expect("sites") {
            promised(
                site,
                &[
                    ("file", "string"),
                    ("line", "number"),
                    ("column", "number"),
                    ("function", "string"),
                    ("thread", "string"),
                    ("access", "string"),
                    ("size", "number"),
                ],
            );
            assert!(site["locks"].is_array() && site["stack"].is_array());
        }
    }
    let race = &lines[0];
    assert_eq!(race["replay"], json!("racehunter replay 7f3a0c11"));
    assert_eq!(race["sites"][1]["locks"], json!(["q->mu"]));
    assert_eq!(race["replayed"], json!([5, 5]));
    let bound = json!({"reason": "bound", "bound": 1, "executions": 57, "complete": true});
    assert_eq!(lines[all().len()], bound);
    let summary = lines.last().expect("a summary");
    let expected = json!({
        "reason": "summary", "executions": 312, "diverged": 0, "timed_out": 0, "complete": true,
        "guarantee": "all schedules with <= 2 preemptions over 14 points", "findings": 4, "points": 14, "threads": 3,
        "elapsed_ms": 840, "completed": 312, "unconfirmed": 1,
    });
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&summary[name], value, "{name}");
    }

    // The documented fields come first and in order, for people who read the JSON.
    let in_order = |line: &str, names: &[&str]| {
        let places: Vec<usize> =
            names.iter().map(|name| line.find(&format!("\"{name}\":")).expect("the field")).collect();
        assert!(places.is_sorted(), "{names:?} in {line}");
    };
    let first = text.lines().next().expect("a line");
    in_order(first, &["reason", "id", "kind", "confirmed", "replayed", "execution", "preemptions", "message", "sites"]);
    in_order(first, &["sites", "file", "line", "column", "function", "thread", "access", "size", "locks", "stack"]);
    let last = text.lines().last().expect("a line");
    in_order(
        last,
        &[
            "reason",
            "executions",
            "diverged",
            "timed_out",
            "complete",
            "guarantee",
            "findings",
            "points",
            "threads",
            "elapsed_ms",
        ],
    );
}

#[test]
fn every_kind_has_the_name_of_the_contract() {
    let kinds = [
        Kind::DataRace,
        Kind::Deadlock,
        Kind::Assertion,
        Kind::Crash,
        Kind::UseAfterFree,
        Kind::DoubleFree,
        Kind::Misuse,
        Kind::LostWakeup,
        Kind::Atomicity,
        Kind::ExitStatus,
        Kind::Output,
    ];
    for kind in kinds {
        let finding = Finding { kind, ..data_race() };
        let line: Value = serde_json::from_str(&report(&finding, Format::Json)).expect("an object");
        assert_eq!(line["kind"], serde_json::to_value(kind).expect("a name"));
        for format in [Format::Human, Format::Short, Format::Github] {
            assert!(report(&finding, format).contains(kind.name()));
        }
    }
}

/// Returns a finding with more threads than fit side by side.
fn crowd(number: u32) -> Finding {
    let mut finding = data_race();
    let entries: Vec<String> = (0..=number).map(|thread| format!("worker_with_a_long_name_{thread}")).collect();
    finding.threads = threads(&entries.iter().map(String::as_str).collect::<Vec<_>>());
    finding.steps = (1..=number)
        .map(|thread| step(thread, "write table->buckets[hash].first", "src/queue.c", 100 + thread))
        .collect();
    finding.steps[2].preempted = true;
    finding.steps[1].culprit = true;
    finding
}

#[test]
fn tables_keep_to_the_width() {
    insta::assert_snapshot!("three_threads_narrow", wide(&crowd(3), 80));
    insta::assert_snapshot!("ten_threads", wide(&crowd(10), 80));
    for (_, finding) in all().into_iter().chain([("", crowd(3)), ("", crowd(4)), ("", crowd(10))]) {
        for width in [60, 80, 100, 200] {
            let report = wide(&finding, width);
            // Messages, places and notes are not wrapped; sources, labels and the table are.
            let table = report.lines().skip_while(|line| !line.starts_with("  step")).skip(1);
            for line in table.take_while(|line| !line.starts_with("  =")) {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
            for line in report.lines().filter(|line| line.contains(" | ")) {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn a_preemption_to_the_left_points_left() {
    let mut finding = data_race();
    finding.steps[3] = findings::preempted(step(0, "read q->count", "src/main.c", 80));
    insta::assert_snapshot!(wide(&finding, 100));
}

#[test]
fn problems_say_what_to_do() {
    let mut human = reporter(Format::Human);
    human
        .problem("`./queue_test` is not instrumented (no RaceHunter section)", &["rebuild it", "or not"])
        .expect("written");
    assert_eq!(
        text(human),
        "error: `./queue_test` is not instrumented (no RaceHunter section)\n  = help: rebuild it\n  = help: or not\n"
    );
}

#[test]
fn what_was_not_written_by_us_cannot_move_the_cursor() {
    let mut finding = data_race();
    finding.message = "data race on `\u{1b}[2J`".to_owned();
    finding.sites[0].function = "f\u{1b}[1A".to_owned();
    finding.steps[0].what = "create \u{1b}]0;title\u{7}".to_owned();
    finding.notes = vec!["a\rb".to_owned()];
    for format in Format::ALL {
        let text = report(&finding, format);
        assert!(!text.chars().any(|letter| letter.is_control() && letter != '\n'), "{text:?}");
    }
}

#[test]
fn empty_findings_are_reported_too() {
    let finding = findings::finding(Kind::Output, String::new(), Vec::new());
    for format in Format::ALL {
        assert!(report(&finding, format).contains("output"));
    }
}

/// If columns do not fit side by side, the table is a list, and nothing is cut off.
#[test]
fn nothing_is_cut_from_the_table() {
    let wide = wide(&data_race(), 200);
    assert!(wide.contains("  step  main"), "{wide}");
    for columns in [40, 60, 80, 100] {
        let text = self::wide(&data_race(), columns);
        let table = text.split_once("  step").expect("a table").1;
        assert!(!table.contains('…'), "{columns}: {text}");
        let flat = table.split_whitespace().collect::<Vec<_>>().join(" ");
        for what in ["read q->count = 0", "lock q->mu", "write q->count = 1"] {
            assert!(flat.contains(what), "{columns}: {what} is missing in {text}");
        }
    }
}

/// Steps that are not kept are counted, and the others have their own numbers.
#[test]
fn steps_keep_their_numbers() {
    let mut finding = data_race();
    for (step, number) in finding.steps.iter_mut().zip([3, 700, 701, 702, 1204]) {
        step.number = number;
        step.matters = true;
    }
    let text = wide(&finding, 120);
    for line in ["... 2 steps ...", "... 696 steps ...", "... 501 steps ...", " 702  ", "1204  "] {
        assert!(text.contains(line), "{line} is missing in {text}");
    }
    assert!(!text.contains("   4  "), "{text}");
}

/// A thread that waits only because others are deadlocked is listed separately.
#[test]
fn bystanders_of_a_deadlock_are_apart() {
    let of_main = "= because of that: main thread waits for the end of thread T1 `mover`";
    let text = wide(&deadlock(), 100);
    assert!(text.contains(of_main), "{text}");
    // Both wait at the same place, which is quoted once.
    assert_eq!((text.matches("\n  --> ").count(), text.matches(":::").count()), (1, 0), "{text}");
    assert_eq!(
        [text.matches("thread T1 `mover` waits for").count(), text.matches("thread T2 `mover` waits for").count()],
        [1, 1],
        "{text}"
    );
    let mut apart = deadlock();
    apart.sites[1].column += 1;
    assert_eq!(wide(&apart, 100).matches(":::").count(), 1);
    // Without a cycle, only a thread that waits for the end of another one is apart.
    let mut open = deadlock();
    open.sites[0].waits_for.as_mut().expect("it waits").owner = None;
    assert!(wide(&open, 100).contains(of_main));
    open.kind = Kind::LostWakeup;
    assert!(wide(&open, 100).contains(of_main));
    open.sites[2].access = "lock".to_owned();
    assert!(!wide(&open, 100).contains("because of that"));
}

/// A cycle that is wider than the page has a line for each thread; other titles are broken between words.
#[test]
fn wide_titles_are_broken() {
    let mut cycle = deadlock();
    cycle.message = "T1 holds `first`, waits for `second`; T2 holds `second`, waits for `first`".to_owned();
    let text = wide(&cycle, 80);
    let expected = "error[deadlock]: T1 holds `first`, waits for `second`;\n                 T2 holds `second`, waits for `first`\n";
    assert!(text.starts_with(expected), "{text}");
    assert!(wide(&cycle, 120).starts_with(&format!("error[deadlock]: {}\n", cycle.message)));
    let mut long = use_after_free();
    long.message = "a block is used by one thread and freed by another one without any order".to_owned();
    let text = wide(&long, 80);
    assert!(text.lines().take(2).all(|line| line.len() <= 80), "{text}");
}

/// A cause is on top, a variant is short, and the command has what it needs.
#[test]
fn causes_variants_and_commands() {
    let mut finding = data_race();
    finding.cause = Some("neither T1 nor T2 holds a lock here".to_owned());
    let text = wide(&finding, 100);
    assert_eq!(text.lines().nth(1), Some("  cause: neither T1 nor T2 holds a lock here"));
    finding.variant_of = Some("0badcafe".to_owned());
    let mut reporter = reporter(Format::Human).replay_options(" --out 'my findings'");
    reporter.finding(&finding).expect("written");
    let text = self::text(reporter);
    assert!(text.contains("= the same cause as 0badcafe"), "{text}");
    assert!(text.contains("racehunter replay 7f3a0c11 --out 'my findings'"), "{text}");
    assert!(!text.contains("  step"), "{text}");
}

/// Names of C++ are readable.
#[test]
fn template_arguments_are_left_out() {
    let mut finding = data_race();
    finding.sites[0].stack[0].function = "Queue<std::pair<int, long>>::push".to_owned();
    let text = wide(&finding, 100);
    assert!(text.contains("= stack: Queue::push"), "{text}");
}
