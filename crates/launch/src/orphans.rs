//! Processes that executions leave behind.
//!
//! A program may fork children that outlive it, and hide them in their own session. The kernel reparents them to the
//! nearest ancestor that adopts orphans, which is this process. They are killed when no execution is running, so that no
//! execution loses a process that it still needs.

use crate::family;
use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The fork servers of this process. Any other child in a process group of its own is an orphan.
static SERVERS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn servers() -> MutexGuard<'static, BTreeSet<u32>> {
    SERVERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a fork server.
pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
    // SAFETY: sets an attribute of this process. If the kernel does not support it, orphans are not seen here.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
    // The lock prevents a new server from being taken for an orphan.
    let mut servers = servers();
    let child = command.spawn()?;
    servers.insert(child.id());
    Ok(child)
}

/// Forgets a fork server that has ended.
pub(crate) fn forget(server: u32) {
    servers().remove(&server);
}

/// How long to wait for the end of an orphan. It normally ends at once, but a process of another user cannot be killed at
/// all.
const PATIENCE: Duration = Duration::from_secs(2);

/// Kills all orphans and their descendants. No execution may be running.
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
            // SAFETY: signals a child of this process and waits for it; its number cannot be reused before that.
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

/// Executions and their children are in separate process groups; other children of this process are not.
fn is_in_another_group(pid: u32) -> bool {
    // SAFETY: both calls only query.
    unsafe { libc::getpgid(pid as i32) != libc::getpgrp() }
}
