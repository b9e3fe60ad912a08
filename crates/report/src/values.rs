//! The values that accesses read and wrote, in words.

use racehunter_finding::{Step, Value};

use crate::text::clean;

/// Returns the text after a step: ` = 3`, or ` 2 -> 3` for an update. Empty if nothing is known.
pub(crate) fn brief(step: &Step) -> String {
    let Some(Value { before, after }) = &step.value else { return String::new() };
    match (before, after) {
        (Some(before), Some(after)) if is_update(&step.what) => format!(" {} -> {}", clean(before), clean(after)),
        (_, Some(value)) | (Some(value), None) => format!(" = {}", clean(value)),
        (None, None) => String::new(),
    }
}

/// As [`brief`], with the value that a write replaced.
pub(crate) fn whole(step: &Step) -> String {
    let replaced = match &step.value {
        Some(Value { before: Some(before), after: Some(_) }) if !is_update(&step.what) => {
            format!(" (was {})", clean(before))
        }
        _ => String::new(),
    };
    brief(step) + &replaced
}

/// Returns the text after the name of an access: ` of 3`, or ` from 2 to 3` for an update.
pub(crate) fn of(access: &str, value: Option<&Value>) -> String {
    match value {
        Some(Value { before: Some(before), after: Some(after) }) if is_update(access) => {
            format!(" from {} to {}", clean(before), clean(after))
        }
        Some(Value { after: Some(value), .. } | Value { before: Some(value), after: None }) => {
            format!(" of {}", clean(value))
        }
        _ => String::new(),
    }
}

fn is_update(what: &str) -> bool {
    what.contains("update")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(what: &str, before: Option<&str>, after: Option<&str>) -> Step {
        let value = Some(Value { before: before.map(str::to_owned), after: after.map(str::to_owned) });
        let (path, file) = ("main".to_owned(), String::new());
        Step {
            thread: 0,
            path,
            what: what.to_owned(),
            file,
            line: 0,
            preempted: false,
            culprit: false,
            event: 0,
            value,
            number: 0,
            matters: false,
        }
    }

    #[test]
    fn reads_writes_and_updates() {
        let read = step("read n", Some("1"), None);
        let write = step("write n", Some("1"), Some("2"));
        let update = step("atomic update n", Some("1"), Some("2"));
        assert_eq!([&read, &write, &update].map(brief), [" = 1", " = 2", " 1 -> 2"]);
        assert_eq!([&read, &write, &update].map(whole), [" = 1", " = 2 (was 1)", " 1 -> 2"]);
        let words = [&read, &write, &update].map(|step| of(&step.what, step.value.as_ref()));
        assert_eq!(words, [" of 1", " of 2", " from 1 to 2"]);
        assert_eq!(of("lock", None), "");
    }
}
