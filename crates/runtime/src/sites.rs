//! The code addresses of sites, as executions find them out.
//!
//! What an execution learns would be gone with its process, and the next one would have to copy the same pages once more to
//! write the same into them. So it tells those that fork, which know it for all executions to come.

use crate::{Global, hooks, modules, shadow, sys};

/// Bit of a site's flag byte, in this process only: the code address of the site is known.
pub(crate) const NOTED: u8 = 0x40;

/// Sites that executions tell of, at most. What is more each of them finds out for itself.
const MOST: usize = 1 << 16;

/// Shared by the server and its executions.
struct Learnt {
    count: usize,
    sites: [(usize, usize); MOST],
}

#[unsafe(link_section = ".data.racehunter")]
static LEARNT: Global<*mut Learnt> = Global::new(core::ptr::null_mut());
/// How many of them this process knows.
#[unsafe(link_section = ".data.racehunter")]
static KNOWN: Global<usize> = Global::new(0);

/// The server starts.
pub(crate) unsafe fn prepare() {
    LEARNT.set(sys::reserve_shared(size_of::<Learnt>()) as *mut Learnt);
}

/// Whether an address is in what the server and its executions share.
pub(crate) fn is_own_memory(address: usize) -> bool {
    let learnt = LEARNT.get() as usize;
    learnt != 0 && (learnt..learnt + size_of::<Learnt>()).contains(&address)
}

/// The instruction of a site of the executable is at `code`.
#[cold]
pub(crate) unsafe fn note(site: usize, code: usize) {
    let known = shadow::RH_CODES.get().add(site);
    let is_new = *known == 0;
    set(site, code);
    if let Some(learnt) = LEARNT.get().as_mut().filter(|_| is_new) {
        let next = learnt.count;
        if let Some(place) = learnt.sites.get_mut(next) {
            *place = (site, code);
            learnt.count = next + 1;
        }
    }
}

unsafe fn set(site: usize, code: usize) {
    *shadow::RH_CODES.get().add(site) = code;
    let flags = modules::RH_SITES.get().add(site);
    // Where the flags ask for a closer look, nobody asks whether the code is known.
    if *flags & (hooks::SITE_LOOK | NOTED) == 0 {
        *flags |= NOTED;
    }
}

/// This process is about to fork: takes over what executions have found out.
pub(crate) unsafe fn learn() {
    let Some(learnt) = LEARNT.get().as_ref() else { return };
    let count = learnt.count.min(MOST);
    // The program can write there what it likes.
    let sites = modules::own_site_count();
    for &(site, code) in learnt.sites[..count].iter().skip(KNOWN.get()).filter(|(site, _)| *site < sites) {
        set(site, code);
    }
    KNOWN.set(count);
}
