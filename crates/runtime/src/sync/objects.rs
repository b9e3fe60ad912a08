//! The table of synchronisation objects and of atomics that carry a clock, by address.

use crate::clock::SyncClock;
use crate::{Global, arena};
use racehunter_abi::{CodeAddress, EventNumber, Wait};
use racehunter_machine::memory::probes;
use racehunter_machine::sync::{Releasers, State};
use racehunter_machine::{ClockValue, Owner};

/// One object.
#[repr(C)]
pub(crate) struct Object {
    key: usize,
    /// The state of its model.
    pub state: State,
    /// Number of threads whose pending object this is.
    pub waiters: u32,
    /// The thread, time and place of its initialisation, as long as they may matter.
    pub origin: Origin,
    /// What the last release carries.
    pub clock: SyncClock,
    /// What releases of readers carry.
    pub shared_clock: SyncClock,
    /// The threads that have released to an atomic since its value was last replaced by a thread that had not.
    pub releasers: Releasers,
}

/// The initialisation of an object.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    /// The thread; none if unknown, as with static initialisers.
    pub thread: Owner,
    /// Entry of the thread in its own clock.
    pub clock: ClockValue,
    pub code: CodeAddress,
    pub index: EventNumber,
}

impl Origin {
    pub(crate) const UNKNOWN: Self =
        Self { thread: Owner::NONE, clock: ClockValue(0), code: CodeAddress::UNKNOWN, index: EventNumber::START };
}

/// Objects of different kinds at the same address are different objects.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Synchronisation = 0,
    Atomic = 1,
    Thread = 2,
}

#[unsafe(link_section = ".data.racehunter")]
static TABLE: Global<*mut *mut Object> = Global::new(core::ptr::null_mut());
#[unsafe(link_section = ".data.racehunter")]
static CAPACITY: Global<usize> = Global::new(0);
#[unsafe(link_section = ".data.racehunter")]
static USED: Global<usize> = Global::new(0);
/// The object found last: an operation looks it up several times.
#[unsafe(link_section = ".data.racehunter")]
static LAST: Global<*mut Object> = Global::new(core::ptr::null_mut());
/// How many objects were created on pages with this hash: most freed memory has none, and need not be searched.
static PAGES: Global<[u8; PAGE_MARKS]> = Global::new([0; PAGE_MARKS]);
const PAGE_MARKS: usize = 512;
/// Whether there are small atomics, at addresses that are not a multiple of 4.
#[unsafe(link_section = ".data.racehunter")]
static SMALL: Global<bool> = Global::new(false);

unsafe fn slot_of(key: usize) -> *mut *mut Object {
    let is_its = |slot: &*mut *mut Object| (**slot).is_null() || (***slot).key == key;
    let found = probes(key, CAPACITY.get()).map(|at| TABLE.get().add(at)).find(is_its);
    // At most half of the table is in use.
    found.unwrap_unchecked()
}

unsafe fn grow() {
    let (old, old_capacity) = (TABLE.get(), CAPACITY.get());
    let capacity = (old_capacity * 2).max(128);
    TABLE.set(arena::take(capacity * 8) as *mut *mut Object);
    CAPACITY.set(capacity);
    for i in 0..old_capacity {
        let object = *old.add(i);
        if !object.is_null() {
            *slot_of((*object).key) = object;
        }
    }
}

fn page_mark(address: usize) -> usize {
    (address >> 12) % PAGE_MARKS
}

unsafe fn find(class: Class, address: usize) -> *mut Object {
    let key = (address << 2) | class as usize;
    let last = LAST.get();
    if !last.is_null() && (*last).key == key {
        return last;
    }
    if USED.get() * 2 >= CAPACITY.get() {
        grow();
    }
    let slot = slot_of(key);
    if (*slot).is_null() {
        let object = arena::take(size_of::<Object>()) as *mut Object;
        (*object).key = key;
        *slot = object;
        USED.set(USED.get() + 1);
        if class == Class::Atomic && address & 3 != 0 {
            SMALL.set(true);
        }
        (*PAGES.ptr())[page_mark(address)] = (*PAGES.ptr())[page_mark(address)].saturating_add(1);
    }
    LAST.set(*slot);
    *slot
}

unsafe fn existing(class: Class, address: usize) -> *mut Object {
    if CAPACITY.get() == 0 { core::ptr::null_mut() } else { *slot_of((address << 2) | class as usize) }
}

fn class_of(wait: Wait) -> Class {
    if wait == Wait::Join { Class::Thread } else { Class::Synchronisation }
}

/// Returns the object of this kind at the address; created if it is new.
pub(crate) unsafe fn get(wait: Wait, address: usize) -> *mut Object {
    find(class_of(wait), address)
}

/// The same, if it was ever used; otherwise null.
pub(crate) unsafe fn known(wait: Wait, address: usize) -> *mut Object {
    existing(class_of(wait), address)
}

