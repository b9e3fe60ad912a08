//! Suspected pairs of accesses, converted to unconfirmed findings.

use racehunter_finding::{Finding, Frame, Kind, Object, Site, fingerprint};
use racehunter_report::scan as words;
use racehunter_scan::program::SourceLocation;
use racehunter_scan::report::{Pair, Side};

/// Returns the pair as an unconfirmed finding without a schedule.
#[must_use]
pub fn suspected(pair: &Pair) -> Finding {
    let place = |side: &Side| format!("{}:{}:{}", side.place.file, side.place.line, side.place.function);
    // A suspicion is not the same finding as the race itself.
    let mut places = vec!["suspected".to_owned()];
    places.extend(pair.sides.iter().map(place));
    Finding {
        id: fingerprint(Kind::DataRace, &places),
        message: words::suspected(&pair.what),
        sites: (1..).zip(&pair.sides).map(|(number, side)| site(number, side)).collect(),
        object: Some(Object {
            name: pair.what.clone(),
            size: 0,
            region: "unknown".to_owned(),
            allocated: Vec::new(),
            element: None,
        }),
        notes: vec![pair.parallel.clone()],
        ..Finding::new(Kind::DataRace)
    }
}

/// Returns one side. The threads of a pair are numbered, because there is no execution that would name them.
fn site(number: u32, side: &Side) -> Site {
    let frame = |place: &SourceLocation| Frame {
        function: place.function.clone(),
        file: place.file.clone(),
        line: place.line,
        column: place.column,
    };
    let SourceLocation { file, line, column, function } = side.place.clone();
    Site {
        file,
        line,
        column,
        function,
        thread: if side.thread == "main" { "main".to_owned() } else { format!("main/{number}") },
        entry: side.thread.clone(),
        access: words::access(side).replace(' ', "-"),
        size: 0,
        locks: side.locks.clone(),
        stack: side.calls.iter().rev().map(frame).collect(),
        waits_for: None,
        event: 0,
        value: None,
    }
}
