//! Formats of `printf`.
//!
//! Nothing here needs LLVM, so the tests compile this file alone.

/// What a format does with an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Prints it.
    Value,
    /// Reads the string there to its end.
    String,
    /// Reads or writes an unknown amount of memory there.
    Memory,
}

/// Returns what the format does with each argument, and whether that is all. Stops at anything that is not understood.
pub fn directives(format: &[u8]) -> (Vec<Use>, bool) {
    let mut uses = Vec::new();
    let mut rest = format.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            continue;
        }
        let (mut has_precision, mut is_wide) = (false, false);
        loop {
            match rest.next() {
                Some(b'*') => uses.push(Use::Value),
                Some(b'.') => has_precision = true,
                Some(b'0'..=b'9' | b'-' | b'+' | b' ' | b'#' | b'\'') => {}
                Some(b'l' | b'L' | b'q') => is_wide = true,
                Some(b'h' | b'j' | b'z' | b't') => {}
                Some(b'%' | b'm') => break,
                Some(b's') => {
                    uses.push(if has_precision || is_wide { Use::Memory } else { Use::String });
                    break;
                }
                Some(b'n' | b'S') => {
                    uses.push(Use::Memory);
                    break;
                }
                Some(byte) if byte.is_ascii_alphabetic() => {
                    uses.push(Use::Value);
                    break;
                }
                // The end of the format, after a percent sign.
                None => return (uses, true),
                // `%1$s` and other forms.
                Some(_) => return (uses, false),
            }
        }
    }
    (uses, true)
}
