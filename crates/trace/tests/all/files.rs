//! Traces survive being written and read, and broken files are errors.

use proptest::prelude::*;
use racehunter_trace::{
    Dependence, Ending, Error, Event, NO_OBJECT, Op, Origin, Subject, Trace, TraceBuilder, Via, file, text,
};

/// Any trace that a builder accepts, however senseless.
fn traces() -> impl Strategy<Value = Trace> {
    let event =
        (0..4_u16, 0..Op::ALL.len(), any::<[bool; 2]>(), 0..6_u32, 0..5_u32, prop::collection::vec(any::<u8>(), 0..3));
    (prop::collection::vec(event, 0..60), any::<bool>(), any::<bool>(), "[ -~é\n]{0,6}").prop_map(
        |(events, branches, dependences, odd)| {
            let mut builder = TraceBuilder::new();
            for name in ["main", "T 1", "T|2", "%"] {
                builder.thread(name).unwrap();
            }
            for site in 0..4 {
                builder.site(&format!("file.c:{site}")).unwrap();
            }
            builder.site(&odd).unwrap();
            for (thread, op, [part, chose], object, site, needs) in events {
                let op = Op::ALL[op];
                let object = match op.subject() {
                    Subject::Nothing => NO_OBJECT,
                    Subject::Thread => object % 4,
                    subject => builder.object(subject, &format!("{}{object}", subject.name())).unwrap(),
                };
                let event = builder.push(Event { thread, op, part, chose, object, site: site.min(4) }).unwrap();
                let reads: Vec<u32> = (0..event)
                    .filter(|&id| builder.so_far().thread(id) == thread && builder.so_far().op(id).reads())
                    .collect();
                if dependences && !reads.is_empty() {
                    for need in needs {
                        let via = if need & 1 == 0 { Via::Value } else { Via::Decision };
                        builder.depend(Dependence { read: reads[usize::from(need >> 1) % reads.len()], via });
                    }
                }
                if op == Op::Branch || chose {
                    builder.set_branches();
                }
            }
            if branches {
                builder.set_branches();
            }
            if dependences {
                builder.set_dependences();
            }
            builder.finish()
        },
    )
}

/// As `traces`, with an origin and an ending, which the text form does not contain.
fn recorded_traces() -> impl Strategy<Value = Trace> {
    let origin =
        prop::option::of(("[ -~é]{0,9}", prop::collection::vec("[ -~é]{0,9}", 0..3), prop::option::of(".{0,3}")));
    let ending = ("[ -~é]{0,9}", any::<bool>(), any::<bool>(), prop::collection::vec("[ -~é]{0,9}", 0..3))
        .prop_map(|(outcome, is_failure, is_whole, unseen)| Ending { outcome, is_failure, is_whole, unseen });
    (traces(), origin, prop::option::of(ending)).prop_map(|(trace, origin, ending)| {
        let mut builder = TraceBuilder::from(trace);
        if let Some((program, arguments, input)) = origin {
            builder.set_origin(Origin { identity: program.clone(), program, arguments, input });
        }
        if let Some(ending) = ending {
            builder.set_ending(ending);
        }
        builder.finish()
    })
}

fn written(trace: &Trace) -> Vec<u8> {
    let mut bytes = Vec::new();
    file::write(trace, &mut bytes).unwrap();
    bytes
}

fn read(bytes: &[u8]) -> Result<Trace, Error> {
    file::Reader::new(bytes)?.read()
}

