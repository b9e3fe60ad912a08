//! Reads an [`Execution`] from a slot.

use crate::StopSign;
use crate::region::Region;
use racehunter_abi::control::{
    FLAG_FREE, NOTE_LOG_FULL, NOTE_UNCONTROLLED, OUTCOME_ASSERTION, OUTCOME_CRASH, OUTCOME_DEADLOCK, OUTCOME_DIVERGED,
    OUTCOME_EXITED, OUTCOME_LIMIT, OUTCOME_NOT_FREE, OUTCOME_RACE, OUTCOME_TOO_MANY_OBJECTS, OUTCOME_TOO_MANY_THREADS,
    OUTCOME_UNMODELLED, STATE_DONE, STATE_RUNNING, Slot,
};
use racehunter_explore::{Execution, Outcome, THREADS};
use racehunter_log::{EventNumber, Record};
use std::collections::HashMap;

/// The reason given for an execution that has overwritten the region.
pub(crate) const DAMAGED: &str = "it has overwritten what it shares with RaceHunter";

/// Maximum number of records of a free-running execution. It logs no more.
const MOST_FREE: u64 = 1 << 23;

/// Number of records that are read even if it is time to stop.
const LONG: u64 = 200_000;

/// Why there is no result.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Unread {
    /// It is not as the runtime wrote it.
    Damaged,
    /// It is time to stop, and the execution had no end, or its log is long.
    OutOfTime,
}

/// Reads the result of a slot.
///
/// Reading a long log ends when it is time to stop. That of an execution that was stopped by a limit shows no bug, and is not read
/// then at all.
pub(crate) fn read(
    region: &Region,
    slot: &Slot,
    stopped: Option<&str>,
    output: Vec<u8>,
    stop: &StopSign,
    spare: &mut Vec<Vec<Record>>,
) -> Result<Execution, Unread> {
    if slot.flags & FLAG_FREE != 0 {
        // Several threads write the log, and the process ends at any time: nothing is claimed from it.
        let mut records = region.read_log(slot.log, slot.log_count.min(MOST_FREE));
        let stacks = take_stacks(region, &mut records);
        let without_log = read_without_log(slot, stopped, output).ok_or(Unread::Damaged)?;
        return Ok(Execution { records, stacks, ..without_log });
    }
    let mut execution = read_without_log(slot, stopped, output).ok_or(Unread::Damaged)?;
    if slot.state == STATE_DONE {
        let is_late = || (slot.outcome == OUTCOME_LIMIT || slot.log_count > LONG) && stop.is_up();
        let (records, has_stacks) = region.read_sealed_log(slot.log, slot.log_count, slot.checksum, is_late, spare)?;
        execution.records = records;
        if has_stacks {
            execution.stacks = take_stacks(region, &mut execution.records);
        }
    }
    Ok(execution)
}

/// Reads everything but the log.
pub(crate) fn read_without_log(slot: &Slot, stopped: Option<&str>, output: Vec<u8>) -> Option<Execution> {
    let is_free = slot.flags & FLAG_FREE != 0;
    let is_whole = slot.state == STATE_DONE && (is_free || slot.seal == slot.seal_of());
    // Executions of an in-process loop share one end.
    let is_ended = slot.end_seal == slot.end_seal_of() || (slot.status, slot.end_seal) == (0, 0);
    if !matches!(slot.state, STATE_RUNNING | STATE_DONE) || slot.state == STATE_DONE && !is_whole || !is_ended {
        return None;
    }
    // The numbers of an unfinished execution are not trusted.
    let (events, threads) = if is_whole || is_free { (slot.events, slot.threads) } else { (0, 0) };
    Some(Execution {
        records: Vec::new(),
        stacks: Vec::new(),
        outcome: outcome(slot, stopped),
        events,
        threads,
        partial: slot.notes & (NOTE_LOG_FULL | NOTE_UNCONTROLLED) != 0,
        output,
    })
}

/// Copies the stacks that the records refer to, and makes the references relative to the copy. Free-running threads store a
/// stack once for many records.
fn take_stacks(region: &Region, records: &mut [Record]) -> Vec<u64> {
    // Offset 0 means "no stack".
    let mut stacks = Vec::new();
    let mut taken: HashMap<u32, u32> = HashMap::new();
    for record in records.iter_mut().filter(|record| record.stack != 0) {
        if let Some(&copy) = taken.get(&record.stack) {
            record.stack = copy;
            continue;
        }
        let Some((frames, locks)) = region.read_stack(record.stack) else {
            record.stack = 0;
            continue;
        };
        if stacks.is_empty() {
            stacks.push(0);
        }
        let copy = stacks.len() as u32;
        taken.insert(std::mem::replace(&mut record.stack, copy), copy);
        stacks.extend([frames.len() as u64, locks.len() as u64]);
        stacks.extend(frames);
        stacks.extend(locks);
    }
    stacks
}

fn outcome(slot: &Slot, stopped: Option<&str>) -> Outcome {
    if slot.flags & FLAG_FREE != 0 && slot.state != STATE_DONE && stopped.is_none() {
        // The process does not see how it ends; the server that has waited for it does.
        return match slot.status {
            status if libc::WIFSIGNALED(status) => Outcome::Crashed { signal: libc::WTERMSIG(status) as u32, fault: 0 },
            status => Outcome::Exited(exit_code(status)),
        };
    }
    if slot.state != STATE_DONE {
        return match stopped {
            Some(limit) => Outcome::Limit(limit.to_owned()),
            None => Outcome::Lost(wait_status(slot.status)),
        };
    }
    match slot.outcome {
        OUTCOME_EXITED | OUTCOME_RACE => Outcome::Exited(exit_code(slot.status)),
        OUTCOME_DEADLOCK => Outcome::Deadlock,
        OUTCOME_CRASH => Outcome::Crashed { signal: slot.signal, fault: slot.fault },
        OUTCOME_ASSERTION => {
            Outcome::Asserted { message: text(&slot.message), file: text(&slot.file), line: slot.line }
        }
        OUTCOME_DIVERGED => Outcome::Diverged(EventNumber(slot.diverged_at)),
        OUTCOME_LIMIT => Outcome::Limit("events".to_owned()),
        OUTCOME_TOO_MANY_THREADS => Outcome::Limit(THREADS.to_owned()),
        OUTCOME_TOO_MANY_OBJECTS => Outcome::Limit("timers, named semaphores or processes".to_owned()),
        OUTCOME_UNMODELLED => Outcome::Lost(text(&slot.message)),
        OUTCOME_NOT_FREE => Outcome::Lost(format!("it cannot run freely: {}", text(&slot.message))),
        other => Outcome::Lost(format!("outcome {other}")),
    }
}

fn exit_code(status: i32) -> i32 {
    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) }
}

fn wait_status(status: i32) -> String {
    if libc::WIFSIGNALED(status) {
        format!("killed by signal {}", libc::WTERMSIG(status))
    } else {
        format!("ended with status {} without passing through exit", libc::WEXITSTATUS(status))
    }
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
