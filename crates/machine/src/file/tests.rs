use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::HashMap;
use std::vec::Vec;

fn named(name: u64) -> FileId {
    FileId { name, node: 0 }
}

#[test]
fn files_with_the_same_name_may_be_the_same() {
    assert!(named(3).may_be(FileId { name: 3, node: 9 }));
    assert!(!named(3).may_be(named(4)));
}

#[test]
fn files_with_the_same_node_are_the_same() {
    assert!(FileId { name: 3, node: 9 }.may_be(FileId { name: 4, node: 9 }));
}

#[test]
fn what_is_not_known_is_not_equal() {
    assert!(!named(3).may_be(FileId { name: 0, node: 0 }));
    assert!(!named(0).may_be(named(0)));
}

#[test]
fn every_file_may_be_any() {
    assert!(FileId::ANY.may_be(named(0)) && named(7).may_be(FileId::ANY));
}

#[test]
fn the_first_use_is_remembered() {
    let mut used = UsedFiles::<4>::NONE;
    used.add(named(3), (1, 0));
    used.add(named(3), (2, 0));
    assert_eq!(used.find(named(3)), Some((1, 0)));
    assert_eq!(used.find(named(4)), None);
}

#[test]
fn too_many_files_are_every_file() {
    let mut used = UsedFiles::<4>::NONE;
    (1..=4).for_each(|name| used.add(named(name), (name as usize, 0)));
    assert_eq!(used.find(named(99)), Some((4, 0)));
    used.add(named(50), (50, 0));
    assert_eq!(used.find(named(1)), Some((1, 0)));
    assert_eq!(used.find(named(50)), Some((4, 0)));
}

#[test]
fn a_file_is_known_by_its_first_name() {
    let mut names = FirstNames::<8>::NONE;
    assert_eq!(names.first(5, 100), Some(100));
    assert_eq!(names.first(5, 200), Some(100));
    assert_eq!((names.find(5), names.find(6)), (Some(100), None));
}

#[test]
fn a_file_without_a_node_has_the_name_that_it_has() {
    let mut names = FirstNames::<8>::NONE;
    assert_eq!(names.first(0, 100), Some(100));
    assert_eq!(names.first(0, 200), Some(200));
}

#[test]
fn files_whose_nodes_collide_are_told_apart() {
    let mut names = FirstNames::<8>::NONE;
    assert_eq!([names.first(1, 100), names.first(9, 200), names.first(17, 300)], [Some(100), Some(200), Some(300)]);
    assert_eq!([names.find(1), names.find(9), names.find(17)], [Some(100), Some(200), Some(300)]);
}

#[test]
fn there_are_only_so_many_names() {
    let mut names = FirstNames::<2>::NONE;
    names.first(1, 100);
    names.first(2, 200);
    assert_eq!(names.first(3, 300), None);
    assert_eq!(names.first(2, 0), Some(200));
    assert_eq!(names.find(3), None);
}

const fn used(looks: bool, changes: bool) -> FileUse {
    FileUse { looks, changes }
}

#[test]
fn opening_to_read() {
    assert_eq!(FileUse::of_flags(0), used(true, false));
}

#[test]
fn opening_to_write_needs_the_file() {
    assert_eq!(FileUse::of_flags(1), used(true, true));
}

#[test]
fn creating_does_not() {
    assert_eq!(FileUse::of_flags(0o101), used(false, true));
    assert_eq!(FileUse::of_flags(0o1101), used(false, true));
}

#[test]
fn creating_exclusively_depends_on_whether_it_is_there() {
    assert_eq!(FileUse::of_flags(0o301), used(true, true));
}

#[test]
fn opening_to_read_can_create_or_truncate() {
    assert_eq!(FileUse::of_flags(0o100), used(true, true));
    assert_eq!(FileUse::of_flags(0o1000), used(true, true));
}

#[test]
fn modes_of_streams() {
    let uses = ["r", "r+", "w", "w+", "a", "a+", "wx", "rb", "wbe"].map(|mode| FileUse::of_mode(mode.as_bytes()));
    let expected = [
        used(true, false),
        used(true, true),
        used(false, true),
        used(true, true),
        used(false, true),
        used(true, true),
        used(true, true),
        used(true, false),
        used(false, true),
    ];
    assert_eq!(uses, expected);
}

#[test]
fn files_that_vary() {
    assert!(is_varying(b"/dev/urandom") && is_varying(b"/proc/self/stat") && is_varying(b"/sys/class"));
    assert!(!is_varying(b"/dev/null") && !is_varying(b"/process/1") && !is_varying(b"proc/1"));
}

