use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::{HashMap, VecDeque};
use std::vec;
use std::vec::Vec;

const fn block(start: usize, size: usize) -> Block {
    Block { start, size }
}

#[test]
fn no_memory_at_first() {
    assert!(!Ranges::<2>::NONE.contains(0) && !Ranges::<2>::NONE.contains(100));
}

#[test]
fn the_end_of_a_range_is_not_in_it() {
    let mut ranges = Ranges::<2>::NONE;
    ranges.add(100, 10);
    assert!(ranges.contains(100) && ranges.contains(109) && !ranges.contains(110) && !ranges.contains(99));
}

#[test]
fn with_too_many_ranges_all_memory_counts() {
    let mut ranges = Ranges::<2>::NONE;
    [100, 200, 300].iter().for_each(|&start| ranges.add(start, 10));
    assert!(ranges.contains(305) && ranges.contains(7) && ranges.contains(usize::MAX - 1));
}

#[test]
fn blocks_by_address() {
    let blocks = [block(10, 5), block(20, 1), block(40, 8)];
    assert!([10, 14, 20, 47].iter().all(|&address| contains(&blocks, address)));
    assert!([9, 15, 21, 39, 48].iter().all(|&address| !contains(&blocks, address)));
    assert_eq!([find(&blocks, 20), find(&blocks, 21)], [Some(1), None]);
}

#[test]
fn a_new_block_keeps_the_order() {
    let blocks = [block(10, 5), block(20, 1)];
    assert_eq!([5, 15, 25].map(|start| position(&blocks, start)), [0, 1, 2]);
}

#[test]
fn no_blocks() {
    assert!(!contains(&[], 5));
    assert_eq!((position(&[], 5), find(&[], 5)), (0, None));
}

#[test]
fn an_empty_range_takes_its_first_place() {
    assert_eq!(extended(block(0, 0), 50, 60), block(50, 10));
}

#[test]
fn a_range_extends_in_both_directions() {
    assert_eq!(extended(block(50, 10), 55, 58), block(50, 10));
    assert_eq!(extended(block(50, 10), 40, 45), block(40, 20));
    assert_eq!(extended(block(50, 10), 70, 80), block(50, 30));
}

#[test]
fn neighbours_do_not_overlap() {
    assert!(!overlap(block(0, 4), block(4, 4)) && overlap(block(0, 5), block(4, 4)));
}

#[test]
fn nothing_overlaps_with_no_bytes_at_its_edge() {
    assert!(!overlap(block(4, 0), block(4, 4)));
}

#[test]
fn memory_at_the_end_of_the_address_space() {
    assert!(overlap(block(usize::MAX - 1, 8), block(usize::MAX - 1, 1)));
}

#[test]
fn pieces_of_a_range() {
    assert_eq!(pieces(0).collect::<Vec<_>>(), []);
    assert_eq!(pieces(3).collect::<Vec<_>>(), [(0, 3)]);
    assert_eq!(pieces(17).collect::<Vec<_>>(), [(0, 8), (8, 8), (16, 1)]);
}

/// Places of a small quarantine.
const PLACES: usize = 8;
type Small = Quarantine<Block, PLACES>;

fn add(quarantine: &mut Small, block: Block) -> Vec<Block> {
    let mut gone = Vec::new();
    while quarantine.is_full_for(block.size) {
        gone.extend(quarantine.take_oldest(|block| block.size));
    }
    quarantine.add(block, block.size);
    gone
}

#[test]
fn the_oldest_goes_when_there_is_no_place() {
    let mut quarantine = Small::new(Block::default());
    assert!((0..PLACES).all(|start| add(&mut quarantine, block(start, 1)).is_empty()));
    assert_eq!(add(&mut quarantine, block(9, 1)), [block(0, 1)]);
}

#[test]
fn old_ones_go_when_they_weigh_too_much() {
    let mut quarantine = Small::new(Block::default());
    let most = Small::MOST / Small::LARGE;
    (0..most).for_each(|start| assert!(add(&mut quarantine, block(start, Small::LARGE)).is_empty()));
    assert_eq!(add(&mut quarantine, block(9, 1)), [block(0, Small::LARGE)]);
}

#[test]
fn a_large_block_weighs_no_more_than_others() {
    let mut quarantine = Small::new(Block::default());
    (0..4).for_each(|start| assert!(add(&mut quarantine, block(start, usize::MAX)).is_empty()));
}

