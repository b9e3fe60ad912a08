//! What formats of `printf` do with their arguments.

#[path = "../../src/directives.rs"]
mod formats;

use formats::Use::{Memory, String, Value};
use formats::directives;

#[test]
fn strings_are_distinguished_from_what_else_is_printed() {
    assert_eq!(directives(b"%d %s: %5.1f%%\n"), (vec![Value, String, Value], true));
    assert_eq!(directives(b"%-20s|%.4s|%.*s|%ls"), (vec![String, Memory, Value, Memory, Memory], true));
    assert_eq!(directives(b"%*d%s"), (vec![Value, Value, String], true));
    assert_eq!(directives(b"%s %2$s %s"), (vec![String], false));
    assert_eq!(directives(b"%d%n"), (vec![Value, Memory], true));
    assert_eq!(directives(b"%m 100%"), (vec![], true));
}
