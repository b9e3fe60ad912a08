//! Rules of the validator that random traces seldom reach.

use racehunter_predict::{Demands, Index, Invalid, Policy, Question, Tail, Witness, validate};
use racehunter_trace::{EventId, text};

fn judge(trace: &str, tail: &[EventId]) -> Result<(), Invalid> {
    let trace = text::read(trace.as_bytes()).unwrap();
    let index = Index::new(&trace).unwrap();
    let demands = Demands::new(Policy::Nre, &index);
    let witness = Witness { frozen: 0, tail: tail.iter().copied().collect() };
    validate(&index, &demands, &Question::together(Vec::new()), &witness)
}

#[test]
fn a_thread_that_does_nothing_is_joined_after_its_fork() {
    let trace = "T0|fork(T1)|1\nT2|join(T1)|2\n";
    assert_eq!(judge(trace, &[0, 1]), Ok(()));
    assert_eq!(judge(trace, &[1]), Err(Invalid::NotOver(1)));
}

#[test]
fn nobody_leaves_a_barrier_before_all_have_come() {
    let trace = "T0|arrive(B)|1\nT1|arrive(B)|2\nT0|depart(B)|3\nT1|depart(B)|4\n";
    assert_eq!(judge(trace, &[0, 1, 3, 2]), Ok(()));
    assert_eq!(judge(trace, &[0, 2]), Err(Invalid::Turn(2)));
    assert_eq!(judge(trace, &[1]), Err(Invalid::Turn(1)));
}

#[test]
fn an_attempt_fails_only_while_the_same_section_is_in_its_way() {
    let trace = "T0|acq(L)|1\nT1|tryfail(L)|2\nT0|rel(L)|3\nT0|acq(L)|4\nT0|rel(L)|5\n";
    assert_eq!(judge(trace, &[0, 1, 2]), Ok(()));
    assert_eq!(judge(trace, &[1]), Err(Invalid::Lock(1)));
    assert_eq!(judge(trace, &[0, 2, 1]), Err(Invalid::Lock(1)));
    assert_eq!(judge(trace, &[0, 2, 3, 1]), Err(Invalid::Lock(1)));
}

#[test]
fn waits_and_signals_keep_their_order() {
    let trace = "T0|acq(M)|1\nT0|rel(M)|2\nT0|wait(C)|3\nT1|signal(C)|4\nT0|wake(C)|5\nT0|acq(M)|6\n";
    assert_eq!(judge(trace, &[0, 1, 2, 3, 4, 5]), Ok(()));
    assert_eq!(judge(trace, &[3]), Err(Invalid::Turn(3)));
    assert_eq!(judge(trace, &[0, 1, 2, 4]), Err(Invalid::Turn(4)));
}

#[test]
fn readers_share_and_exclude_a_writer() {
    let trace = "T0|racq(L)|1\nT1|racq(L)|2\nT0|rrel(L)|3\nT1|rrel(L)|4\nT2|acq(L)|5\nT2|rel(L)|6\n";
    assert_eq!(judge(trace, &[1, 0, 3, 2, 4]), Ok(()));
    assert_eq!(judge(trace, &[4, 5, 0, 1]), Ok(()));
    assert_eq!(judge(trace, &[0, 4]), Err(Invalid::Lock(4)));
    assert_eq!(judge(trace, &[4, 0]), Err(Invalid::Lock(0)));
}

#[test]
fn what_an_update_saw_matters_to_who_sees_the_update() {
    let trace = "T0|w(x)|1\nT1|au(x)|2\nT2|r(x)|3\nT2|w(y)|4\n";
    assert_eq!(judge(trace, &[0, 1, 2, 3]), Ok(()));
    assert_eq!(judge(trace, &[1, 2, 3]), Err(Invalid::Read(1)));
    // Nothing follows the last read, and no read sees the update.
    assert_eq!(judge(trace, &[1]), Ok(()));
}

#[test]
fn earlier_reads_flow_into_a_write_unless_it_is_known_better() {
    let trace = "T0|w(a)|1\nT1|r(a)|2\nT1|w(b)|3\nT2|r(b)|4\nT2|br|5\n";
    assert_eq!(judge(trace, &[0, 1, 2, 3, 4]), Ok(()));
    assert_eq!(judge(trace, &[1, 2, 3, 4]), Err(Invalid::Read(1)));
    assert_eq!(judge(trace, &[1, 2]), Ok(()));
    let known = trace.replace("T2|br|5", "T2|br|5|decision(4)");
    assert_eq!(judge(&known, &[1, 2, 3, 4]), Ok(()));
    assert_eq!(judge(&known, &[3, 4]), Err(Invalid::Read(3)));
}

/// A segment begins with the locks that are held then; no reordering leaves them out.
#[test]
fn what_happened_before_a_segment_comes_first() {
    let text = "T1|acq(L)|1\nT1|w(x)|2\nT2|w(y)|3\nT1|rel(L)|4\n";
    let whole = text::read(text.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    racehunter_trace::file::write_in_blocks(&whole, &mut bytes, 1).unwrap();
    let reader = racehunter_trace::file::Reader::new(bytes).unwrap();
    let mut segments = reader.segments(2, 1).unwrap();
    let mut openings = Vec::new();
    while let Some(segment) = segments.next_segment().unwrap() {
        let opening = segment.trace.opening();
        openings.push((segment.before, opening));
        if opening > 0 {
            let index = Index::new(segment.trace).unwrap();
            let demands = Demands::new(Policy::M2, &index);
            let nothing = Question::together(Vec::new());
            let witness = |frozen| Witness { frozen, tail: Tail::default() };
            assert_eq!(validate(&index, &demands, &nothing, &witness(0)), Err(Invalid::Opening(opening)));
            assert_eq!(validate(&index, &demands, &nothing, &witness(opening)), Ok(()));
        }
    }
    assert_eq!(openings, [(0, 0), (1, 1), (2, 1)]);
}
