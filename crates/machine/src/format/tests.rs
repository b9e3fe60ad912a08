use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use std::string::String;
use std::vec::Vec;

/// Arguments 1, 2, 3, ..., unless others are given.
struct Numbers {
    given: Vec<usize>,
    taken: usize,
    floats: usize,
    long_floats: usize,
}

impl Numbers {
    fn new(given: &[usize]) -> Self {
        Self { given: given.to_vec(), taken: 0, floats: 0, long_floats: 0 }
    }
}

impl Arguments for Numbers {
    fn next(&mut self) -> usize {
        self.taken += 1;
        self.given.get(self.taken - 1).copied().unwrap_or(self.taken)
    }

    fn skip_float(&mut self, is_long: bool) {
        if is_long {
            self.long_floats += 1;
        } else {
            self.floats += 1;
        }
    }
}

fn printed(format: &str, given: &[usize]) -> (Vec<Print>, Numbers) {
    let (mut effects, mut arguments) = (Vec::new(), Numbers::new(given));
    print(format.as_bytes(), &mut arguments, |effect| effects.push(effect));
    (effects, arguments)
}

fn text(at: usize) -> Print {
    Print::Text { at, precision: None, is_wide: false }
}

fn scanned(format: &str, result: isize) -> Vec<Scan> {
    let (mut effects, mut arguments) = (Vec::new(), Numbers::new(&[]));
    scan(format.as_bytes(), Some(result), &mut arguments, |effect| effects.push(effect));
    effects
}

fn bytes(at: usize, size: usize) -> Scan {
    Scan::Write(at, Scanned::Bytes(size))
}

#[test]
fn text_without_conversions() {
    let (effects, arguments) = printed("hello, 100%% sure", &[]);
    assert_eq!((effects.len(), arguments.taken), (0, 0));
}

#[test]
fn numbers_take_arguments() {
    let (effects, arguments) = printed("%d %i %u %x %c %p", &[]);
    assert_eq!((effects.len(), arguments.taken), (0, 6));
}

#[test]
fn a_string_is_read() {
    assert_eq!(printed("a%sb", &[]).0, [text(1)]);
}

#[test]
fn a_null_string_is_not() {
    assert_eq!(printed("%s%s", &[0, 5]).0, [text(5)]);
}

#[test]
fn flags_and_width_do_not_matter() {
    assert_eq!(printed("%-+ #'020s", &[]).0, [text(1)]);
}

#[test]
fn a_width_can_be_an_argument() {
    assert_eq!(printed("%*s", &[9, 8]).0, [text(8)]);
}

#[test]
fn a_precision_limits_what_is_read() {
    assert_eq!(printed("%.12s", &[]).0, [Print::Text { at: 1, precision: Some(12), is_wide: false }]);
}

#[test]
fn a_precision_without_a_number_is_none_at_all() {
    assert_eq!(printed("%.s", &[]).0, [Print::Text { at: 1, precision: Some(0), is_wide: false }]);
}

#[test]
fn a_precision_can_be_an_argument() {
    assert_eq!(printed("%.*s", &[3, 8]).0, [Print::Text { at: 8, precision: Some(3), is_wide: false }]);
}

#[test]
fn a_negative_precision_is_no_limit() {
    assert_eq!(printed("%.*s", &[-1_i32 as u32 as usize, 8]).0, [text(8)]);
}

#[test]
fn a_precision_too_large_to_count() {
    let effects = printed("%.99999999999999999999999s", &[]).0;
    assert_eq!(effects, [Print::Text { at: 1, precision: Some(usize::MAX), is_wide: false }]);
}

#[test]
fn wide_strings() {
    let wide = Print::Text { at: 1, precision: None, is_wide: true };
    assert_eq!(printed("%ls", &[]).0, [wide]);
    assert_eq!(printed("%S", &[]).0, [wide]);
}

#[test]
fn counts_are_written_in_their_size() {
    let size = |format| match printed(format, &[]).0[..] {
        [Print::Count { at: 1, size }] => size,
        _ => 0,
    };
    assert_eq!(["%n", "%hn", "%hhn", "%ln", "%lln", "%zn"].map(size), [4, 2, 1, 8, 8, 8]);
}

