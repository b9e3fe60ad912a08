//! What a file says about the recorded execution as a whole: the payloads of its origin block and of its ending block.

use super::{FAILED, WHOLE};
use crate::varint::{self, Input};
use crate::{Ending, Origin};

fn put_text(payload: &mut Vec<u8>, text: &str) {
    varint::put(payload, text.len() as u64);
    payload.extend_from_slice(text.as_bytes());
}

/// Returns the payload of the origin block.
pub(super) fn origin(origin: &Origin) -> Vec<u8> {
    let mut payload = Vec::new();
    put_text(&mut payload, &origin.program);
    put_text(&mut payload, &origin.identity);
    payload.push(origin.input.is_some().into());
    if let Some(input) = &origin.input {
        put_text(&mut payload, input);
    }
    varint::put(&mut payload, origin.arguments.len() as u64);
    for argument in &origin.arguments {
        put_text(&mut payload, argument);
    }
    payload
}

/// Returns the payload of the ending block.
pub(super) fn ending(ending: &Ending) -> Vec<u8> {
    let mut payload = Vec::new();
    put_text(&mut payload, &ending.outcome);
    payload.push(if ending.is_failure { FAILED } else { 0 } | if ending.is_whole { WHOLE } else { 0 });
    varint::put(&mut payload, ending.unseen.len() as u64);
    for unseen in &ending.unseen {
        put_text(&mut payload, unseen);
    }
    payload
}

fn text(input: &mut Input<'_>) -> Result<String, &'static str> {
    let length = input.count()?;
    Ok(std::str::from_utf8(input.bytes(length)?).map_err(|_| "a name is not UTF-8")?.to_owned())
}

/// Parses the payload of the ending block.
pub(super) fn read_ending(payload: &[u8]) -> Result<Ending, &'static str> {
    let mut input = Input(payload);
    let outcome = text(&mut input)?;
    let flags = input.byte()?;
    if flags & !(FAILED | WHOLE) != 0 {
        return Err("unknown flags");
    }
    let unseen = (0..input.count()?).map(|_| text(&mut input)).collect::<Result<_, _>>()?;
    let ending = Ending { outcome, is_failure: flags & FAILED != 0, is_whole: flags & WHOLE != 0, unseen };
    if input.0.is_empty() { Ok(ending) } else { Err("it says more than it should") }
}

/// Parses the payload of the origin block.
pub(super) fn read_origin(payload: &[u8]) -> Result<Origin, &'static str> {
    let mut input = Input(payload);
    let program = text(&mut input)?;
    let identity = text(&mut input)?;
    let file = match input.byte()? {
        0 => None,
        1 => Some(text(&mut input)?),
        _ => return Err("neither with input nor without"),
    };
    let arguments = (0..input.count()?).map(|_| text(&mut input)).collect::<Result<_, _>>()?;
    let origin = Origin { program, identity, arguments, input: file };
    if input.0.is_empty() { Ok(origin) } else { Err("it says more than it should") }
}
