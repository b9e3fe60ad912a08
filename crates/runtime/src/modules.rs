//! The instrumented parts of the program: the executable, and shared libraries that are linked to it or loaded later.
//!
//! Every instrumented instruction has a *site*: a flag byte in its module. Sites are numbered across all modules, the
//! executable's first, then those of the libraries in the order in which they were loaded.

use crate::sites::NOTED;
use crate::{Global, server};
use core::ffi::{CStr, c_char, c_int};
use racehunter_abi::control::{LIBRARIES, LIBRARY_PATH, SITE_CLEAR, SITE_HEAD, SITE_LOUD, SITE_POINT, SITE_QUIET};

/// The sites of one module: the flag bytes that its instrumentation points to.
#[repr(C)]
struct Module {
    hash: u64,
    sites: *mut u8,
    count: u32,
    version: u32,
}

unsafe extern "C" {
    // The linker places the flag bytes of all modules of the executable side by side, and defines their bounds.
    static mut __start_rh_sites: u8;
    static mut __stop_rh_sites: u8;
    fn dladdr(address: *const u8, found: *mut Origin) -> i32;
    fn dl_iterate_phdr(visit: VisitObject, data: *mut u8) -> c_int;
}

/// `struct dl_phdr_info`: a loaded file.
#[repr(C)]
pub(crate) struct Object {
    pub(crate) base: usize,
    pub(crate) name: *const c_char,
    pub(crate) segments: *const Segment,
    pub(crate) count: u16,
    /// How many were loaded and unloaded so far.
    loads: u64,
    pub(crate) unloads: u64,
    /// Number of its thread-local variables for the dynamic linker, 0 if it has none.
    pub(crate) storage: usize,
}

/// `Elf64_Phdr`
#[repr(C)]
pub(crate) struct Segment {
    pub(crate) kind: u32,
    pub(crate) flags: u32,
    offset: usize,
    pub(crate) address: usize,
    physical: usize,
    pub(crate) file_size: usize,
    pub(crate) memory_size: usize,
    alignment: usize,
}

type VisitObject = unsafe extern "C" fn(*const Object, usize, *mut u8) -> c_int;

/// Calls a function for every loaded file, the executable first, until one call returns something else than 0.
pub(crate) unsafe fn visit_objects(visit: VisitObject) {
    dl_iterate_phdr(visit, core::ptr::null_mut());
}

/// `Dl_info`: the origin of an address.
#[repr(C)]
pub(crate) struct Origin {
    path: *const c_char,
    base: usize,
    pub(crate) symbol: *const c_char,
    /// Of the symbol.
    pub(crate) address: usize,
}

/// Returns what the dynamic linker knows about an address.
pub(crate) unsafe fn origin(address: usize) -> Option<Origin> {
    let mut origin = Origin { path: core::ptr::null(), base: 0, symbol: core::ptr::null(), address: 0 };
    (dladdr(address as *const u8, &mut origin) != 0).then_some(origin)
}

/// The flag bytes of the executable.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_SITES: Global<*mut u8> = Global::new(&raw mut __start_rh_sites);

/// Flag bytes of a module of a library. An unloaded module keeps its numbers.
#[derive(Clone, Copy)]
struct Sites {
    start: *mut u8,
    count: usize,
    loaded: bool,
}

const MAX_LIBRARY_MODULES: usize = 1024;
static LIBRARY_MODULES: Global<[Sites; MAX_LIBRARY_MODULES]> =
    Global::new([Sites { start: core::ptr::null_mut(), count: 0, loaded: false }; MAX_LIBRARY_MODULES]);
#[unsafe(link_section = ".data.racehunter")]
static LIBRARY_MODULE_COUNT: Global<usize> = Global::new(0);
/// Bits that all flag bytes of this process have, including those of later modules.
#[unsafe(link_section = ".data.racehunter")]
static COMMON_BITS: Global<u8> = Global::new(0);

/// Flags of accesses that come through the plain ThreadSanitizer interface, by a hash of their code address.
#[used]
#[unsafe(link_section = "rh_sites")]
pub(crate) static PLAIN_SITES: Global<[u8; PLAIN_SITE_COUNT]> = Global::new([0; PLAIN_SITE_COUNT]);
pub(crate) const PLAIN_SITE_COUNT: usize = 1 << 16;

fn own_sites() -> Sites {
    let start = &raw mut __start_rh_sites;
    Sites { start, count: &raw mut __stop_rh_sites as usize - start as usize, loaded: true }
}

/// Called by a constructor in every instrumented module, in the order in which they are loaded.
#[unsafe(no_mangle)]
unsafe extern "C" fn __rh_register_module(module: *const Module) {
    crate::tsan::__tsan_init();
    let own = own_sites();
    let (start, count) = ((*module).sites, (*module).count as usize);
    if (start as usize).wrapping_sub(own.start as usize) < own.count {
        return;
    }
    let known = &mut *LIBRARY_MODULES.ptr();
    let index = LIBRARY_MODULE_COUNT.get();
    // A library that is loaded again, at the same place, gets its numbers back.
    if let Some(again) = known[..index].iter_mut().find(|sites| sites.start == start && sites.count == count) {
        again.loaded = true;
    } else if index < MAX_LIBRARY_MODULES {
        known[index] = Sites { start, count, loaded: true };
        LIBRARY_MODULE_COUNT.set(index + 1);
    } else {
        return;
    }
    if server::has_controller() {
        arrived_late(start, count);
    }
}