/// Returns what the text form keeps: everything but the numbers of objects.
fn text_of(trace: &Trace) -> String {
    let mut bytes = Vec::new();
    text::write(trace, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn files_keep_everything(trace in recorded_traces()) {
        prop_assert_eq!(read(&written(&trace)).unwrap(), trace);
    }

    #[test]
    fn text_keeps_everything_but_numbers(trace in traces()) {
        let first = text_of(&trace);
        let again = text::read(first.as_bytes()).unwrap();
        prop_assert_eq!(text_of(&again), first);
        prop_assert_eq!(again.len(), trace.len());
        for id in 0..trace.len() as u32 {
            prop_assert_eq!(again.op(id), trace.op(id));
            prop_assert_eq!(
                again.dependences().map(|all| all.of(id)),
                trace.dependences().map(|all| all.of(id))
            );
        }
    }

    #[test]
    fn flipped_bytes_are_noticed(trace in recorded_traces(), at in any::<prop::sample::Index>(), bit in 0..8_u32) {
        let mut bytes = written(&trace);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert!(read(&bytes).is_err(), "byte {at}");
    }

    #[test]
    fn truncated_files_are_noticed(trace in recorded_traces(), len in any::<prop::sample::Index>()) {
        let bytes = written(&trace);
        prop_assert!(read(&bytes[..len.index(bytes.len())]).is_err());
    }

    /// A hostile file has correct checksums.
    #[test]
    fn hostile_payloads_are_errors_or_traces(
        trace in recorded_traces(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = written(&trace);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        file::mend_checksums(&mut bytes);
        if let Ok(trace) = read(&bytes) {
            prop_assert_eq!(read(&written(&trace)).unwrap(), trace);
        }
    }

    #[test]
    fn noise_is_an_error_or_a_trace(noise in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&noise);
        let _ = text::read(&noise[..]);
        let mut bytes = b"RHTRACE\0\x03\0\0\0\x02\0\0\0\x01\0\0\0".to_vec();
        bytes.extend_from_slice(&(noise.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&noise);
        bytes.extend_from_slice(b"\x02\0\0\0\0\0\0\0\0\0\0\0");
        file::mend_checksums(&mut bytes);
        prop_assert!(read(&bytes).is_err());
    }

    #[test]
    fn lines_are_errors_or_events(line in "(T[0-9]|\\||[(),~%+]|r|w|br|acq|value|decision|fork|[0-9]| ){0,20}") {
        let _ = text::read(line.as_bytes());
    }
}

#[test]
fn errors_say_where() {
    let error = |text: &str| text::read(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(error("T0|w(x)|1\nT0|jump(x)|2\n"), "line 2: unknown operation `jump`");
    assert_eq!(error("T0|w|1\n"), "line 1: `w` needs an object");
    assert_eq!(error("T0|w(x|1\n"), "line 1: `w(x` has no `)`");
    assert_eq!(error("hello\n"), "line 1: expected `THREAD|OPERATION(OBJECT)|SITE`, found `hello`");
    assert_eq!(error("T0|w(x)|1|value(7)\n"), "line 1: this thread has no earlier read `7`");
    assert_eq!(error("T0|r(x)|7\nT0|w(x)|1|value(7~1)\n"), "line 2: this thread has no earlier read `7~1`");
    assert_eq!(error("T0|r(x)|7\nT1|w(x)|1|value(7)\n"), "line 2: this thread has no earlier read `7`");
    assert!(matches!(read(b"hello"), Err(Error::NotATrace)));
    assert!(matches!(read(b"RHTRACE\0\x09\0\0\0\0\0\0\0"), Err(Error::Version { found: 9, .. })));
    let begin = [&b"RHTRACE\0"[..], &file::FORMAT_VERSION.to_le_bytes(), &[0; 4]].concat();
    assert!(matches!(read(&begin), Err(Error::Truncated { block: 0 })));
}

#[test]
fn large_traces_have_several_blocks_and_few_bytes() {
    let mut builder = TraceBuilder::new();
    let threads = [builder.thread("T0").unwrap(), builder.thread("T1").unwrap()];
    let locations: Vec<u32> =
        (0..5_000).map(|number| builder.object(Subject::Memory, &format!("V{number}")).unwrap()).collect();
    let sites: Vec<u32> = (0..100).map(|number| builder.site(&number.to_string()).unwrap()).collect();
    let mut state = 1_u64;
    for number in 0..200_000_usize {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let site = (state >> 40) as usize % sites.len();
        // Sites walk through memory, as loops do.
        let object = locations[(site * 41 + number / 100) % locations.len()];
        let op = if site.is_multiple_of(3) { Op::Write } else { Op::Read };
        let thread = threads[number / 20 % 2];
        builder.push(Event { thread, op, part: false, chose: false, object, site: sites[site] }).unwrap();
    }
    let trace = builder.finish();
    let bytes = written(&trace);
    let reader = file::Reader::new(&bytes[..]).unwrap();
    assert_eq!(reader.blocks(), 4);
    assert_eq!(reader.read().unwrap(), trace);
    assert!(bytes.len() < trace.len() * 7 / 2, "{} bytes for {} events", bytes.len(), trace.len());

    // A damaged block is named.
    let mut broken = bytes.clone();
    let at = broken.len() - 1_000;
    broken[at] ^= 1;
    let error = read(&broken).unwrap_err().to_string();
    assert_eq!(error, "block 3 of the trace is corrupted: the checksum is wrong");

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.rht");
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(file::Reader::open(&path).unwrap().read().unwrap(), trace);
    assert!(matches!(file::Reader::open(&directory.path().join("b.rht")), Err(Error::Io(_))));
}

#[test]
fn what_threads_do_again_and_again_takes_little_room() {
    let mut builder = TraceBuilder::new();
    let threads = [builder.thread("T0").unwrap(), builder.thread("T1").unwrap()];
    let location = builder.object(Subject::Memory, "V").unwrap();
    let sites: Vec<u32> = (0..1_000).map(|number| builder.site(&number.to_string()).unwrap()).collect();
    for number in 0..60_000_usize {
        let (thread, site) = (threads[number / 3_000 % 2], sites[number % sites.len()]);
        builder.push(Event { thread, op: Op::Read, part: false, chose: false, object: location, site }).unwrap();
    }
    let trace = builder.finish();
    let bytes = written(&trace);
    assert_eq!(read(&bytes).unwrap(), trace);
    // An object and a bit for each, and the thousand sites.
    assert!(bytes.len() < trace.len() * 9 / 8 + 10_000, "{} bytes", bytes.len());
}

#[test]
fn objects_of_texts_are_in_the_order_of_their_names() {
    let text = "T0|w(V10)|1\nT0|acq(L)|2\nT0|w(V9)|3\nT0|w(0x20)|4\nT0|w(0x9)|5\nT0|fork(T1)|6\nT0|w(V9)|7\n";
    let trace = text::read(text.as_bytes()).unwrap();
    let names: Vec<&str> = trace.objects().iter().map(|object| object.name.as_str()).collect();
    assert_eq!(names, ["0x9", "0x20", "V9", "V10", "L"]);
    assert_eq!(text_of(&trace), text);
}