/// Returns the clock of the atomic variable at the address.
pub(crate) unsafe fn atomic(address: usize) -> *mut Object {
    find(Class::Atomic, address)
}

/// The same, if anything was ever released to it.
pub(crate) unsafe fn existing_atomic(address: usize) -> *mut Object {
    existing(Class::Atomic, address)
}

/// Forgets an object that begins or ends: earlier state at this address does not count.
pub(crate) unsafe fn forget(address: usize) {
    for class in [Class::Synchronisation, Class::Atomic] {
        let object = existing(class, address);
        if !object.is_null() {
            (*object).state = State::Unused;
            (*object).origin = Origin::UNKNOWN;
            crate::clock::clear(&mut (*object).clock);
            crate::clock::clear(&mut (*object).shared_clock);
            (*object).releasers.clear();
        }
    }
}

/// Forgets the objects in freed memory.
pub(crate) unsafe fn forget_range(start: usize, len: usize) {
    if USED.get() == 0 {
        return;
    }
    let step = if SMALL.get() { 1 } else { 4 };
    let mut at = start & !3;
    let end = start + len;
    if len / 4096 > CAPACITY.get() {
        // Fewer objects than pages.
        for slot in 0..CAPACITY.get() {
            let object = *TABLE.get().add(slot);
            let is_memory = !object.is_null() && (*object).key & 3 != Class::Thread as usize;
            if is_memory && (at..end).contains(&((*object).key >> 2)) {
                forget((*object).key >> 2);
            }
        }
        return;
    }
    while at < end {
        let page_end = ((at | 4095) + 1).min(end);
        if (*PAGES.ptr())[page_mark(at)] != 0 {
            while at < page_end {
                forget(at);
                at += step;
            }
        }
        at = page_end;
    }
}

pub(crate) unsafe fn add_waiter(wait: Wait, address: usize) {
    if address != 0 || wait == Wait::Join {
        (*get(wait, address)).waiters += 1;
    }
}

pub(crate) unsafe fn remove_waiter(wait: Wait, address: usize) {
    if address != 0 || wait == Wait::Join {
        (*get(wait, address)).waiters -= 1;
    }
}

pub(crate) unsafe fn has_waiters(wait: Wait, address: usize) -> bool {
    let object = existing(class_of(wait), address);
    !object.is_null() && (*object).waiters > 0
}

/// What initialisation had set in an object when an iteration of an in-process loop began.
#[derive(Clone, Copy)]
struct Kept {
    address: usize,
    state: State,
}

static KEPT: Global<*mut Kept> = Global::new(core::ptr::null_mut());
static KEPT_ROOM: Global<usize> = Global::new(0);
static KEPT_COUNT: Global<usize> = Global::new(0);

/// Returns the objects that synchronise, and whose initialisation has set something.
unsafe fn with_settings() -> impl Iterator<Item = (*mut Object, State)> {
    let objects = (0..CAPACITY.get()).map(|slot| *TABLE.get().add(slot));
    let synchronise = |object: &*mut Object| !object.is_null() && (**object).key & 3 == Class::Synchronisation as usize;
    objects.filter(synchronise).filter_map(|object| Some((object, (*object).state.settings()?)))
}

/// Notes what initialisation has set: the body of a loop begins.
pub(crate) unsafe fn keep_settings() {
    if USED.get() > KEPT_ROOM.get() {
        KEPT_ROOM.set(USED.get() * 2);
        KEPT.set(arena::take_lasting(KEPT_ROOM.get() * size_of::<Kept>()) as *mut Kept);
    }
    KEPT_COUNT.set(0);
    for (object, state) in with_settings() {
        *KEPT.get().add(KEPT_COUNT.get()) = Kept { address: (*object).key >> 2, state };
        KEPT_COUNT.set(KEPT_COUNT.get() + 1);
    }
}

/// Sets it again, where everything else was forgotten.
pub(crate) unsafe fn restore_settings() {
    for at in 0..KEPT_COUNT.get() {
        let Kept { address, state } = *KEPT.get().add(at);
        (*find(Class::Synchronisation, address)).state = state;
    }
}

/// Undoes what the body of a loop has set: it has ended.
pub(crate) unsafe fn roll_settings_back() {
    for (object, _) in with_settings() {
        (*object).state = State::Unused;
    }
    restore_settings();
}

/// Forgets everything, for the next iteration of an in-process loop. The arena reclaims the memory itself.
pub(crate) unsafe fn reset() {
    TABLE.set(core::ptr::null_mut());
    LAST.set(core::ptr::null_mut());
    CAPACITY.set(0);
    USED.set(0);
    SMALL.set(false);
    core::ptr::write_bytes(PAGES.ptr() as *mut u8, 0, PAGE_MARKS);
}
