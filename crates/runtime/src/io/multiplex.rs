//! Waiting for one of several descriptors: `poll`, `select`, `epoll`.

use super::channels::{self, ALL};
use super::{EBADF, EINTR, POLLIN, PollFd, Probe, Watch, changed, finish, log_event, several, until};
use super::{descriptors, sockets};
use crate::schedule::{End, point};
use crate::signals::cancel;
use crate::sync::{interpose, interpose_cancellable};
use crate::thread::current;
use crate::{Global, hooks, sys, time};
use racehunter_abi::{File, FileKind, FileOperation, Wait};
use racehunter_machine::{Deadline, Timespec};

const POLL: usize = 7;
const PSELECT6: usize = 270;
const EPOLL_CTL: usize = 233;
const EPOLL_WAIT: usize = 232;

interpose_cancellable! {
    poll => poll_for, "rcx";
    __poll_chk => poll_checked, "r8";
    ppoll => poll_until, "r8";
    __ppoll_chk => poll_until_checked, "r9";
    select => select_for, "r9";
    epoll_wait => wait_for_set, "r8";
    epoll_pwait => wait_for_set_with, "r9";
    epoll_pwait2 => wait_for_set_until, "r9";
}

interpose! {
    epoll_ctl => change_set, "r8";
}

super::interpose_six! {
    pselect => select_until;
}

/// How long a call waits.
#[derive(Clone, Copy)]
enum Patience {
    None,
    Until(Deadline),
    Endless,
}

const EINVAL: isize = -22;
const EFAULT: isize = -14;

impl Patience {
    unsafe fn milliseconds(timeout: i32) -> Self {
        match timeout {
            0 => Self::None,
            1.. => {
                let timeout = i64::from(timeout);
                Self::Until(time::after(&[timeout / 1000, timeout % 1000 * 1_000_000]))
            }
            _ => Self::Endless,
        }
    }

    unsafe fn duration(timeout: *const [i64; 2]) -> Self {
        if timeout.is_null() {
            Self::Endless
        } else if *timeout == [0, 0] {
            Self::None
        } else {
            Self::Until(time::after(timeout))
        }
    }
}

/// Waits with a watch; `attempt` gets what is available, without waiting. The result is the kernel's.
unsafe fn multiplex(
    file: File,
    watch: *mut Watch,
    patience: Patience,
    mask: *const u64,
    code: usize,
    mut attempt: impl FnMut() -> isize,
) -> isize {
    let deadline = match patience {
        Patience::None => {
            if cancel::acts_at(code) {
                return -(EINTR as isize);
            }
            let n = point(code);
            let result = attempt();
            log_event(n, file, (*watch).channel, result > 0);
            return result;
        }
        Patience::Until(deadline) => Some(deadline),
        Patience::Endless => None,
    };
    (*watch).several = true;
    loop {
        // During the wait another set of signals is blocked.
        let blocked = (*current()).signal_mask;
        if !mask.is_null() {
            (*current()).signal_mask = *mask;
        }
        let (n, end) = until(code, Wait::File, file.pack() as usize, watch, deadline);
        (*current()).signal_mask = blocked;
        let result = match end {
            End::Interrupted => -(EINTR as isize),
            End::Cancelled => {
                cancel::act();
                -(EINTR as isize)
            }
            End::Done | End::TimedOut => attempt(),
        };
        log_event(n, file, (*watch).channel, result > 0);
        // Another thread may have taken what was available.
        if result != 0 || end != End::Done {
            return result;
        }
    }
}

unsafe extern "C" fn poll_for(entries: *mut PollFd, count: usize, timeout: i32, code: usize) -> i32 {
    poll_with(entries, count, Patience::milliseconds(timeout), core::ptr::null(), code)
}

unsafe extern "C" fn poll_checked(entries: *mut PollFd, count: usize, timeout: i32, _room: usize, code: usize) -> i32 {
    poll_for(entries, count, timeout, code)
}

unsafe extern "C" fn poll_until(
    entries: *mut PollFd,
    count: usize,
    timeout: *const [i64; 2],
    mask: *const u64,
    code: usize,
) -> i32 {
    if !timeout.is_null() && !time::is_valid(timeout) {
        return finish(EINVAL) as i32;
    }
    poll_with(entries, count, Patience::duration(timeout), mask, code)
}

