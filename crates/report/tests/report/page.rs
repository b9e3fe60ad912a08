//! The page is complete, well-formed HTML, and runs no script but ours.

use super::findings::{all, coverage, data_race, uncontrolled};
use racehunter_finding::{Coverage, Finding, Step};
use racehunter_report::html::{Hunted, Page, Shown, page};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

fn shown(finding: Finding) -> Shown {
    let replay = format!("racehunter replay {}", finding.id);
    Shown { finding, program: "./queue_test --size 4".to_owned(), replay }
}

fn render(findings: Vec<Finding>) -> String {
    let campaign = Hunted {
        command: "racehunter hunt ./queue_test -- --size 4".to_owned(),
        coverage: Coverage { uncontrolled: uncontrolled(), ..coverage() },
        bounds: Vec::new(),
        findings: [findings.len() as u64, 0, 0],
        elapsed: Duration::from_millis(840),
    };
    let findings = findings.into_iter().map(shown).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/project");
    page(&Page { campaigns: vec![campaign], findings, about: Vec::new() }, &root)
}

/// Tags that have no end.
const VOID: [&str; 7] = ["meta", "line", "path", "circle", "input", "br", "!doctype"];

/// Returns the names of the tags in order; panics unless every opened tag is closed.
fn tags(html: &str) -> Vec<String> {
    let mut rest = html.to_owned();
    for (begin, end) in [("<script>", "</script>"), ("<style>", "</style>")] {
        let from = rest.find(begin).expect("one") + begin.len();
        let to = rest.rfind(end).expect("one");
        rest.replace_range(from..to, "");
    }
    let (mut open, mut all) = (Vec::new(), Vec::new());
    for part in rest.split('<').skip(1) {
        let (tag, _) = part.split_once('>').unwrap_or_else(|| panic!("a tag without an end: {part}"));
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closes another tag");
            continue;
        }
        let name = tag.split_whitespace().next().unwrap_or_default().to_lowercase();
        all.push(name.clone());
        if tag.ends_with('/') {
            continue;
        }
        if !VOID.contains(&name.trim_end_matches('/')) {
            open.push(name);
        }
    }
    assert_eq!(open, Vec::<String>::new(), "tags that are not closed");
    all
}

#[test]
fn everything_about_a_race_is_there_without_the_script() {
    let html = render(vec![data_race()]);
    tags(&html);
    let text = html.split("<script>").next().expect("the text before it");
    for part in [
        "data race on <code>q-&gt;count</code>",
        "src/queue.c:9:11",
        "holding <code>q-&gt;mu</code>",
        "allocated at src/queue.c:4",
        "queue_push",
        "src/main.c:60",
        "thread T1 <code>worker</code>",
        "racehunter replay 7f3a0c11",
        "racehunter hunt ./queue_test -- --size 4",
        "all schedules with &lt;= 2 preemptions over 14 points",
        "6 of 41 access sites never executed",
        "the child process is not under control",
    ] {
        assert!(text.contains(part), "{part} is missing");
    }
    // The source is quoted, with the line marked.
    let source = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/project/src/queue.c"));
    let line = source.expect("a file").lines().nth(8).expect("line 9").trim().replace('>', "&gt;").replace('<', "&lt;");
    let marked = text.split("class=\"here\"").nth(1).and_then(|rest| rest.lines().next()).expect("a marked line");
    assert!(marked.contains(&line), "{marked} should be {line}");
    // Each step is drawn and in the table; the racing pair is marked.
    assert_eq!(text.matches("<g class=\"step ").count(), data_race().steps.len());
    assert_eq!(text.matches("<tr data-step=").count(), data_race().steps.len());
    assert_eq!(text.matches("class=\"preemption\"").count(), 1);
    assert_eq!(text.matches("<circle class=\"ring\"").count(), 1);
}

/// `free` has the number of the event before it, which has nothing to do with the finding.
#[test]
fn only_accesses_are_marked() {
    let rings = |what: &str| {
        let mut finding = data_race();
        let (event, path) = (77, finding.steps[0].path.clone());
        (finding.sites[0].event, finding.sites[0].thread) = (event, path.clone());
        let step = Step { what: what.to_owned(), event, path, culprit: false, ..finding.steps[0].clone() };
        finding.steps.insert(1, step);
        render(vec![finding]).matches("<circle class=\"ring\"").count()
    };
    assert_eq!((rings("unlock lock"), rings("write count"), rings("free")), (1, 2, 2));
}

#[test]
fn nothing_is_loaded_from_elsewhere() {
    let html = render(all().into_iter().map(|(_, finding)| finding).collect());
    tags(&html);
    for part in ["http:", "https:", "src=", "url(", "@import", "<link"] {
        assert!(!html.contains(part), "{part}");
    }
    assert!(html.contains("prefers-color-scheme: dark") && html.contains("default-src 'none'"));
}

#[test]
fn what_is_not_ours_is_only_shown() {
    let plain = tags(&render(vec![data_race()]));
    let evil = "</pre></script><script>alert(1)</script><img src=x onerror=alert(1)> \"' & `";
    let mut finding = data_race();
    finding.message = evil.to_owned();
    finding.notes = Vec::new();
    for site in &mut finding.sites {
        site.function = evil.to_owned();
        site.entry = evil.to_owned();
        site.locks = vec![evil.to_owned()];
        for frame in &mut site.stack {
            frame.function = evil.to_owned();
        }
    }
    for thread in &mut finding.threads {
        thread.entry = evil.to_owned();
    }
    for step in &mut finding.steps {
        step.what = format!("{} {evil}", step.what);
        step.file = evil.to_owned();
    }
    let html = render(vec![finding]);
    let names = |tags: &[String]| {
        let mut names: Vec<String> = tags.iter().filter(|name| *name != "code").cloned().collect();
        names.sort();
        names.dedup();
        names
    };
    assert_eq!(names(&tags(&html)), names(&plain), "there is a tag that text has made");
    assert_eq!(html.matches("<script>").count(), 1);
    assert!(!html.contains("<img"));
}

