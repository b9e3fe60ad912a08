//! Response files: arguments that a build system puts into a file because there are too many of them.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use crate::CompileError;

/// Response files may name others; deeper nesting is a cycle.
const MAX_DEPTH: u32 = 16;

/// Returns the arguments with every `@file` replaced by the contents of the file. If the file does not exist, the
/// argument stays as it is, as in clang.
pub fn expand(arguments: &[OsString]) -> Result<Vec<OsString>, CompileError> {
    let mut expanded = Vec::with_capacity(arguments.len());
    expand_into(arguments, 0, &mut expanded)?;
    Ok(expanded)
}

fn expand_into(arguments: &[OsString], depth: u32, expanded: &mut Vec<OsString>) -> Result<(), CompileError> {
    for argument in arguments {
        let path = argument.as_bytes().strip_prefix(b"@").map(|name| PathBuf::from(OsString::from_vec(name.to_vec())));
        match path {
            Some(path) if path.exists() => {
                if depth == MAX_DEPTH {
                    return Err(CompileError::ResponseDepth { path });
                }
                let text = fs::read(&path).map_err(|source| CompileError::Response { path, source })?;
                expand_into(&tokens(&text), depth + 1, expanded)?;
            }
            _ => expanded.push(argument.clone()),
        }
    }
    Ok(())
}

/// Splits the text of a response file as a shell would: at white space, with quotes and backslashes.
fn tokens(text: &[u8]) -> Vec<OsString> {
    let mut tokens = Vec::new();
    let mut token: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', None | Some(b'"')) => token.get_or_insert_default().extend(bytes.next()),
            (b'"' | b'\'', None) => {
                quote = Some(byte);
                token.get_or_insert_default();
            }
            (_, Some(open)) if byte == open => quote = None,
            (_, None) if byte.is_ascii_whitespace() => tokens.extend(token.take()),
            _ => token.get_or_insert_default().push(byte),
        }
    }
    tokens.extend(token);
    tokens.into_iter().map(OsString::from_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        tokens(text.as_bytes()).into_iter().map(|token| token.into_string().unwrap()).collect()
    }

    #[test]
    fn splits_like_a_shell() {
        assert_eq!(split("-c  a.c\n-o a.o\n"), ["-c", "a.c", "-o", "a.o"]);
        assert_eq!(split(r#"-DX="a b" 'c d' e\ f"#), ["-DX=a b", "c d", "e f"]);
        assert_eq!(split(r#""" '' "a\"b" 'a\b'"#), ["", "", "a\"b", "a\\b"]);
        assert_eq!(split("   \n\t "), [""; 0]);
        assert_eq!(split("unfinished\\"), ["unfinished"]);
    }

    #[test]
    fn expands_files_within_files() {
        let directory = tempfile::tempdir().unwrap();
        let (inner, outer) = (directory.path().join("inner"), directory.path().join("outer"));
        fs::write(&inner, "-DINNER").unwrap();
        fs::write(&outer, format!("-DOUTER @{}", inner.display())).unwrap();
        let expanded = expand(&["-c".into(), format!("@{}", outer.display()).into(), "@nosuchfile".into()]).unwrap();
        assert_eq!(expanded, ["-c", "-DOUTER", "-DINNER", "@nosuchfile"]);
    }

    #[test]
    fn refuses_a_file_that_names_itself() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("loop");
        fs::write(&file, format!("@{}", file.display())).unwrap();
        let error = expand(&[format!("@{}", file.display()).into()]).unwrap_err();
        assert!(matches!(error, CompileError::ResponseDepth { .. }), "{error}");
    }
}