unsafe extern "C" fn poll_until_checked(
    entries: *mut PollFd,
    count: usize,
    timeout: *const [i64; 2],
    mask: *const u64,
    _room: usize,
    code: usize,
) -> i32 {
    poll_until(entries, count, timeout, mask, code)
}

unsafe fn poll_with(entries: *mut PollFd, count: usize, patience: Patience, mask: *const u64, code: usize) -> i32 {
    // The kernel reports errors in the list, before anything is read from it.
    let outright = sys::call(POLL, entries as usize, count, 0, 0);
    if outright < 0 && outright != -(EINTR as isize) {
        return finish(outright) as i32;
    }
    let list = || if count == 0 { &[][..] } else { core::slice::from_raw_parts(entries, count) };
    let (channel, outside, lazy) = channels::survey(list());
    let mut watch = Watch::new(Probe::Poll(entries, count), channel);
    watch.outside = outside;
    watch.lazy = lazy;
    let first = list().iter().map(|entry| entry.fd).find(|&fd| fd >= 0);
    let result = multiplex(described(first, count), &raw mut watch, patience, mask, code, || {
        sys::call(POLL, entries as usize, count, 0, 0)
    });
    if result > 0 {
        list().iter().filter(|entry| entry.revents != 0).for_each(|entry| learn_from(entry.fd));
    }
    finish(result) as i32
}

unsafe fn described(first: Option<i32>, count: usize) -> File {
    let descriptor = first.unwrap_or(-1);
    match first.and_then(|fd| channels::of(fd)) {
        Some(d) if count == 1 => File { descriptor, kind: d.kind, operation: FileOperation::Poll },
        _ => several(descriptor, FileOperation::Poll),
    }
}

unsafe fn learn_from(fd: i32) {
    if let Some(d) = channels::of(fd) {
        sockets::learn(&d);
    }
}

/// Descriptors that `select` can name here.
const SELECTABLE: usize = 4096;
const WORDS: usize = SELECTABLE / 64;

/// Arguments of a `select`: what may be read, what may be written, what is exceptional.
pub(crate) struct Sets {
    count: usize,
    given: [*mut u64; 3],
}

impl Sets {
    /// Returns what the program requested or, afterwards, got.
    unsafe fn contains(&self, set: usize, fd: usize) -> bool {
        !self.given[set].is_null() && *self.given[set].add(fd / 64) & 1 << (fd % 64) != 0
    }

    unsafe fn copy(&self, set: usize) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        if !self.given[set].is_null() {
            core::ptr::copy_nonoverlapping(self.given[set], words.as_mut_ptr(), self.count.div_ceil(64));
        }
        words
    }
}

/// Returns whether a `select` would return.
pub(super) unsafe fn select_now(sets: *const Sets) -> bool {
    let mut words = [(*sets).copy(0), (*sets).copy(1), (*sets).copy(2)];
    select_in((*sets).count, (*sets).given, &mut words) != 0
}

/// Makes a `select` that does not wait and changes only the copies of the sets.
unsafe fn select_in(count: usize, given: [*mut u64; 3], words: &mut [[u64; WORDS]; 3]) -> isize {
    let now = [0_i64; 2];
    let [reads, writes, exceptions] =
        [0, 1, 2].map(|set| if given[set].is_null() { 0 } else { words[set].as_mut_ptr() as usize });
    sys::call6(PSELECT6, count, reads, writes, exceptions, now.as_ptr() as usize, 0)
}

unsafe extern "C" fn select_for(
    count: i32,
    reads: *mut u64,
    writes: *mut u64,
    exceptions: *mut u64,
    timeout: *mut [i64; 2],
    code: usize,
) -> i32 {
    if !timeout.is_null() && (*timeout).iter().any(|&part| part < 0) {
        return finish(EINVAL) as i32;
    }
    let duration = if timeout.is_null() { [0, 0] } else { [(*timeout)[0], (*timeout)[1] * 1000] };
    let patience = Patience::duration(if timeout.is_null() { core::ptr::null() } else { &raw const duration });
    let result = select_with(count, [reads, writes, exceptions], patience, core::ptr::null(), code);
    if let Patience::Until(deadline) = patience {
        // On Linux the remaining time is returned there.
        let Timespec([seconds, nanoseconds]) = Timespec::from_nanoseconds(time::until(deadline));
        *timeout = [seconds, nanoseconds / 1000];
        hooks::wrote(timeout as usize, size_of::<[i64; 2]>(), code);
    }
    result
}

