//! Logs between the two passes: what was written is read, and nothing else.

use proptest::prelude::*;
use racehunter_abi::{Kind, Record};
use racehunter_log::{CodeAddress, EventNumber, ThreadId};
use racehunter_trace::Error;
use racehunter_trace::recording::{LogReader, LogWriter};

fn written(pieces: &[&[Record]]) -> Vec<u8> {
    let mut writer = LogWriter::new(Vec::new());
    pieces.iter().for_each(|piece| writer.add(piece).unwrap());
    let (bytes, count) = writer.finish().unwrap();
    assert_eq!(bytes.len() as u64, count);
    bytes
}

fn read(bytes: &[u8]) -> Result<Vec<Record>, Error> {
    let (mut reader, mut piece, mut all) = (LogReader::new(bytes), Vec::new(), Vec::new());
    loop {
        reader.next_piece(&mut piece)?;
        if piece.is_empty() {
            return Ok(all);
        }
        all.extend(&piece);
    }
}

prop_compose! {
    /// Few values for each field, and some extreme ones, so that records resemble earlier ones in some fields.
    fn any_record()(
        index in prop_oneof![0..4_u64, any::<u64>()],
        code in 0..3_u64,
        object in prop_oneof![0..40_u64, any::<u64>()],
        extra in prop_oneof![0..3_u64, any::<u64>()],
        thread in 0..3_u32,
        site in prop_oneof![0..3_u32, any::<u32>()],
        kind in prop_oneof![Just(Kind::Read), Just(Kind::Write), Just(Kind::Branched), Just(Kind::Lock)],
        size in any::<u8>(),
        detail in 0..2_u8,
    ) -> Record {
        let (index, code, thread) = (EventNumber(index), CodeAddress(code), ThreadId(thread));
        Record { index, code, object, extra, thread, site, kind, size, detail, ..Record::default() }
    }
}

proptest! {
    #[test]
    fn records_come_back(records in prop::collection::vec(any_record(), 0..200), cut in 0..200_usize) {
        let (one, other) = records.split_at(cut.min(records.len()));
        prop_assert_eq!(read(&written(&[one, other])).unwrap(), records);
    }

    #[test]
    fn damage_is_an_error_or_other_records(
        records in prop::collection::vec(any_record(), 1..50),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = written(&[&records]);
        let _ = read(&bytes[..cut.index(bytes.len())]);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = read(&bytes);
    }
}

#[test]
fn a_loop_takes_few_bytes() {
    let events = (0..10_000_u64).map(|round| {
        let place = round % 3;
        Record {
            index: EventNumber(round),
            code: CodeAddress(place),
            object: 0x1000 + round / 3 * 8,
            kind: if place == 2 { Kind::Write } else { Kind::Read },
            site: place as u32,
            ..Record::default()
        }
    });
    let records: Vec<Record> = events.collect();
    let bytes = written(&[&records]);
    assert_eq!(read(&bytes).unwrap(), records);
    assert!(bytes.len() < 10_200, "{} bytes", bytes.len());
}
