//! The code addresses of sites, as executions find them out.
//!
//! An execution would lose what it learns with its process, and the next one would copy the same pages to write the same values.
//! So executions pass new addresses on to the processes that fork.

use crate::{Global, hooks, modules, shadow, sys};

/// Bit of a site's flag byte, in this process only: the code address of the site is known.
pub(crate) const NOTED: u8 = 0x40;

/// Sites that executions pass on, at most.
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
    // Sites whose flags ask for a closer look never take the fast path, which tests this bit.
    if *flags & (hooks::SITE_LOOK | NOTED) == 0 {
        *flags |= NOTED;
    }
}

/// This process is about to fork: takes over what executions have learnt.
pub(crate) unsafe fn learn() {
    let Some(learnt) = LEARNT.get().as_ref() else { return };
    let count = learnt.count.min(MOST);
    // The program could have overwritten the list.
    let sites = modules::own_site_count();
    for &(site, code) in learnt.sites[..count].iter().skip(KNOWN.get()).filter(|(site, _)| *site < sites) {
        set(site, code);
    }
    KNOWN.set(count);
}
