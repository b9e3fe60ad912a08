//! What the names of a source say by themselves.

/// Returns true unless an expression is a computed value, such as the `a + b` of `std::to_string(a + b)`, or the result of a
/// call, such as `std::move(a)`.
pub(crate) fn is_object(expression: &str) -> bool {
    let (mut depth, mut before) = (0_u32, ' ');
    expression.chars().all(|letter| {
        let is_arrow = letter == '>' && before == '-';
        let is_call = letter == '(' && (before.is_alphanumeric() || before == '_');
        if is_call && depth == 0 {
            return false;
        }
        before = letter;
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > 0 || is_arrow || !matches!(letter, '+' | '/' | '%' | '|' | '^' | '?' | '!' | '=' | '<' | '>' | ' ')
    })
}

/// Returns a name without the numbers of elements and addresses in it: `table[].next` for `table[3].next`.
pub(crate) fn without_numbers(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut drops = false;
    for letter in name.chars() {
        drops = matches!(letter, '[' | '#') || drops && letter.is_ascii_digit();
        if !drops || !letter.is_ascii_digit() {
            out.push(letter);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{is_object, without_numbers};

    #[test]
    fn computed_values_are_no_objects() {
        for object in ["a", "*a->b", "table[i + 1].next", "(*p).x", "&lock"] {
            assert!(is_object(object), "{object}");
        }
        for value in ["a + b", "(a + b) % 2", "a ? b : c", "!a", "std::move(body)", "next_(a)"] {
            assert!(!is_object(value), "{value}");
        }
    }

    #[test]
    fn elements_of_an_array_are_one_variable() {
        for (name, variable) in
            [("n2", "n2"), ("table[3].next", "table[].next"), ("a[12][x]->b2", "a[][x]->b2"), ("*#14", "*#")]
        {
            assert_eq!(without_numbers(name), variable);
        }
    }
}