/// Handles a library that was loaded after the server was started: the controller must learn of it, and its sites need their
/// flags.
unsafe fn arrived_late(start: *mut u8, count: usize) {
    let first = site_number(start) as usize - 1;
    let header = server::header();
    (*header).sites = (*header).sites.max((first + count) as u32);
    let arrived = Sites { start, count, loaded: true };
    set_flags(arrived, server::site_flags().add(first));
    for i in 0..count {
        *start.add(i) |= COMMON_BITS.get();
    }
    if server::is_selective() {
        select(arrived, first);
    }
    let mut origin = Origin { path: core::ptr::null(), base: 0, symbol: core::ptr::null(), address: 0 };
    if dladdr(start, &mut origin) == 0 {
        return;
    }
    let path = CStr::from_ptr(origin.path).to_bytes_with_nul();
    let known = (*header).libraries as usize;
    let is_new = (0..known.min(LIBRARIES)).all(|i| {
        let library = server::library(i);
        (*library).base != origin.base as u64 || (&(*library).path)[..path.len().min(LIBRARY_PATH)] != *path
    });
    if is_new && known < LIBRARIES && path.len() <= LIBRARY_PATH {
        let library = server::library(known);
        (*library).base = origin.base as u64;
        core::ptr::copy_nonoverlapping(path.as_ptr(), &raw mut (*library).path as *mut u8, path.len());
        (*header).libraries = known as u32 + 1;
    }
}

/// Unloads a library and its sites.
#[unsafe(no_mangle)]
unsafe extern "C" fn dlclose(handle: *mut u8) -> i32 {
    let close: extern "C" fn(*mut u8) -> i32 = core::mem::transmute(crate::sync::real::close_library());
    let result = close(handle);
    let mut origin = Origin { path: core::ptr::null(), base: 0, symbol: core::ptr::null(), address: 0 };
    for sites in &mut (&mut *LIBRARY_MODULES.ptr())[..LIBRARY_MODULE_COUNT.get()] {
        sites.loaded = sites.loaded && dladdr(sites.start, &mut origin) != 0;
    }
    result
}

/// Returns all flag bytes, in the order of their numbers.
unsafe fn modules() -> impl Iterator<Item = Sites> {
    let libraries = &(&*LIBRARY_MODULES.ptr())[..LIBRARY_MODULE_COUNT.get()];
    core::iter::once(own_sites()).chain(libraries.iter().copied())
}

/// Returns the number of instrumented parts of shared libraries that were loaded so far.
pub(crate) fn library_module_count() -> usize {
    LIBRARY_MODULE_COUNT.get()
}

/// Returns whether shared libraries of the program are instrumented too.
pub(crate) fn has_libraries() -> bool {
    LIBRARY_MODULE_COUNT.get() > 0
}

/// Returns whether code belongs to an instrumented shared library.
pub(crate) unsafe fn has_code(code: usize) -> bool {
    let base = |address: usize| origin(address).map(|origin| origin.base);
    let libraries = &(&*LIBRARY_MODULES.ptr())[..LIBRARY_MODULE_COUNT.get()];
    has_libraries() && libraries.iter().any(|sites| sites.loaded && base(sites.start as usize) == base(code))
}

/// Returns whether a shared library that is loaded at `base` is instrumented.
pub(crate) unsafe fn is_instrumented(base: usize) -> bool {
    let libraries = &(&*LIBRARY_MODULES.ptr())[..LIBRARY_MODULE_COUNT.get()];
    let is_there = |sites: &Sites| origin(sites.start as usize).is_some_and(|origin| origin.base == base);
    libraries.iter().any(|sites| sites.loaded && is_there(sites))
}

/// Returns the number of the executable's own sites.
pub(crate) unsafe fn own_site_count() -> usize {
    own_sites().count
}

/// Returns the number of all sites.
pub(crate) unsafe fn site_count() -> u32 {
    modules().map(|sites| sites.count as u32).sum()
}

/// Returns the number + 1 of a site over all modules, 0 for none.
pub(crate) unsafe fn site_number(site: *const u8) -> u32 {
    let mut first = 0;
    for sites in modules() {
        let offset = (site as usize).wrapping_sub(sites.start as usize);
        if offset < sites.count && sites.loaded {
            return (first + offset) as u32 + 1;
        }
        first += sites.count;
    }
    0
}

/// Returns the flag byte of a site, by its number without the + 1; null if no site has it.
pub(crate) unsafe fn flags_of(site: usize) -> *mut u8 {
    let mut first = 0;
    for sites in modules() {
        if site - first < sites.count {
            return if sites.loaded { sites.start.add(site - first) } else { core::ptr::null_mut() };
        }
        first += sites.count;
    }
    core::ptr::null_mut()
}

