//! Named semaphores: a table in this process, so that nothing is left behind, and no other process interferes.
//!
//! Their memory is private, and shared from the first `fork` on.

use super::{EEXIST, EINVAL, ENAMETOOLONG, ENOENT, fail, interpose, objects, semaphore};
use crate::schedule::point;
use crate::{Global, outcome, sys};
use core::ffi::{CStr, c_char};
use racehunter_abi::control::OUTCOME_TOO_MANY_OBJECTS;
use racehunter_machine::text::{LONGEST_SEMAPHORE, SemaphoreName};

interpose! {
    sem_open => open, "r8";
    sem_close => close, "rsi";
    sem_unlink => unlink, "rsi";
}

const ENTRIES: usize = 128;

#[repr(C)]
struct Named {
    /// The C library's structure.
    semaphore: [u64; 4],
    /// How many times it was opened and not closed.
    opened: u32,
    /// Whether the name refers to it.
    linked: bool,
    len: u8,
    name: [u8; LONGEST_SEMAPHORE],
}

#[unsafe(link_section = ".data.racehunter")]
static TABLE: Global<*mut Named> = Global::new(core::ptr::null_mut());

const SIZE: usize = (ENTRIES * size_of::<Named>() + 4095) & !4095;

unsafe fn entries() -> impl Iterator<Item = *mut Named> {
    let count = if TABLE.get().is_null() { 0 } else { ENTRIES };
    (0..count).map(|i| TABLE.get().add(i))
}

/// Returns the name without leading slashes, as in the C library; an error if it is invalid.
unsafe fn name_of(name: *const c_char) -> Result<&'static [u8], i32> {
    match SemaphoreName::read(CStr::from_ptr(name).to_bytes()) {
        SemaphoreName::Valid(name) => Ok(name),
        SemaphoreName::Invalid => Err(EINVAL),
        SemaphoreName::TooLong => Err(ENAMETOOLONG),
    }
}

unsafe fn find(name: &[u8]) -> Option<*mut Named> {
    entries().find(|&entry| (*entry).linked && (&(*entry).name)[..(*entry).len as usize] == *name)
}

unsafe extern "C" fn open(name: *const c_char, flags: i32, _mode: u32, value: u32, code: usize) -> *mut Named {
    const CREATE: i32 = 0o100;
    const EXCLUSIVE: i32 = 0o200;
    point(code);
    let refuse = |error: i32| {
        fail(error);
        core::ptr::null_mut()
    };
    let name = match name_of(name) {
        Ok(name) => name,
        Err(error) => return refuse(error),
    };
    if let Some(entry) = find(name) {
        if flags & (CREATE | EXCLUSIVE) == CREATE | EXCLUSIVE {
            return refuse(EEXIST);
        }
        (*entry).opened += 1;
        return entry;
    }
    if flags & CREATE == 0 {
        return refuse(ENOENT);
    }
    if value > semaphore::LARGEST {
        return refuse(EINVAL);
    }
    if TABLE.get().is_null() {
        TABLE.set(sys::reserve(0, SIZE) as *mut Named);
    }
    let Some(entry) = entries().find(|&entry| !(*entry).linked && (*entry).opened == 0) else {
        outcome::finish(OUTCOME_TOO_MANY_OBJECTS)
    };
    objects::forget(entry as usize);
    semaphore::set(entry as usize, true, value);
    (*entry).opened = 1;
    (*entry).linked = true;
    (*entry).len = name.len() as u8;
    (&mut (*entry).name)[..name.len()].copy_from_slice(name);
    entry
}

unsafe extern "C" fn close(semaphore: *mut Named, code: usize) -> i32 {
    point(code);
    match entries().find(|&entry| entry == semaphore && (*entry).opened > 0) {
        Some(entry) => {
            (*entry).opened -= 1;
            0
        }
        None => fail(EINVAL),
    }
}

/// The name is free at once; a thread that has the semaphore open keeps it.
unsafe extern "C" fn unlink(name: *const c_char, code: usize) -> i32 {
    point(code);
    match name_of(name).map(|name| find(name)) {
        Ok(Some(entry)) => {
            (*entry).linked = false;
            0
        }
        // An invalid name does not exist either.
        Ok(None) | Err(EINVAL) => fail(ENOENT),
        Err(error) => fail(error),
    }
}

/// Shares the semaphores with another process from here on.
pub(super) unsafe fn share() {
    const READ_WRITE: usize = 3;
    const SHARED_FIXED_ANONYMOUS: usize = 0x31;
    let (table, scratch) = (TABLE.get() as usize, sys::reserve(0, SIZE));
    if table == 0 || scratch.is_null() {
        return;
    }
    core::ptr::copy_nonoverlapping(table as *const u8, scratch, SIZE);
    sys::call6(sys::MMAP, table, SIZE, READ_WRITE, SHARED_FIXED_ANONYMOUS, usize::MAX, 0);
    core::ptr::copy_nonoverlapping(scratch, table as *mut u8, SIZE);
    sys::discard(scratch as usize, SIZE);
}
