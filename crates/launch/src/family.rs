//! Which processes may be signalled.
//!
//! The number of the process that runs an execution is in memory that the program can overwrite. It is used only if that
//! process descends from the fork server, which is a child of this process and therefore known for certain. No other process
//! is ever signalled.

use std::fs;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

/// What the kernel says about a process.
struct Status {
    parent: u32,
    group: u32,
}

/// Maximum number of generations between a server and an execution: there are snapshots, and children of the program.
const GENERATIONS: usize = 64;
/// Maximum number of descendants examined.
const MOST: usize = 1 << 16;

fn status(pid: u32) -> Option<Status> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in parentheses, and may contain some itself.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(1);
    let (parent, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(Status { parent, group })
}

/// Returns whether a process descends from the server.
pub(crate) fn descends(pid: u32, server: u32) -> bool {
    let mut at = pid;
    for _ in 0..GENERATIONS {
        match status(at) {
            _ if at <= 1 => return false,
            Some(Status { parent, .. }) if parent == server => return true,
            Some(Status { parent, .. }) => at = parent,
            None => return false,
        }
    }
    false
}

/// Returns all descendants of a server, the oldest first.
pub(crate) fn descendants(server: u32) -> Vec<u32> {
    let mut all = children(server);
    let mut next = 0;
    while next < all.len() && all.len() < MOST {
        let more: Vec<u32> = children(all[next]).into_iter().filter(|pid| !all.contains(pid)).collect();
        all.extend(more);
        next += 1;
    }
    all
}

/// Returns the children of all threads of a process.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// Kills a process that descends from the server, and its group if it leads one. Does nothing to any other process.
pub(crate) fn end(pid: u32, server: u32) {
    // Opened first, so that the checks apply to the process that is signalled, even if its number is reused.
    let Some(process) = open(pid) else { return };
    if !descends(pid, server) {
        return;
    }
    if status(pid).is_some_and(|status| status.group == pid) {
        signal_group(&process, pid);
    }
    signal(&process);
}

/// Kills all descendants of a server.
pub(crate) fn end_descendants(server: u32) {
    descendants(server).into_iter().for_each(|pid| end(pid, server));
}

/// A process, identified even if its number is reused later.
struct Process {
    /// `None` if the kernel is too old.
    handle: Option<OwnedFd>,
    pid: i32,
}

fn open(pid: u32) -> Option<Process> {
    let pid = i32::try_from(pid).ok().filter(|&pid| pid > 1)?;
    // SAFETY: the call returns a new descriptor, or fails.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    if fd >= 0 {
        // SAFETY: the descriptor is new, and nothing else owns it.
        return Some(Process { handle: Some(unsafe { OwnedFd::from_raw_fd(fd as i32) }), pid });
    }
    let is_old = std::io::Error::last_os_error().raw_os_error() == Some(libc::ENOSYS);
    is_old.then_some(Process { handle: None, pid })
}

fn signal(process: &Process) {
    // SAFETY: sends a signal to a checked process; it is not an error if that has ended.
    unsafe {
        match &process.handle {
            Some(handle) => libc::syscall(libc::SYS_pidfd_send_signal, handle.as_raw_fd(), libc::SIGKILL, 0, 0),
            None => i64::from(libc::kill(process.pid, libc::SIGKILL)),
        };
    }
}

/// Kills the group that a process leads.
fn signal_group(process: &Process, leader: u32) {
    const PROCESS_GROUP: u32 = 1 << 2;
    // SAFETY: as above.
    unsafe {
        if let Some(handle) = &process.handle
            && libc::syscall(libc::SYS_pidfd_send_signal, handle.as_raw_fd(), libc::SIGKILL, 0, PROCESS_GROUP) == 0
        {
            return;
        }
        debug_assert_eq!(leader, process.pid.cast_unsigned());
        if process.pid > 1 {
            libc::kill(-process.pid, libc::SIGKILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    #[test]
    fn only_descendants_are_ended() {
        // A "server" with a child that leads its own group.
        let mut server = Command::new("sh")
            .args(["-c", "setsid sleep 1000 & echo; wait"])
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("there is a shell");
        let mut stranger = Command::new("sleep").arg("1000").process_group(0).spawn().expect("there is sleep");
        let child = loop {
            if let Some(&child) =
                children(server.id()).iter().find(|&&pid| status(pid).is_some_and(|of| of.group == pid))
            {
                break child;
            }
        };
        for pid in [0, 1, u32::MAX, i32::MAX as u32, std::process::id(), server.id(), stranger.id()] {
            assert!(!descends(pid, server.id()), "{pid}");
            end(pid, server.id());
        }
        assert!(stranger.try_wait().expect("known").is_none(), "it lives");
        assert!(server.try_wait().expect("known").is_none(), "it lives");
        assert!(descends(child, server.id()) && descendants(server.id()).contains(&child));
        end(child, server.id());
        assert!(server.wait().expect("known").success(), "its child has ended");
        stranger.kill().expect("ours");
        stranger.wait().expect("ours");
    }
}
