//! The figures and tables of the paper on necessary consistent reads (ReConP), and what each policy says about them.

use racehunter_predict::{Checker, Demands, Effort, Index, Kind, Options, Policy, Question, predict};
use racehunter_trace::{EventId, Trace, text};
use std::collections::BTreeSet;

fn fixture(name: &str) -> Trace {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(format!("{name}.std"));
    text::read(std::fs::read(path).unwrap().as_slice()).unwrap()
}

/// Returns the event at a site; sites are numbered as in the paper.
fn at(trace: &Trace, site: u32) -> EventId {
    let site = trace.sites().iter().position(|name| *name == site.to_string()).unwrap() as u32;
    (0..trace.len() as EventId).find(|&id| trace.site(id) == site).unwrap()
}

fn site(trace: &Trace, event: EventId) -> u32 {
    trace.sites()[trace.site(event) as usize].parse().unwrap()
}

/// Returns whether M2, SeqCheck and NRE say that two sites race.
fn verdicts(name: &str, first: u32, second: u32) -> [bool; 3] {
    let trace = fixture(name);
    let index = Index::new(&trace).unwrap();
    Policy::ALL.map(|policy| {
        let report = predict(&index, &Options { policy, ..Options::default() }, &|| false);
        let sites = |events: &[EventId]| -> BTreeSet<u32> { events.iter().map(|&id| site(&trace, id)).collect() };
        report
            .predictions
            .iter()
            .any(|prediction| prediction.kind == Kind::Race && sites(&prediction.events) == [first, second].into())
    })
}

/// Returns the reads that must see their old writes for a race, as in table I: pairs of lines.
fn constraints(trace: &Trace, index: &Index<'_>, demands: Demands, race: [u32; 2]) -> BTreeSet<(u32, u32)> {
    let question = Question::together(race.map(|line| at(trace, line)).to_vec());
    Checker::with_demands(index, demands)
        .constraints(&question)
        .into_iter()
        .map(|(write, read)| (write.map_or(0, |write| site(trace, write)), site(trace, read)))
        .collect()
}

#[test]
fn figure_2_needs_nre() {
    assert_eq!(verdicts("figure2", 3, 22), [false, false, true]);
}

#[test]
fn figure_2_in_the_order_of_its_part_c() {
    let trace = fixture("figure2");
    let index = Index::new(&trace).unwrap();
    let question = Question::together(vec![at(&trace, 3), at(&trace, 22)]);
    let (witness, _) = Checker::new(&index, Policy::Nre).check(&question, &Effort::default()).unwrap();
    let lines: Vec<u32> = witness.events().map(|event| site(&trace, event)).collect();
    // Line 4 comes after line 3, and so has not happened; line 12 has, for line 18 to read it.
    assert!(!lines.contains(&4) && lines.contains(&12), "{lines:?}");
}

#[test]
fn table_1() {
    let trace = fixture("figure2");
    let index = Index::new(&trace).unwrap();
    let race = [3, 22];
    let m2 = constraints(&trace, &index, Demands::new(Policy::M2, &index), race);
    assert_eq!(m2, [(1, 2), (15, 16), (12, 18), (15, 21), (4, 6), (5, 8), (5, 11), (4, 13)].into());
    let nre = constraints(&trace, &index, Demands::new(Policy::Nre, &index), race);
    assert_eq!(nre, [(1, 2), (12, 18), (5, 8), (5, 11)].into());
    // The table prints 11 = RF(12) and 6 = RF(9) for SeqCheck, where 12 is a write and 9 a branch; the reads of that
    // thread before them are 6 and 8. Line 4 is seen, so what it may depend on, line 2, counts too.
    let seqcheck = constraints(&trace, &index, Demands::published_seqcheck(&index), race);
    assert_eq!(seqcheck, [(15, 16), (12, 18), (4, 6), (5, 8), (5, 11), (4, 13), (1, 2)].into());
    assert_eq!(constraints(&trace, &index, Demands::new(Policy::SeqCheck, &index), race), seqcheck);
}

#[test]
fn table_2() {
    let trace = fixture("figure2");
    let index = Index::new(&trace).unwrap();
    let demands = Demands::new(Policy::Nre, &index);
    let necessary = |line: u32| -> Vec<u32> {
        demands.necessary_for(&index, at(&trace, line)).into_iter().map(|read| site(&trace, read)).collect()
    };
    assert_eq!(necessary(16), []);
    assert_eq!(necessary(17), [16]);
    assert_eq!(necessary(18), []);
    assert_eq!(necessary(20), [18]);
    assert_eq!(necessary(21), [18]);
    assert_eq!(necessary(22), [18, 21]);
}

#[test]
fn figure_3_is_found_with_exact_dependences_only() {
    assert_eq!(verdicts("figure3", 2, 10), [false, false, true]);
    assert_eq!(verdicts("figure3_partial", 2, 10), [false, false, false]);
}

#[test]
fn figure_4_is_wrong_when_activations_are_confused() {
    assert_eq!(verdicts("figure4", 1, 22), [false, false, false]);
    assert_eq!(verdicts("figure4_confused", 1, 22), [false, false, true]);
}

#[test]
fn addresses_of_reads_are_decisions() {
    assert_eq!(verdicts("load_address", 1, 5), [false, false, false]);
    assert_eq!(verdicts("load_address_ignored", 1, 5), [false, false, true]);
}

#[test]
fn without_knowledge_all_policies_are_one() {
    let text = "T0|w(x)|1\nT0|w(y)|2\nT1|r(y)|3\nT1|w(x)|4\n";
    let trace = text::read(text.as_bytes()).unwrap();
    let index = Index::new(&trace).unwrap();
    for policy in Policy::ALL {
        let report = predict(&index, &Options { policy, ..Options::default() }, &|| false);
        let races: Vec<_> = report.predictions.iter().map(|prediction| &prediction.events[..]).collect();
        assert_eq!(races, [[1, 2]], "{policy:?}");
    }
}

fn kinds(name: &str) -> Vec<(Kind, Vec<u32>)> {
    let trace = fixture(name);
    let index = Index::new(&trace).unwrap();
    let report = predict(&index, &Options::default(), &|| false);
    let sites = |events: &[EventId]| events.iter().map(|&id| site(&trace, id)).collect();
    report.predictions.iter().map(|prediction| (prediction.kind, sites(&prediction.events))).collect()
}

#[test]
fn deadlocks_and_broken_blocks() {
    assert_eq!(kinds("philosophers"), [(Kind::Deadlock, vec![3, 13])]);
    assert_eq!(kinds("gate"), []);
    assert_eq!(kinds("account"), [(Kind::Atomicity, vec![4, 14, 7])]);
}
