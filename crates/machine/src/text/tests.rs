use super::*;
use proptest::prelude::*;
use std::vec::Vec;
use std::{format, vec};

#[test]
fn parts_of_a_path() {
    assert_eq!(PathText::of(&[b"/proc/", b"self"]).text(), b"/proc/self");
}

#[test]
fn numbers_in_a_path() {
    let mut path = PathText::of(&[b"/fd/"]);
    path.push_number(0);
    path.push(b"/");
    path.push_number(1024);
    assert_eq!(path.text(), b"/fd/0/1024");
}

#[test]
fn text_has_a_terminating_zero() {
    let path = PathText::of(&[b"abc"]);
    assert_eq!(&path.bytes()[..4], b"abc\0");
}

#[test]
fn text_that_does_not_fit_is_cut_off_before_the_zero() {
    let mut path = PathText::of(&[&[b'x'; LONGEST - 3]]);
    path.push(b"abcdef");
    assert_eq!(path.text().len(), LONGEST - 1);
    assert!(path.text().ends_with(b"xab"));
    assert_eq!(path.bytes()[LONGEST - 1], 0);
    path.push(b"more");
    assert_eq!(path.text().len(), LONGEST - 1);
}

#[test]
fn text_that_may_have_been_cut_off_is_none() {
    assert!(PathText::NEW.filled(|_| Some(LONGEST - 1)).is_none());
    assert!(PathText::NEW.filled(|_| None).is_none());
}

#[test]
fn filled_text_has_its_end() {
    let path = PathText::of(&[b"longer"]).filled(|bytes| {
        bytes[..2].copy_from_slice(b"/a");
        Some(2)
    });
    let path = path.expect("it fits");
    assert_eq!((path.text(), path.bytes()[2]), (&b"/a"[..], 0));
}

#[test]
fn paths_below_a_directory() {
    let path = PathText::of(&[b"/tmp/a/b"]);
    assert!(path.is_in(b"/tmp") && path.is_in(b"/tmp/a") && path.is_in(b"/tmp/a/b"));
    assert!(!path.is_in(b"/tmp/a/b/c") && !path.is_in(b"/tm") && !path.is_in(b"/var"));
}

#[test]
fn a_neighbour_with_a_longer_name_is_not_below() {
    assert!(!PathText::of(&[b"/tmpfiles/a"]).is_in(b"/tmp"));
}

#[test]
fn parents() {
    let parent = |path: &[u8]| PathText::of(&[path]).parent().map(|parent| parent.text().to_vec());
    assert_eq!(parent(b"/a/b"), Some(b"/a".to_vec()));
    assert_eq!(parent(b"/a"), Some(b"/".to_vec()));
    assert_eq!(parent(b"a"), None);
}

#[test]
fn a_parent_ends_with_a_zero() {
    let parent = PathText::of(&[b"/abc/def"]).parent().expect("it has one");
    assert_eq!(&parent.bytes()[..9], b"/abc\0\0\0\0\0");
}

#[test]
fn absolute_paths() {
    assert!(PathText::of(&[b"/a"]).is_absolute() && !PathText::of(&[b"a"]).is_absolute());
    assert!(!PathText::NEW.is_absolute());
}

#[test]
fn last_parts() {
    let parts = [&b"/a/b"[..], b"b", b"/a/b//", b"/", b""].map(last_part);
    assert_eq!(parts, [&b"b"[..], b"b", b"b", b"/", b"/"]);
}

#[test]
fn decimal_numbers() {
    assert_eq!(decimal(b"0"), Some(0));
    assert_eq!(decimal(b"1024"), Some(1024));
    assert_eq!([decimal(b""), decimal(b"."), decimal(b"12a"), decimal(b"-1")], [None; 4]);
}

#[test]
fn a_number_too_large_is_none() {
    assert_eq!(decimal(b"99999999999999999999"), None);
    assert_eq!(hexadecimal(b"10000000000000000"), None);
    assert_eq!(hexadecimal(b"ffffffffffffffff"), Some(usize::MAX));
}

#[test]
fn hexadecimal_numbers() {
    assert_eq!(hexadecimal(b"7fF0"), Some(0x7ff0));
    assert_eq!([hexadecimal(b""), hexadecimal(b"0x1"), hexadecimal(b"g")], [None; 3]);
}

const HEAP: &[u8] = b"55d0c0000000-55d0c0021000 rw-p 00000000 00:00 0                          [heap]";
const FILE: &[u8] = b"7f0000000000-7f0000001000 r-xp 00002000 08:01 77                         /usr/lib/libc.so.6";

#[test]
fn the_range_of_a_mapping() {
    let mapping = Mapping::read(HEAP).expect("a line");
    assert_eq!((mapping.start, mapping.end), (0x55d0_c000_0000, 0x55d0_c002_1000));
}