fn inet(host: [u8; 4], port: u16) -> Vec<u8> {
    let mut address = Vec::from([2, 0]);
    address.extend(port.to_be_bytes());
    address.extend(host);
    address.extend([0; 8]);
    address
}

fn inet6(host: [u8; 16], port: u16) -> Vec<u8> {
    let mut address = Vec::from([10, 0]);
    address.extend(port.to_be_bytes());
    address.extend([0; 4]);
    address.extend(host);
    address
}

#[test]
fn ports_of_this_machine() {
    assert_eq!(Reach::of(&inet([127, 0, 0, 1], 8080)), Reach::Port(8080));
    assert_eq!(Reach::of(&inet([0, 0, 0, 0], 80)), Reach::Port(80));
    assert_eq!(Reach::of(&inet([127, 5, 6, 7], 80)), Reach::Port(80));
}

#[test]
fn ports_of_other_machines() {
    assert_eq!(Reach::of(&inet([192, 0, 2, 1], 80)), Reach::Elsewhere);
}

#[test]
fn ports_of_the_new_protocol() {
    let mut loopback = [0; 16];
    assert_eq!(Reach::of(&inet6(loopback, 9)), Reach::Port(9));
    loopback[15] = 1;
    assert_eq!(Reach::of(&inet6(loopback, 9)), Reach::Port(9));
    loopback[15] = 2;
    assert_eq!(Reach::of(&inet6(loopback, 9)), Reach::Elsewhere);
}

#[test]
fn old_addresses_in_the_new_protocol() {
    let mut mapped = [0; 16];
    mapped[10..].copy_from_slice(&[0xff, 0xff, 127, 0, 0, 1]);
    assert_eq!(Reach::of(&inet6(mapped, 9)), Reach::Port(9));
    mapped[12] = 10;
    assert_eq!(Reach::of(&inet6(mapped, 9)), Reach::Elsewhere);
}

#[test]
fn names_that_are_no_files() {
    assert_eq!(Reach::of(&[1, 0, 0, b'x']), Reach::Name);
    assert_eq!(Reach::of(&[1, 0, b'/', b'x']), Reach::Elsewhere);
    assert_eq!(Reach::of(&[1, 0]), Reach::Elsewhere);
}

#[test]
fn addresses_that_are_too_short() {
    for length in 0..8 {
        assert_eq!(Reach::of(&inet([127, 0, 0, 1], 80)[..length]), Reach::Elsewhere, "{length}");
    }
}

#[test]
fn hashes_are_never_zero() {
    assert!(name_hash(b"") & 1 == 1 && key(&[]) & 1 == 1);
}

#[test]
fn the_order_of_words_counts() {
    assert_ne!(key(&[1, 2]), key(&[2, 1]));
    assert_ne!(name_hash(b"ab"), name_hash(b"ba"));
}

proptest! {
    /// A file that was used is found, however many there were: claims rely on it.
    #[test]
    fn no_use_is_forgotten(names in vec(1_u64..40, 0..30)) {
        let mut used = UsedFiles::<8>::NONE;
        for (at, &name) in names.iter().enumerate() {
            used.add(named(name), (at, 0));
            prop_assert!(names[..=at].iter().all(|&name| used.find(named(name)).is_some()));
        }
    }

    #[test]
    fn first_names_are_a_map(steps in vec((1_u64..20, 1_u64..1000), 0..60)) {
        let (mut names, mut model) = (FirstNames::<16>::NONE, HashMap::new());
        for (node, name) in steps {
            let expected = if model.len() < 16 || model.contains_key(&node) {
                Some(*model.entry(node).or_insert(name))
            } else {
                None
            };
            prop_assert_eq!(names.first(node, name), expected);
            for node in 1..20 {
                prop_assert_eq!(names.find(node), model.get(&node).copied());
            }
        }
    }

    #[test]
    fn any_bytes_are_an_address(address in vec(any::<u8>(), 0..40)) {
        if let Reach::Port(port) = Reach::of(&address) {
            prop_assert_eq!(port.to_be_bytes(), [address[2], address[3]]);
        }
    }

    /// The effect of a call on a file includes opening it for that purpose.
    #[test]
    fn a_file_that_is_opened_for_writing_may_change(flags in 0_usize..0o4000) {
        let usage = FileUse::of_flags(flags);
        prop_assert!(usage.looks || usage.changes);
        prop_assert!(flags & 3 == 0 || usage.changes);
    }
}
