//! What executions keep private as soon as they begin: directories, and the network.
//!
//! The server and its executions share this. An execution that is about to change files in a directory for the first
//! time, or to bind a port, adds that here and restarts; all later ones find it.

use super::paths::Path;
use super::view::DIRECTORIES;
use crate::{Global, sys};

struct List {
    directories: [Path; DIRECTORIES],
    count: usize,
    has_network: bool,
    has_ipc: bool,
    /// The ports that executions have bound, one bit each.
    ports: [u64; 1024],
}

static LIST: Global<*mut List> = Global::new(core::ptr::null_mut());

/// Prepares the server.
pub(crate) unsafe fn prepare() {
    LIST.set(sys::reserve_shared(size_of::<List>()) as *mut List);
}

/// Returns whether an address is in this list.
pub(crate) fn is_own_memory(address: usize) -> bool {
    let list = LIST.get() as usize;
    (list..list + size_of::<List>()).contains(&address)
}

/// Adds a directory. Returns false if it was already known, or there is no room for it: restarting is then useless.
pub(super) unsafe fn remember(directory: &Path) -> bool {
    let list = LIST.get();
    if list.is_null()
        || (*list).count >= DIRECTORIES
        || directories().iter().any(|known| known.text() == directory.text())
    {
        return false;
    }
    (*list).directories[(*list).count] = *directory;
    (*list).count += 1;
    true
}

/// Gives executions a private network. Returns false if they already have one.
pub(super) unsafe fn remember_network() -> bool {
    let list = LIST.get();
    !list.is_null() && !core::mem::replace(&mut (*list).has_network, true)
}

/// Gives executions private queues, semaphores and memory. Returns false if they already have them.
pub(super) unsafe fn remember_ipc() -> bool {
    let list = LIST.get();
    !list.is_null() && !core::mem::replace(&mut (*list).has_ipc, true)
}

/// Returns whether they have.
pub(super) unsafe fn has_ipc() -> bool {
    let list = LIST.get();
    !list.is_null() && (*list).has_ipc
}

/// Notes that an execution binds a port.
pub(super) unsafe fn remember_port(port: u16) {
    if let Some(list) = LIST.get().as_mut() {
        list.ports[usize::from(port) / 64] |= 1 << (port % 64);
    }
}

/// Returns whether any execution has bound a port.
pub(super) unsafe fn has_port(port: u16) -> bool {
    LIST.get().as_ref().is_some_and(|list| list.ports[usize::from(port) / 64] >> (port % 64) & 1 != 0)
}

/// Returns whether executions have a private network.
pub(super) unsafe fn has_network() -> bool {
    let list = LIST.get();
    !list.is_null() && (*list).has_network
}

pub(super) unsafe fn directories() -> &'static [Path] {
    let list = LIST.get();
    if list.is_null() { &[] } else { &(&(*list).directories)[..(*list).count.min(DIRECTORIES)] }
}