#[test]
fn a_place_identifies_a_block() {
    let mut quarantine = Small::new(Block::default());
    let place = quarantine.add(block(5, 1), 1);
    assert_eq!(*quarantine.at(place), block(5, 1));
    assert!(!quarantine.is_empty());
}

#[test]
fn an_empty_quarantine_has_no_oldest() {
    assert_eq!(Small::new(Block::default()).take_oldest(|block| block.size), None);
    assert!(!Small::new(Block::default()).is_full_for(usize::MAX));
}

#[test]
fn every_place_is_tried_once() {
    let mut places: Vec<usize> = probes(12345, 16).collect();
    places.sort_unstable();
    assert_eq!(places, (0..16).collect::<Vec<_>>());
}

proptest! {
    #[test]
    fn sorted_blocks_are_a_set_of_bytes(starts in proptest::collection::hash_set(0_usize..40, 0..12)) {
        let mut blocks: Vec<Block> = Vec::new();
        for start in starts {
            blocks.insert(position(&blocks, start * 8), block(start * 8, 1 + start % 8));
        }
        prop_assert!(blocks.windows(2).all(|pair| pair[0].start < pair[1].start));
        for address in 0..330 {
            let is_in = blocks.iter().any(|block| (block.start..block.start + block.size).contains(&address));
            prop_assert_eq!(contains(&blocks, address), is_in);
            let at = blocks.iter().position(|block| block.start == address);
            prop_assert_eq!(find(&blocks, address), at);
        }
    }

    #[test]
    fn overlapping_is_having_a_byte_in_common(a in (0_usize..30, 1_usize..9), b in (0_usize..30, 1_usize..9)) {
        let in_common = (a.0..a.0 + a.1).any(|byte| (b.0..b.0 + b.1).contains(&byte));
        prop_assert_eq!(overlap(block(a.0, a.1), block(b.0, b.1)), in_common);
    }

    #[test]
    fn pieces_cover_each_byte_once(size in 0_usize..100) {
        let bytes: Vec<usize> = pieces(size).flat_map(|(at, len)| at..at + len).collect();
        prop_assert_eq!(bytes, (0..size).collect::<Vec<_>>());
        prop_assert!(pieces(size).all(|(_, len)| len <= 8));
    }

    #[test]
    fn an_extended_range_has_both(a in (0_usize..99, 1_usize..20), from in 0_usize..99, len in 1_usize..20) {
        let whole = extended(block(a.0, a.1), from, from + len);
        prop_assert_eq!(whole.start, a.0.min(from));
        prop_assert_eq!(whole.start + whole.size, (a.0 + a.1).max(from + len));
    }

    /// Compared with a queue: the oldest block is removed, and never more than needed.
    #[test]
    fn a_quarantine_is_a_queue(sizes in vec(prop_oneof![0_usize..100, 200_000_usize..600_000], 0..40)) {
        let (mut quarantine, mut model) = (Small::new(Block::default()), VecDeque::new());
        for (start, size) in sizes.into_iter().enumerate() {
            let weight = |blocks: &VecDeque<Block>| blocks.iter().map(|block| block.size.min(Small::LARGE)).sum::<usize>();
            let mut expected = Vec::new();
            while !model.is_empty() && (model.len() == PLACES || weight(&model) + size.min(Small::LARGE) > Small::MOST) {
                expected.extend(model.pop_front());
            }
            model.push_back(block(start, size));
            prop_assert_eq!(add(&mut quarantine, block(start, size)), expected);
        }
    }

    /// Open addressing with these places is a map.
    #[test]
    fn probes_find_what_was_put(keys in vec(0_usize..200, 0..14)) {
        let mut table = vec![None; 16];
        let mut model = HashMap::new();
        for (value, key) in keys.into_iter().enumerate() {
            let is_its = |place: &usize| table[*place].is_none_or(|(known, _)| known == key);
            let place = probes(key, 16).find(is_its).expect("there is room");
            table[place] = Some((key, value));
            model.insert(key, value);
        }
        for key in 0..200 {
            let found = probes(key, 16).map(|place| table[place]).take_while(Option::is_some).flatten().find(|&(known, _)| known == key);
            prop_assert_eq!(found.map(|(_, value)| value), model.get(&key).copied());
        }
    }
}
