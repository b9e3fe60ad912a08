//! A private mount namespace for the execution, in which directories can be covered.

use super::paths::{HERE, OPENAT, Path};
use crate::sys;
use core::ffi::CStr;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Namespace {
    /// The namespace in which the process was created.
    Common,
    /// A private one. `user`: inside a private user namespace, without any privilege outside.
    Own {
        user: bool,
    },
    Refused,
}

/// Gives the process a private mount namespace, inside a user namespace if it has no privilege.
pub(super) unsafe fn leave() -> Namespace {
    const UNSHARE: usize = 272;
    const GETUID: usize = 102;
    const GETGID: usize = 104;
    const NEW_MOUNTS: usize = 0x2_0000;
    const NEW_USER: usize = 0x1000_0000;
    const RECURSIVE_PRIVATE: usize = 0x4000 | 0x4_0000;
    let (owner, group) = (sys::call(GETUID, 0, 0, 0, 0) as usize, sys::call(GETGID, 0, 0, 0, 0) as usize);
    let user = sys::call(UNSHARE, NEW_MOUNTS, 0, 0, 0) < 0;
    if user {
        if sys::call(UNSHARE, NEW_USER | NEW_MOUNTS, 0, 0, 0) < 0 {
            return Namespace::Refused;
        }
        // User ids stay the same.
        write_to(c"/proc/self/setgroups", &Path::of(&[b"deny"]));
        write_to(c"/proc/self/uid_map", &same(owner));
        write_to(c"/proc/self/gid_map", &same(group));
    }
    if sys::call6(MOUNT, 0, c"/".as_ptr() as usize, 0, RECURSIVE_PRIVATE, 0, 0) < 0 {
        return Namespace::Refused;
    }
    raise_privileges(user, false);
    Namespace::Own { user }
}

/// Returns the map that keeps one number.
fn same(number: usize) -> Path {
    let mut map = Path::NEW;
    map.push_number(number);
    map.push(b" ");
    map.push_number(number);
    map.push(b" 1");
    map
}

unsafe fn write_to(path: &CStr, text: &Path) {
    const WRITE_ONLY: usize = 1;
    let fd = sys::call(OPENAT, HERE as isize as usize, path.as_ptr() as usize, WRITE_ONLY, 0);
    if fd >= 0 {
        sys::call(sys::WRITE, fd as usize, text.pointer(), text.text().len(), 0);
        sys::call(sys::CLOSE, fd as usize, 0, 0, 0);
    }
}

/// Raises or lowers privileges. A process that enters a user namespace has all privileges in it, also over the files of the
/// user. The program must not notice, so they are in force only while something is mounted.
pub(super) unsafe fn raise_privileges(user: bool, are_raised: bool) {
    const CAPSET: usize = 126;
    const CAPGET: usize = 125;
    const VERSION_3: u32 = 0x2008_0522;
    if !user {
        return;
    }
    let header = [VERSION_3, 0];
    // Effective, permitted and inheritable; the lower and the upper half.
    let mut sets = [[0_u32; 3]; 2];
    sys::call(CAPGET, header.as_ptr() as usize, sets.as_mut_ptr() as usize, 0, 0);
    for [effective, permitted, _] in &mut sets {
        *effective = if are_raised { *permitted } else { 0 };
    }
    sys::call(CAPSET, header.as_ptr() as usize, sets.as_ptr() as usize, 0, 0);
}

pub(super) const MOUNT: usize = 165;