#[test]
fn the_heap_is_anonymous() {
    assert!(Mapping::read(HEAP).is_some_and(|mapping| mapping.is_anonymous()));
    assert!(Mapping::read(b"1000-2000 rw-p 00000000 00:00 0").is_some_and(|mapping| mapping.is_anonymous()));
}

#[test]
fn stacks_files_and_guards_are_not() {
    for line in [
        &b"1000-2000 rw-p 00000000 00:00 0 [stack]"[..],
        b"1000-2000 rw-p 00000000 08:01 77 /tmp/file",
        b"1000-2000 ---p 00000000 00:00 0",
        b"1000-2000 rw-s 00000000 00:00 0",
    ] {
        assert!(!Mapping::read(line).expect("a line").is_anonymous());
    }
}

#[test]
fn code_and_constants_are_files() {
    assert!(Mapping::read(FILE).is_some_and(|mapping| mapping.is_constant_file()));
    assert!(!Mapping::read(HEAP).is_some_and(|mapping| mapping.is_constant_file()));
}

#[test]
fn memory_that_processes_share() {
    let is_shared = |line: &[u8]| Mapping::read(line).is_some_and(|mapping| mapping.is_writable_and_shared());
    assert!(is_shared(b"7f0000000000-7f0000001000 rw-s 00000000 00:01 1024 /dev/zero (deleted)"));
    assert!(!is_shared(b"7f0000000000-7f0000001000 rw-p 00000000 00:00 0"));
    assert!(!is_shared(b"7f0000000000-7f0000001000 r--s 00000000 08:01 77 /usr/lib/cache"));
}

#[test]
fn what_is_no_line() {
    for line in [&b""[..], b"1000", b"1000-", b"1000-2000", b"x-y rw-p 0 0 0", b"2000-1000 rw-p 0 00:00 0"] {
        assert_eq!(Mapping::read(line), None);
    }
}

#[test]
fn names_of_semaphores() {
    assert_eq!(SemaphoreName::read(b"/name"), SemaphoreName::Valid(b"name"));
    assert_eq!(SemaphoreName::read(b"name"), SemaphoreName::Valid(b"name"));
    assert_eq!(SemaphoreName::read(b"//name"), SemaphoreName::Valid(b"name"));
}

#[test]
fn names_that_are_none() {
    assert_eq!([&b""[..], b"/", b"/a/b"].map(SemaphoreName::read), [SemaphoreName::Invalid; 3]);
}

#[test]
fn long_names() {
    let name = |length: usize| vec![b'x'; length];
    assert_eq!(SemaphoreName::read(&name(251)), SemaphoreName::Valid(&name(251)));
    assert_eq!(SemaphoreName::read(&name(252)), SemaphoreName::TooLong);
    assert_eq!(SemaphoreName::read(&name(255)), SemaphoreName::TooLong);
    assert_eq!(SemaphoreName::read(&name(256)), SemaphoreName::Invalid);
}

proptest! {
    #[test]
    fn numbers_survive(number in any::<usize>()) {
        let mut text = PathText::NEW;
        text.push_number(number);
        prop_assert_eq!(decimal(text.text()), Some(number));
        prop_assert_eq!(hexadecimal(format!("{number:x}").as_bytes()), Some(number));
    }

    #[test]
    fn pushing_is_appending(parts in proptest::collection::vec("[a-z/]{0,300}", 0..6)) {
        let mut path = PathText::NEW;
        parts.iter().for_each(|part| path.push(part.as_bytes()));
        let mut expected: Vec<u8> = parts.concat().into_bytes();
        expected.truncate(LONGEST - 1);
        prop_assert_eq!(path.text(), &expected[..]);
    }

    #[test]
    fn everything_is_below_its_parent(path in "(/[a-z]{1,8}){2,6}") {
        let path = PathText::of(&[path.as_bytes()]);
        let parent = path.parent().expect("it has one");
        prop_assert!(path.is_in(parent.text()));
        prop_assert!(!parent.is_in(path.text()));
    }

    #[test]
    fn mappings_survive(start in any::<u32>(), len in any::<u32>(), name in "(/[a-z]{1,9})?") {
        let (start, end) = (start as usize, start as usize + len as usize);
        let line = format!("{start:x}-{end:x} r--p 00000000 08:01 7     {name}");
        let mapping = Mapping::read(line.as_bytes()).expect("a line");
        prop_assert_eq!((mapping.start, mapping.end), (start, end));
        prop_assert_eq!(mapping.is_constant_file(), !name.is_empty());
    }

    #[test]
    fn any_bytes_are_a_line_or_none(line in proptest::collection::vec(any::<u8>(), 0..80)) {
        if let Some(mapping) = Mapping::read(&line) {
            prop_assert!(mapping.start <= mapping.end);
            let kinds = [mapping.is_anonymous(), mapping.is_writable_and_shared(), mapping.is_constant_file()];
            prop_assert!(kinds.iter().filter(|&&is_so| is_so).count() <= 1);
        }
    }
}
