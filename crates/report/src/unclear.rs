//! Why the absence of findings means nothing, in words.

use crate::messages;
use crate::text::count;
use racehunter_finding::{Failure, Limit, Unclear, Unfinished};

/// Returns one reason, in one line.
#[must_use]
pub fn unclear(reason: &Unclear) -> String {
    match reason {
        Unclear::NoneCompleted(how) => format!("no execution completed: {}", unfinished(how)),
        Unclear::NoTime => "no execution completed before the time was up; --time raises the limit".to_owned(),
        Unclear::OneAnalysis(how) => format!("no execution of one of the analyses completed: {}", unfinished(how)),
        Unclear::SomeStopped(how) => format!("some executions did not end: {}", unfinished(how)),
        Unclear::Lost { executions, why } => format!("{} lost ({why})", were(*executions, "execution")),
        Unclear::NotConfirmed(failures) => format!("{} seen, and not confirmed by replay", were(*failures, "failure")),
        Unclear::NotReplayed(failures) => {
            let what = were(*failures, "failure");
            format!("{what} seen, and there was no time to replay; --time raises the limit")
        }
        Unclear::NoClient => "the client of --with was never started: the program does not listen".to_owned(),
        Unclear::FailedAtFirst(how) => {
            format!("the first execution failed, and none after it ({})", failure(how))
        }
    }
}

/// Returns why executions did not complete: the limits, and the options that raise them.
fn unfinished(all: &[Unfinished]) -> String {
    all.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn one(Unfinished { number, of, limit }: &Unfinished) -> String {
    let number = match *number {
        1 if *of == 1 => "the only one was".to_owned(),
        number if number == *of => format!("all {number} were"),
        1 => "1 was".to_owned(),
        number => format!("{number} were"),
    };
    match limit {
        Limit::Time(time) => {
            format!("{number} stopped after {}; --timeout raises the limit", humantime::format_duration(*time))
        }
        Limit::Memory(mib) => format!("{number} stopped at {mib} MiB of memory; --memory raises the limit"),
        Limit::Events(events) => {
            format!("{number} stopped after up to {events} events; an input with less work may end")
        }
        Limit::Threads => format!("{number} stopped for making threads without end"),
        Limit::Interrupted => format!("{number} interrupted"),
        Limit::Other(other) => format!("{number} stopped by the limit of {other}"),
        Limit::Lost(why) => format!("{number} lost ({why})"),
        Limit::Diverged => format!("{number} unable to follow the schedule"),
    }
}

fn failure(how: &Failure) -> String {
    match how {
        Failure::Crash { signal, fault } => messages::crash(*signal, *fault),
        Failure::Assertion(message) => messages::assertion(message),
        Failure::Deadlock => "a deadlock".to_owned(),
        Failure::Status(status) => format!("status {status}"),
        Failure::Race => "a data race".to_owned(),
    }
}

/// `1 execution was`, `2 executions were`
fn were(number: u64, noun: &str) -> String {
    format!("{} {}", count(number, noun), if number == 1 { "was" } else { "were" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn reasons_name_the_option_that_lifts_the_limit() {
        let stopped = |number, of, limit| Unclear::NoneCompleted(vec![Unfinished { number, of, limit }]);
        assert_eq!(
            unclear(&stopped(1, 1, Limit::Time(Duration::from_secs(10)))),
            "no execution completed: the only one was stopped after 10s; --timeout raises the limit"
        );
        assert_eq!(
            unclear(&stopped(3, 3, Limit::Memory(64))),
            "no execution completed: all 3 were stopped at 64 MiB of memory; --memory raises the limit"
        );
        let some =
            Unclear::SomeStopped(vec![Unfinished { number: 2, of: 9, limit: Limit::Time(Duration::from_secs(1)) }]);
        assert_eq!(unclear(&some), "some executions did not end: 2 were stopped after 1s; --timeout raises the limit");
        assert_eq!(unclear(&Unclear::NotConfirmed(1)), "1 failure was seen, and not confirmed by replay");
        let lost = Unclear::Lost { executions: 2, why: "killed by SIGKILL".to_owned() };
        assert_eq!(unclear(&lost), "2 executions were lost (killed by SIGKILL)");
    }
}
