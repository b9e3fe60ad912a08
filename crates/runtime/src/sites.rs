//! The code addresses of sites, as executions discover them.
//!
//! An execution would lose what it learns with its process, and the next one would copy the same pages to write the same values.
//! Executions therefore pass new addresses on to the processes that fork.

#![deny(unsafe_op_in_unsafe_fn)]

use crate::{Global, hooks, modules, shadow, sys};

/// Bit of a site's flag byte, in this process only: the code address of the site is known.
pub(crate) const NOTED: u8 = 0x40;

/// Maximum number of sites that executions pass on.
const MOST: usize = 1 << 16;

/// Shared by the server and its executions.
struct Learnt {
    count: usize,
    sites: [(usize, usize); MOST],
}

#[unsafe(link_section = ".data.racehunter")]
static LEARNT: Global<*mut Learnt> = Global::new(core::ptr::null_mut());
/// How many of them this process has taken over.
#[unsafe(link_section = ".data.racehunter")]
static KNOWN: Global<usize> = Global::new(0);

/// Prepares the server.
pub(crate) unsafe fn prepare() {
    // SAFETY: new memory; zeroes are a list without entries.
    LEARNT.set(unsafe { sys::reserve_shared(size_of::<Learnt>()) } as *mut Learnt);
}

/// Returns whether an address is in the memory that the server and its executions share.
pub(crate) fn is_own_memory(address: usize) -> bool {
    let learnt = LEARNT.get() as usize;
    learnt != 0 && (learnt..learnt + size_of::<Learnt>()).contains(&address)
}

/// Notes that the instruction of a site of the executable is at `code`.
#[cold]
pub(crate) unsafe fn note(site: usize, code: usize) {
    // SAFETY: there is an entry for each site of the executable.
    let is_new = unsafe {
        let is_new = *shadow::RH_CODES.get().add(site) == 0;
        set(site, code);
        is_new
    };
    // SAFETY: null, or memory of that size; the server reads it only while no execution writes.
    if let Some(learnt) = unsafe { LEARNT.get().as_mut() }.filter(|_| is_new) {
        let next = learnt.count;
        if let Some(place) = learnt.sites.get_mut(next) {
            *place = (site, code);
            learnt.count = next + 1;
        }
    }
}

unsafe fn set(site: usize, code: usize) {
    // SAFETY: there is an entry for each site of the executable, and the caller passes one of those.
    unsafe {
        *shadow::RH_CODES.get().add(site) = code;
        let flags = modules::RH_SITES.get().add(site);
        // Sites with such flags never take the fast path, which tests this bit.
        if *flags & (hooks::SITE_LOOK | NOTED) == 0 {
            *flags |= NOTED;
        }
    }
}

/// Takes over what executions have learnt, before this process forks.
pub(crate) unsafe fn learn() {
    // SAFETY: null, or memory of that size; no execution runs while its server forks.
    let Some(learnt) = (unsafe { LEARNT.get().as_ref() }) else { return };
    let count = learnt.count.min(MOST);
    // The program could have overwritten the list.
    // SAFETY: a plain read of a global.
    let sites = unsafe { modules::own_site_count() };
    for &(site, code) in learnt.sites[..count].iter().skip(KNOWN.get()).filter(|(site, _)| *site < sites) {
        // SAFETY: the site was checked.
        unsafe { set(site, code) };
    }
    KNOWN.set(count);
}
