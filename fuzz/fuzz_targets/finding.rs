//! Finding files: any content can be printed in every format, and its schedule is a plan.
#![no_main]

use libfuzzer_sys::fuzz_target;
use racehunter_finding::Finding;
use racehunter_report::html::{Page, Shown, page};
use racehunter_report::{Format, Reporter};
use std::hint::black_box;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    let Ok(finding) = serde_json::from_slice::<Finding>(bytes) else { return };
    black_box(racehunter_explain::plan_of(&finding.schedule));
    for format in Format::ALL {
        let mut reporter = Reporter::new(Vec::new(), format);
        reporter.finding(&finding).and_then(|()| reporter.finish()).expect("memory takes it");
    }
    let shown = Shown { finding, program: String::new(), replay: String::new() };
    black_box(page(&Page { campaigns: Vec::new(), findings: vec![shown] }, Path::new("/nowhere")));
});
