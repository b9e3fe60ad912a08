//! Names short enough to read.

use std::borrow::Cow;

/// Inline namespaces of library versions. Users never write them.
const INLINE: [&str; 6] = ["__cxx11::", "__1::", "__2::", "_V2::", "__n4861::", "__cxx1998::"];

/// Returns a name without the parts that make C++ names long and add little beside file and line: template arguments,
/// inline namespaces of libraries, and tags such as `[abi:cxx11]`.
#[must_use]
pub fn shortened(name: &str) -> Cow<'_, str> {
    // In Rust, the angle brackets may contain the whole name: `<Queue as Drop>::drop`.
    let is_rust = name.starts_with('<') || name.contains(" as ") || name.contains("::<impl ");
    if is_rust || !name.contains(['<', '[', '_', '(']) {
        return Cow::Borrowed(name);
    }
    let mut out = without_parameters(&without_arguments(name));
    for inline in INLINE {
        while let Some(at) = out.find(inline).filter(|&at| at == 0 || out[..at].ends_with("::")) {
            out.replace_range(at..at + inline.len(), "");
        }
    }
    while let Some(start) = out.find("[abi:") {
        let Some(length) = out[start..].find(']') else { break };
        out.replace_range(start..=start + length, "");
    }
    Cow::Owned(out)
}

/// Returns the name without the contents of angle brackets. Operators such as `<` do not count as brackets.
fn without_arguments(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find(['<', '>']) {
        let operator =
            OPERATORS.iter().find(|operator| rest[..at].ends_with("operator") && rest[at..].starts_with(**operator));
        if let Some(operator) = operator {
            out.push_str(&rest[..at + operator.len()]);
            rest = &rest[at + operator.len()..];
            continue;
        }
        // `operator->` and `operator->*`.
        if rest[at..].starts_with('>') {
            out.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        }
        let Some(end) = closing(&rest[at..]) else { break };
        out.push_str(&rest[..at]);
        rest = &rest[at + end..];
    }
    out + rest
}

/// Returns the name without the parameters of the functions that something is inside of: `Pool::Pool::{lambda}` for
/// `Pool::Pool(int)::{lambda}`.
fn without_parameters(name: &str) -> String {
    const UNNAMED: &str = "(anonymous namespace)";
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(open) = rest.find('(') {
        let (before, from) = rest.split_at(open);
        out.push_str(before);
        let is_operator = out.ends_with("operator") && from.starts_with("()");
        let length = match is_operator {
            true => 2,
            false => from.len() - from.trim_start_matches(|letter| letter != ')').len() + 1,
        };
        let Some(parameters) = from.get(..length).filter(|list| is_operator || !list[1..].contains('(')) else {
            return out + from;
        };
        let after = &from[length..];
        let qualifiers = ["", " const", " &", " const &", " &&"]
            .into_iter()
            .find(|words| after.strip_prefix(words).is_some_and(|rest| rest.starts_with("::")));
        rest = match qualifiers {
            Some(words) if !is_operator && parameters != UNNAMED => &after[words.len()..],
            _ => {
                out.push_str(parameters);
                after
            }
        };
    }
    out + rest
}

/// Operators with angle brackets in their names, the longest first.
const OPERATORS: [&str; 8] = ["<=>", "<<=", ">>=", "<<", ">>", "<=", ">=", "<"];

/// Returns the length of the brackets at the start of a text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
        before = letter;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn arguments_and_versions_of_libraries_are_left_out() {
        for (name, short) in [
            ("worker", "worker"),
            ("ns::Box<int>::set", "ns::Box::set"),
            ("Cache<std::pair<int, long>, 4>::find<char>", "Cache::find"),
            ("std::__cxx11::basic_string<char>::size", "std::basic_string::size"),
            ("std::_V2::condition_variable_any::wait", "std::condition_variable_any::wait"),
            ("name[abi:cxx11]", "name"),
            ("my__1::f", "my__1::f"),
            ("Money::operator<", "Money::operator<"),
            ("operator<< <char>", "operator<< "),
            ("Money::operator<=>", "Money::operator<=>"),
            ("Handle<int>::operator->", "Handle::operator->"),
            ("std::function<auto (int)->long>::operator()", "std::function::operator()"),
            ("main::{lambda}", "main::{lambda}"),
            ("open<", "open<"),
            ("Pool::Pool(unsigned long)::{lambda}", "Pool::Pool::{lambda}"),
            ("Suite_Case_Test::TestBody()::{lambda}", "Suite_Case_Test::TestBody::{lambda}"),
            ("Box<int>::each(int, long) const::{lambda}", "Box::each::{lambda}"),
            ("(anonymous namespace)::run()::{lambda}", "(anonymous namespace)::run::{lambda}"),
            ("Job::operator()(int)::{lambda}", "Job::operator()::{lambda}"),
            ("Job::operator()", "Job::operator()"),
            ("apply(void (*)(int))::{lambda}", "apply(void (*)(int))::{lambda}"),
            ("open(", "open("),
        ] {
            assert_eq!(shortened(name), short);
        }
    }

    #[test]
    fn names_of_rust_stay() {
        for name in ["<ring::Ring<T> as Drop>::drop", "ring::<impl ring::Ring>::push"] {
            assert_eq!(shortened(name), name);
        }
    }
}