/// Sets all flag bytes as the controller requests.
pub(crate) unsafe fn load_flags() {
    let mut from = server::site_flags();
    for sites in modules() {
        if sites.loaded {
            set_flags(sites, from);
        }
        from = from.add(sites.count);
    }
}

/// Sets the flags of a module, except for those that the compiler set.
unsafe fn set_flags(sites: Sites, from: *const u8) {
    for i in 0..sites.count {
        let flags = sites.start.add(i);
        let (noted, mut wanted) = (*flags & (SITE_HEAD | SITE_QUIET | NOTED), *from.add(i));
        if noted & SITE_QUIET != 0 && wanted & SITE_LOUD == 0 {
            wanted &= !SITE_POINT;
        }
        // Forked processes need not copy unchanged pages.
        if *flags != noted | wanted {
            *flags = noted | wanted;
        }
    }
}

/// Tracks only the sites that the plan has selected from now on. This is permanent for this process.
pub(crate) unsafe fn select_sites() {
    let mut first = 0;
    for sites in modules() {
        if sites.loaded {
            select(sites, first);
        }
        first += sites.count;
    }
}

/// The same for one module, whose first site has number `first`.
unsafe fn select(sites: Sites, first: usize) {
    for i in 0..sites.count {
        let flags = sites.start.add(i);
        let quiet = *flags & (SITE_QUIET | SITE_LOUD);
        *flags = quiet | if *flags & SITE_HEAD != 0 { SITE_HEAD | SITE_CLEAR } else { 0 };
    }
    for &number in server::selected_sites() {
        let site = (number as usize).wrapping_sub(first + 1);
        if site < sites.count {
            *sites.start.add(site) |= SITE_POINT;
            // Everything else in its region is announced with it.
            if let Some(head) = (0..=site).rev().find(|&at| *sites.start.add(at) & SITE_HEAD != 0) {
                *sites.start.add(head) &= !SITE_CLEAR;
            }
        }
    }
}

/// Returns whether a site belongs to code that is not itself under test.
#[inline(always)]
pub(crate) unsafe fn is_quiet(site: *const u8) -> bool {
    !site.is_null() && *site & (SITE_QUIET | SITE_LOUD) == SITE_QUIET
}

/// Resets all flag bytes of this process to what the controller requests.
pub(crate) unsafe fn unflag_all() {
    COMMON_BITS.set(0);
    load_flags();
}

/// Sets a bit in all flag bytes of this process.
pub(crate) unsafe fn flag_all(bit: u8) {
    COMMON_BITS.set(COMMON_BITS.get() | bit);
    for sites in modules().filter(|sites| sites.loaded) {
        for i in 0..sites.count {
            *sites.start.add(i) |= bit;
        }
    }
}

/// Flag bytes that [`hush`] has changed, and their previous values.
struct Hushed {
    sites: [(*mut u8, u8); MOST_HUSHED],
    /// Their number; more than there is room for if not all of them are known.
    count: usize,
}

/// Maximum number of flag bytes remembered.
const MOST_HUSHED: usize = 2048;

static HUSHED: Global<Hushed> = Global::new(Hushed { sites: [(core::ptr::null_mut(), 0); MOST_HUSHED], count: 0 });

/// Temporarily turns off the tracking of plain accesses in this process. Pages without a point stay untouched: most sites are
/// in such pages, and a forked process would have to copy them.
pub(crate) unsafe fn hush() {
    /// The same flags in eight sites.
    const WORD: u64 = u64::from_ne_bytes([SITE_POINT | SITE_LOUD; 8]);
    let hushed = HUSHED.ptr();
    (*hushed).count = 0;
    for sites in modules().filter(|sites| sites.loaded) {
        let mut i = 0;
        while i < sites.count {
            let flags = sites.start.add(i);
            if i + 8 <= sites.count && (flags as *const u64).read_unaligned() & WORD == 0 {
                i += 8;
                continue;
            }
            // For atomic accesses in trusted code it still matters whether they are loud.
            let loud = if *flags & SITE_QUIET == 0 { SITE_LOUD } else { 0 };
            if *flags & (SITE_POINT | loud) != 0 {
                if let Some(site) = (*hushed).sites.get_mut((*hushed).count) {
                    *site = (flags, *flags);
                }
                (*hushed).count += 1;
                *flags &= !(SITE_POINT | loud);
            }
            i += 1;
        }
    }
}

/// Undoes [`hush`].
pub(crate) unsafe fn speak() {
    let hushed = &*HUSHED.ptr();
    match hushed.sites.get(..hushed.count) {
        Some(sites) if COMMON_BITS.get() == 0 && !has_libraries() => {
            sites.iter().for_each(|&(flags, before)| *flags = before);
        }
        _ => {
            load_flags();
            flag_all(COMMON_BITS.get());
        }
    }
}