#[test]
fn fractions_are_passed_over() {
    let (effects, arguments) = printed("%f%10.3e%Lg%s", &[]);
    assert_eq!((arguments.floats, arguments.long_floats, effects), (2, 1, Vec::from([text(1)])));
}

#[test]
fn the_error_message_takes_no_argument() {
    assert_eq!(printed("%m: %s", &[]).0, [text(1)]);
}

#[test]
fn numbered_arguments_are_not_followed() {
    assert_eq!(printed("%s %2$s %s", &[]).0, [text(1), Print::Unknown]);
}

#[test]
fn a_format_that_ends_in_the_middle() {
    for format in ["%", "%-", "%.", "%l", "a%s%5."] {
        assert!(printed(format, &[]).0.len() <= 1, "{format}");
    }
}

#[test]
fn numbers_are_scanned_in_their_size() {
    let expected = [bytes(1, 4), bytes(2, 8), bytes(3, 2), bytes(4, 1), bytes(5, 8)];
    assert_eq!(scanned("%d %ld %hd %hhd %zu", 5), expected);
}

#[test]
fn fractions_are_scanned_in_their_size() {
    assert_eq!(scanned("%f%lf%Lf", 3), [bytes(1, 4), bytes(2, 8), bytes(3, 10)]);
}

#[test]
fn only_what_was_assigned_is_written() {
    assert_eq!(scanned("%d %d %d", 2), [bytes(1, 4), bytes(2, 4)]);
}

#[test]
fn nothing_is_written_at_the_end_of_the_input() {
    assert_eq!(scanned("%d", -1), []);
}

#[test]
fn strings_are_written_with_their_end() {
    assert_eq!(scanned("%s%ls", 2), [Scan::Write(1, Scanned::Text), Scan::Write(2, Scanned::WideText)]);
}

#[test]
fn characters_have_no_end() {
    assert_eq!(scanned("%c%5c%3lc", 3), [bytes(1, 1), bytes(2, 5), bytes(3, 12)]);
}

#[test]
fn allocated_strings_are_pointers() {
    assert_eq!(scanned("%ms%m[a-z]", 2), [bytes(1, 8), bytes(2, 8)]);
}

#[test]
fn what_is_dropped_takes_no_argument() {
    assert_eq!(scanned("%*d%d", 1), [bytes(1, 4)]);
}

#[test]
fn a_percent_sign_is_matched() {
    assert_eq!(scanned("%% %d", 1), [bytes(1, 4)]);
}

#[test]
fn sets() {
    for set in ["%[abc]%d", "%[^,]%d", "%[]x]%d", "%[^]x]%d"] {
        assert_eq!(scanned(set, 2), [Scan::Write(1, Scanned::Text), bytes(2, 4)], "{set}");
    }
}

#[test]
fn a_set_without_an_end_ends_the_format() {
    assert_eq!(scanned("%[abc%d", 2), [Scan::Write(1, Scanned::Text)]);
}

#[test]
fn a_null_place_is_not_written() {
    let mut effects = Vec::new();
    scan(b"%d%d", Some(2), &mut Numbers::new(&[0, 9]), |effect| effects.push(effect));
    assert_eq!(effects, [bytes(9, 4)]);
}

#[test]
fn a_count_that_was_certainly_reached() {
    assert_eq!(scanned("%d%n", 1), [bytes(1, 4), bytes(2, 4)]);
    assert_eq!(scanned("%n%d", 1), [bytes(1, 4), bytes(2, 4)]);
}

#[test]
fn a_count_behind_text_may_have_been_reached() {
    assert_eq!(scanned("%d,%n", 1), [bytes(1, 4), Scan::Unknown]);
}

#[test]
fn a_count_behind_what_was_not_assigned_was_not() {
    assert_eq!(scanned("%d%d%n", 1), [bytes(1, 4)]);
}

#[test]
fn white_space_keeps_nothing_from_a_count() {
    assert_eq!(scanned("%d %n", 1), [bytes(1, 4), bytes(2, 4)]);
}