unsafe extern "C" fn select_until(
    count: i32,
    reads: *mut u64,
    writes: *mut u64,
    exceptions: *mut u64,
    timeout: *const [i64; 2],
    mask: *const u64,
) -> i32 {
    if !timeout.is_null() && !time::is_valid(timeout) {
        return finish(EINVAL) as i32;
    }
    select_with(count, [reads, writes, exceptions], Patience::duration(timeout), mask, super::code_of_six())
}

unsafe fn select_with(count: i32, given: [*mut u64; 3], patience: Patience, mask: *const u64, code: usize) -> i32 {
    let Ok(count) = usize::try_from(count) else { return finish(EINVAL) as i32 };
    if count > SELECTABLE {
        // There is no room for that many here. The kernel waits, or a time-out expires at once.
        let [reads, writes, exceptions] = given.map(|set| set as usize);
        let now = [0_i64; 2];
        let timeout = if matches!(patience, Patience::Endless) { 0 } else { now.as_ptr() as usize };
        return finish(sys::call6(PSELECT6, count, reads, writes, exceptions, timeout, 0)) as i32;
    }
    if given.iter().any(|&set| !set.is_null() && super::is_in_first_page(set as usize)) {
        return finish(EFAULT) as i32;
    }
    let sets = Sets { count, given };
    let named = |fd: &usize| (0..3).any(|set| sets.contains(set, *fd));
    let (mut outside, mut expected, mut total) = (false, false, 0);
    for fd in (0..count).filter(named) {
        let events = if sets.contains(0, fd) { POLLIN } else { 0 };
        let (_, from_outside, lazy) = channels::survey(&[PollFd { fd: fd as i32, events, revents: 0 }]);
        outside |= from_outside;
        expected |= !lazy;
        total += 1;
    }
    let first = (0..count).find(named).map(|fd| fd as i32);
    let mut watch = Watch::new(Probe::Select(&raw const sets), ALL);
    watch.outside = outside;
    watch.lazy = outside && !expected;
    let mut got = [[0; WORDS]; 3];
    let result = multiplex(described(first, total), &raw mut watch, patience, mask, code, || {
        got = [sets.copy(0), sets.copy(1), sets.copy(2)];
        select_in(count, given, &mut got)
    });
    if result >= 0 {
        for (to, words) in given.iter().zip(&got).filter(|(to, _)| !to.is_null()) {
            core::ptr::copy_nonoverlapping(words.as_ptr(), *to, count.div_ceil(64));
        }
    }
    if result > 0 {
        (0..count).filter(named).for_each(|fd| learn_from(fd as i32));
    }
    finish(result) as i32
}

/// A descriptor in a set of `epoll`.
#[derive(Clone, Copy)]
struct Member {
    /// Channel of the set, 0 for a free entry.
    set: usize,
    fd: i32,
    /// What the program gets back when the descriptor is ready.
    data: u64,
}

const MEMBERS: usize = 2048;
static MEMBER: Global<[Member; MEMBERS]> = Global::new([Member { set: 0, fd: 0, data: 0 }; MEMBERS]);
/// There were more members than fit, so the contents of the sets are not known.
#[unsafe(link_section = ".data.racehunter")]
static INCOMPLETE: Global<bool> = Global::new(false);
/// Number of entries ever used.
#[unsafe(link_section = ".data.racehunter")]
static MEMBERS_USED: Global<usize> = Global::new(0);

unsafe fn members() -> impl Iterator<Item = *mut Member> {
    (0..MEMBERS_USED.get()).map(|index| (MEMBER.ptr() as *mut Member).add(index))
}

/// Returns the object that orders a thread which learns that a member is ready after the thread that put it into the
/// set, or re-armed it.
unsafe fn object_of(member: *const Member) -> usize {
    /// Above every address, distinct from [`File`]s and from the objects of channels.
    const OBJECTS: usize = 1 << 59;
    OBJECTS | member.offset_from(MEMBER.ptr() as *const Member) as usize
}

/// Removes a closed descriptor from all sets, as the kernel does.
pub(super) unsafe fn forget(fd: i32) {
    members().filter(|&member| (*member).set != 0 && (*member).fd == fd).for_each(|member| (*member).set = 0);
}