#[test]
fn an_empty_page_says_so() {
    let html = page(&Page::default(), Path::new(""));
    tags(&html);
    assert!(html.contains("no finding") && html.contains("No campaign is kept here"));
}

/// Returns a finding with twelve threads that take turns, a lock, and a thousand steps of which some are left out.
fn large() -> Finding {
    let mut finding = data_race();
    let step = |number: usize| {
        let what = ["lock books", "read sold", "write sold", "unlock books"][number % 4];
        let thread = (number / 8 % 12 + 1) as u32;
        Step {
            thread,
            path: format!("main/{thread}"),
            what: what.to_owned(),
            number: number as u64 + if number > 500 { 600 } else { 1 },
            culprit: number == 990,
            ..finding.steps[0].clone()
        }
    };
    finding.steps = (0..1000).map(step).collect();
    finding
}

#[test]
fn many_threads_have_narrow_lanes_and_an_overview() {
    let html = render(vec![large()]);
    tags(&html);
    let text = html.split("<script>").next().expect("the text before it");
    assert!(text.contains("<table class=\"lanes\">") && text.contains("class=\"overview\""));
    assert_eq!(text.matches("<g class=\"step ").count(), 1000);
    assert_eq!(text.matches("<tr data-step=").count(), 1000);
    assert_eq!(text.matches("class=\"held\"").count(), 250);
    assert!(text.contains("<option>books</option><option>sold</option>"), "objects to filter by");
    assert!(text.contains("&hellip; 599 steps"), "what is left out is said");
    for thread in 1..=12 {
        assert!(text.contains(&format!("data-thread=\"{thread}\"")), "{thread}");
    }
    // The ninth thread does not look like the first.
    assert!(text.contains("class=\"thread t9\"") && text.contains("class=\"thread t12\""));
    assert!(html.len() < 1_500_000, "{} bytes", html.len());
}

/// Steps that the cause names are marked like the place of the finding, and the cause leads to them. Steps that are left out
/// have no row to go to.
#[test]
fn the_cause_leads_to_its_steps() {
    let mut finding = large();
    finding.cause =
        Some("T2 writes `step 5` (step 25) between T1's read of it (step 300) and T1's write (step 700)".to_owned());
    finding.cause_steps = vec![25, 300, 700];
    let id = finding.id.clone();
    let before = render(vec![large()]).matches("class=\"ring\"").count();
    let html = render(vec![finding]);
    tags(&html);
    for number in [25, 300] {
        assert_eq!(html.matches(&format!("<a href=\"#f-{id}-{number}\">step {number}</a>")).count(), 1);
        assert_eq!(html.matches(&format!(" id=\"f-{id}-{number}\"")).count(), 1);
    }
    assert!(html.contains("<code>step 5</code>") && html.contains("write (step 700)"));
    assert_eq!(html.matches("class=\"ring\"").count(), before + 2);
    assert_eq!(html.matches("<rect class=\"gap\"").count(), 1);
}

/// Findings with one cause follow each other, and say so in the list.
#[test]
fn findings_are_grouped_by_their_cause() {
    let with = |id: &str, first: Option<&str>| {
        let mut finding = data_race();
        (finding.id, finding.variant_of) = (id.to_owned(), first.map(str::to_owned));
        finding
    };
    let html =
        render(vec![with("aaaa", None), with("bbbb", None), with("cccc", Some("aaaa")), with("dddd", Some("gone"))]);
    let order: Vec<&str> = html.split("<section class=\"finding\" id=\"f-").skip(1).map(|rest| &rest[..4]).collect();
    assert_eq!(order, ["aaaa", "cccc", "bbbb", "dddd"]);
    assert!(html.contains("<li class=\"variant\"><a href=\"#f-cccc\">"));
    assert!(html.contains("aria-label=\"Link to finding bbbb\""));
}

/// Trace events as Perfetto reads them: every phase has what it needs, and nothing ends before it begins.
#[test]
fn timelines_are_trace_events() {
    let finding = large();
    let trace: Value = serde_json::from_str(&racehunter_report::perfetto::file(&[&finding])).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let of = |phase: &'static str| events.iter().filter(move |event| event["ph"] == phase);
    assert_eq!(of("X").count(), 1000);
    assert_eq!((of("b").count(), of("e").count()), (250, 250));
    assert_eq!(of("M").filter(|event| event["name"] == "thread_name").count(), 12);
    for event in events.iter().filter(|event| event["ph"] != "M") {
        assert!(event["ts"].is_u64() && event["pid"] == 1 && event["tid"].is_u64(), "{event}");
    }
    for (begin, end) in of("b").zip(of("e")) {
        assert!(begin["id"] == end["id"] && begin["ts"].as_u64() < end["ts"].as_u64(), "{begin} {end}");
    }
    assert!(of("X").any(|event| event["args"]["culprit"] == true && event["args"]["object"] == "sold"));
}