#[test]
fn before_the_call_every_place_may_be_written() {
    let mut effects = Vec::new();
    scan(b"%d%s%n", None, &mut Numbers::new(&[]), |effect| effects.push(effect));
    assert_eq!(effects, [Scan::Approach(1), Scan::Approach(2), Scan::Approach(3)]);
}

#[test]
fn numbered_places_are_not_followed() {
    assert_eq!(scanned("%d%1$d%d", 3), [bytes(1, 4), Scan::Unknown]);
}

#[test]
fn registers_come_first() {
    let mut list = VaList { general: 40, float: 48, overflow: 1000, registers: 2000 };
    assert_eq!([list.next_address(), list.next_address(), list.next_address()], [2040, 1000, 1008]);
}

#[test]
fn fractions_have_registers_of_their_own() {
    let mut list = VaList { general: 48, float: 160, overflow: 1000, registers: 2000 };
    list.skip_float(false);
    assert_eq!((list.float, list.overflow), (176, 1000));
    list.skip_float(false);
    assert_eq!((list.float, list.overflow), (176, 1008));
}

#[test]
fn long_fractions_are_aligned_on_the_stack() {
    let mut list = VaList { general: 0, float: 48, overflow: 1000, registers: 2000 };
    list.skip_float(true);
    assert_eq!((list.float, list.overflow), (48, 1024));
}

/// Parts of formats, with the arguments, floating-point numbers and strings that they take.
const PIECES: [(&str, usize, usize, usize); 8] = [
    ("text ", 0, 0, 0),
    ("%d", 1, 0, 0),
    ("%5lu", 1, 0, 0),
    ("%s", 1, 0, 1),
    ("%-10.3s", 1, 0, 1),
    ("%*s", 2, 0, 1),
    ("%%", 0, 0, 0),
    ("%8.2f", 0, 1, 0),
];

proptest! {
    /// Parts of a format are independent of each other.
    #[test]
    fn a_format_is_the_sum_of_its_parts(pieces in vec(0..PIECES.len(), 0..12)) {
        let format: String = pieces.iter().map(|&piece| PIECES[piece].0).collect();
        let (effects, arguments) = printed(&format, &[]);
        let sum = |what: fn(&(&str, usize, usize, usize)) -> usize| pieces.iter().map(|&at| what(&PIECES[at])).sum::<usize>();
        prop_assert_eq!(arguments.taken, sum(|piece| piece.1));
        prop_assert_eq!(arguments.floats, sum(|piece| piece.2));
        prop_assert_eq!(effects.len(), sum(|piece| piece.3));
    }

    /// No format makes the parsers panic or run on, and both take arguments only for conversions.
    #[test]
    fn any_bytes_are_a_format(format in vec(prop_oneof![Just(b'%'), any::<u8>()], 0..60), result in -1_isize..5) {
        let signs = format.iter().filter(|&&byte| byte == b'%' || byte == b'*').count();
        let mut arguments = Numbers::new(&[]);
        print(&format, &mut arguments, |_| {});
        prop_assert!(arguments.taken <= signs);
        let (mut arguments, mut writes) = (Numbers::new(&[]), 0);
        scan(&format, Some(result), &mut arguments, |effect| writes += usize::from(matches!(effect, Scan::Write(..))));
        prop_assert!(arguments.taken <= signs && writes <= arguments.taken);
    }

    /// Every place that is written was announced before the call.
    #[test]
    fn writes_are_announced(format in "(%(d|s|hd|5c|n|\\*d|\\[a\\]|m|ms)|x| ){0,8}", result in -1_isize..8) {
        let (mut announced, mut written) = (Vec::new(), Vec::new());
        scan(format.as_bytes(), None, &mut Numbers::new(&[]), |effect| if let Scan::Approach(at) = effect {
            announced.push(at);
        });
        scan(format.as_bytes(), Some(result), &mut Numbers::new(&[]), |effect| if let Scan::Write(at, _) = effect {
            written.push(at);
        });
        prop_assert!(written.iter().all(|at| announced.contains(at)));
    }
}