/// Returns whether something outside, and only that, can make a member of the set ready.
pub(super) unsafe fn survey(set: usize) -> (bool, bool) {
    let (mut outside, mut expected) = (INCOMPLETE.get(), false);
    for member in members().filter(|&member| (*member).set == set) {
        if let Some(d) = channels::of((*member).fd) {
            outside |= channels::is_outside(d.channel);
            expected |= !channels::is_unexpected(d.channel);
        }
    }
    (outside, outside && !expected)
}

/// `struct epoll_event`, which has no padding.
#[repr(C, packed)]
#[derive(Clone, Copy)]
struct Event {
    events: u32,
    data: u64,
}

unsafe extern "C" fn change_set(set: i32, operation: i32, fd: i32, event: *const Event, code: usize) -> i32 {
    const REMOVE: i32 = 2;
    let Some(d) = descriptors::look_up(set, code) else { return finish(-(EBADF as isize)) as i32 };
    let n = point(code);
    let result = sys::call(EPOLL_CTL, set as usize, operation as usize, fd as usize, event as usize);
    if result >= 0 {
        let known = members().find(|&member| (*member).set == d.channel && (*member).fd == fd);
        let free = || members().find(|&member| (*member).set == 0);
        match (operation, known) {
            (REMOVE, Some(member)) => (*member).set = 0,
            (REMOVE, None) => {}
            (_, Some(member)) => {
                (*member).data = (*event).data;
                super::release(object_of(member));
            }
            (_, None) => {
                let fresh = || {
                    let used = MEMBERS_USED.get();
                    (used < MEMBERS).then(|| {
                        MEMBERS_USED.set(used + 1);
                        (MEMBER.ptr() as *mut Member).add(used)
                    })
                };
                match free().or_else(fresh) {
                    Some(member) => {
                        *member = Member { set: d.channel, fd, data: (*event).data };
                        crate::sync::objects::forget(object_of(member));
                        super::release(object_of(member));
                    }
                    None => INCOMPLETE.set(true),
                }
            }
        }
    }
    log_event(n, File { descriptor: set, kind: d.kind, operation: FileOperation::Change }, d.channel, result >= 0);
    changed(d.channel);
    finish(result) as i32
}

unsafe extern "C" fn wait_for_set(set: i32, events: *mut Event, most: i32, timeout: i32, code: usize) -> i32 {
    wait_with(set, events, most, Patience::milliseconds(timeout), core::ptr::null(), code)
}

unsafe extern "C" fn wait_for_set_with(
    set: i32,
    events: *mut Event,
    most: i32,
    timeout: i32,
    mask: *const u64,
    code: usize,
) -> i32 {
    wait_with(set, events, most, Patience::milliseconds(timeout), mask, code)
}

unsafe extern "C" fn wait_for_set_until(
    set: i32,
    events: *mut Event,
    most: i32,
    timeout: *const [i64; 2],
    mask: *const u64,
    code: usize,
) -> i32 {
    if !timeout.is_null() && !time::is_valid(timeout) {
        return finish(EINVAL) as i32;
    }
    wait_with(set, events, most, Patience::duration(timeout), mask, code)
}

unsafe fn wait_with(set: i32, events: *mut Event, most: i32, patience: Patience, mask: *const u64, code: usize) -> i32 {
    let call = || sys::call(EPOLL_WAIT, set as usize, events as usize, most as usize, 0);
    let Some(d) = descriptors::look_up(set, code).filter(|d| d.kind == FileKind::Set && most > 0) else {
        return finish(call()) as i32;
    };
    let mut entry = PollFd { fd: set, events: POLLIN, revents: 0 };
    let mut watch = Watch::new(Probe::Poll(&raw mut entry, 1), ALL);
    (watch.outside, watch.lazy) = survey(d.channel);
    let file = File { descriptor: set, kind: d.kind, operation: FileOperation::Poll };
    let result = multiplex(file, &raw mut watch, patience, mask, code, call);
    for ready in 0..result.max(0) as usize {
        let data = (*events.add(ready)).data;
        members().filter(|&member| (*member).set == d.channel && (*member).data == data).for_each(|member| {
            learn_from((*member).fd);
            super::learn(object_of(member));
        });
    }
    if result > 0 && INCOMPLETE.get() {
        channels::learn_all();
    }
    // The readiness that an edge-triggered member has reported is used up.
    changed(d.channel);
    finish(result) as i32
}
