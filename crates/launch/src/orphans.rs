//! Processes that executions leave behind.
//!
//! A program may fork children that outlive it, and hide them in a session of their own. The kernel hands them to the
//! nearest ancestor that asks for orphans, which is this process. They are ended when no execution is under way, so
//! that nothing that an execution still needs is taken from it.

use crate::family;
use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The fork servers of this process. They are its own children, everything else in a group of its own is an orphan.
static SERVERS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn servers() -> MutexGuard<'static, BTreeSet<u32>> {
    SERVERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a fork server.
pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
    // SAFETY: sets an attribute of this process. Where the kernel does not know it, orphans are not seen here.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
    // Nobody may take it for an orphan before it is known.
    let mut servers = servers();
    let child = command.spawn()?;
    servers.insert(child.id());
    Ok(child)
}

/// A fork server has ended.
pub(crate) fn forget(server: u32) {
    servers().remove(&server);
}

/// For how long the end of an orphan is waited for. It should not take any time, but what runs with the rights of somebody
/// else cannot be ended at all.
const PATIENCE: Duration = Duration::from_secs(2);

/// Ends all orphans, and what those leave behind. No execution may be under way.
pub(crate) fn end_all() {
    let servers = servers();
    let deadline = Instant::now() + PATIENCE;
    loop {
        let mut orphans = family::children(std::process::id());
        orphans.retain(|pid| !servers.contains(pid) && is_in_another_group(*pid));
        if orphans.is_empty() || Instant::now() > deadline {
            return;
        }
        let mut waited_for = 0;
        for pid in orphans {
            // SAFETY: sends a signal to a child of this process and looks for its end; it cannot be another process
            // before it was waited for.
            unsafe {
                libc::kill(pid as i32, libc::SIGKILL);
                waited_for += i32::from(libc::waitpid(pid as i32, std::ptr::null_mut(), libc::WNOHANG) != 0);
            }
        }
        if waited_for == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Executions are in process groups of their own, and so are their children; those of this process are not.
fn is_in_another_group(pid: u32) -> bool {
    // SAFETY: both only ask.
    unsafe { libc::getpgid(pid as i32) != libc::getpgrp() }
}
