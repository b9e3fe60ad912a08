//! The tiny program (`programs/tiny.c`) in the terms of the peers that run executions in a loop in one process.

use std::sync::atomic::{AtomicU64, Ordering};

/// Executions that a peer has started.
static EXECUTIONS: AtomicU64 = AtomicU64::new(0);

macro_rules! tiny {
    ($name:ident, $peer:ident) => {
        /// Two threads, one counter, one mutex.
        fn $name() {
            use $peer::sync::{Arc, Mutex};
            use $peer::thread;
            EXECUTIONS.fetch_add(1, Ordering::Relaxed);
            let counter = Arc::new(Mutex::new(0));
            let threads = [(); 2].map(|()| {
                let counter = Arc::clone(&counter);
                thread::spawn(move || *counter.lock().unwrap() += 1)
            });
            for thread in threads {
                thread.join().unwrap();
            }
        }
    };
}

tiny!(tiny_of_loom, loom);
tiny!(tiny_of_shuttle, shuttle);

fn counted(work: impl FnOnce()) -> u64 {
    let before = EXECUTIONS.load(Ordering::Relaxed);
    work();
    EXECUTIONS.load(Ordering::Relaxed) - before
}

/// Explores all schedules with loom; returns how many executions that took. Without the subscriber for log messages
/// that `loom::model` would set up every time.
pub fn loom() -> u64 {
    counted(|| loom::model::Builder::new().check(tiny_of_loom))
}

/// Runs random schedules with Shuttle; returns how many.
pub fn shuttle_random(executions: usize) -> u64 {
    counted(|| shuttle::check_random(tiny_of_shuttle, executions))
}

/// Explores all schedules, or this many of them, with Shuttle; returns how many executions that took.
pub fn shuttle_exhaustive(executions: usize) -> u64 {
    counted(|| shuttle::check_dfs(tiny_of_shuttle, Some(executions)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_run_more_than_one_schedule() {
        assert!(loom() > 1);
        assert_eq!(shuttle_random(17), 17);
        assert_eq!(shuttle_exhaustive(5), 5);
    }
}
