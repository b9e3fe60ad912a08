//! The channels behind file descriptors.
//!
//! A *channel* is what the two ends of a pipe or connection share: happens-before edges pass through it, and threads
//! that wait for it are notified of each other's operations. Regular files, directories and devices that never block
//! have none. Channels are numbered in the order of their first use, so that a number means the same in every run.

use super::{POLLIN, PollFd, multiplex, sockets};
use crate::thread::COUNT;
use crate::world::files;
use crate::{Global, sys};
use racehunter_abi::FileKind;
pub(crate) use racehunter_machine::file::key;

/// Stands for every channel.
pub(crate) const ALL: usize = usize::MAX;

/// A descriptor that refers to a channel.
#[derive(Clone, Copy)]
pub(crate) struct Descriptor {
    pub fd: i32,
    pub kind: FileKind,
    pub channel: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unknown,
    /// Never blocks.
    Plain,
    /// Never blocks, and returns random numbers.
    Random,
    Channel,
}

#[derive(Clone, Copy)]
struct Entry {
    state: State,
    kind: FileKind,
    /// Its use as a source of outside input was reported.
    reported: bool,
    /// The program chose the number itself (`dup2`), so other threads may use it without having been given it.
    chosen: bool,
    /// 0 while it is unknown: a socket that is not connected yet.
    channel: u16,
}

struct Channel {
    /// Its identity: see [`key`].
    key: u64,
    /// Another process may have an end of it.
    outside: bool,
    /// This process has put data in.
    fed: bool,
    /// The kernel may deliver with a delay.
    delayed: bool,
}

const DESCRIPTORS: usize = 4096;
const CHANNELS: usize = 4096;
/// The channel for all that do not fit. It orders too much, which never causes a false report.
const OVERFLOW: usize = CHANNELS - 1;

const NOTHING: Entry =
    Entry { state: State::Unknown, kind: FileKind::Other, reported: false, chosen: false, channel: 0 };
static ENTRIES: Global<[Entry; DESCRIPTORS]> = Global::new([NOTHING; DESCRIPTORS]);
static TABLE: Global<[Channel; CHANNELS]> =
    Global::new([const { Channel { key: 0, outside: false, fed: false, delayed: false } }; CHANNELS]);
/// Number of channels in use; 0 is not a channel.
#[unsafe(link_section = ".data.racehunter")]
static USED: Global<usize> = Global::new(1);
/// The process has forked, so everything open is also open elsewhere.
#[unsafe(link_section = ".data.racehunter")]
static SHARED: Global<bool> = Global::new(false);
/// Descriptors beyond the table are looked up at every use.
static BEYOND: Global<Entry> = Global::new(NOTHING);

unsafe fn entry(fd: i32) -> *mut Entry {
    match usize::try_from(fd) {
        Ok(index) if index < DESCRIPTORS => (ENTRIES.ptr() as *mut Entry).add(index),
        _ => {
            *BEYOND.ptr() = NOTHING;
            BEYOND.ptr()
        }
    }
}

unsafe fn at(channel: usize) -> *mut Channel {
    (TABLE.ptr() as *mut Channel).add(if channel < CHANNELS { channel } else { OVERFLOW })
}

/// Returns the channel with this key, if there is one.
pub(crate) unsafe fn find(key: u64) -> Option<usize> {
    (1..USED.get()).find(|&channel| (*at(channel)).key == key)
}

/// Returns the channel with this key; created if it is new. Key 0 means a channel that no other descriptor can find.
pub(crate) unsafe fn find_or_make(key: u64, outside: bool) -> usize {
    if key != 0
        && let Some(known) = find(key)
    {
        return known;
    }
    if USED.get() >= OVERFLOW {
        (*at(OVERFLOW)).outside |= outside;
        return OVERFLOW;
    }
    let channel = USED.get();
    USED.set(channel + 1);
    *at(channel) = Channel { key, outside, fed: false, delayed: false };
    channel
}

/// Forgets channels without a descriptor, between iterations of an in-process loop.
pub(super) unsafe fn reset() {
    if USED.get() > 1 {
        let last = (*ENTRIES.ptr()).iter().map(|entry| usize::from(entry.channel)).max().unwrap_or(0);
        USED.set(USED.get().min(last + 1));
    }
}

/// Returns the channel of a descriptor; `None` if calls on it go straight to the kernel.
pub(crate) unsafe fn of(fd: i32) -> Option<Descriptor> {
    if COUNT.get() == 0 {
        // Called by a library that is initialised before everything else.
        return None;
    }
    let e = entry(fd);
    if (*e).state == State::Unknown {
        discover(fd, e);
    }
    if (*e).state != State::Channel {
        return None;
    }
    let kind = (*e).kind;
    let mut channel = usize::from((*e).channel);
    if channel == 0 && kind == FileKind::Socket {
        let (found, certain) = sockets::channel_of(fd, identity(fd));
        channel = found;
        if certain {
            (*e).channel = found as u16;
        }
    }
    Some(Descriptor { fd, kind, channel })
}

/// Returns the known descriptors of a channel.
pub(crate) unsafe fn descriptors(channel: usize) -> impl Iterator<Item = i32> {
    let refers = move |&fd: &i32| {
        let e = entry(fd);
        (*e).state == State::Channel && usize::from((*e).channel) == channel
    };
    (0..DESCRIPTORS as i32).filter(refers)
}

/// Returns the known descriptors of a kind.
pub(crate) unsafe fn of_kind(kind: FileKind) -> impl Iterator<Item = i32> {
    (0..DESCRIPTORS as i32).filter(move |&fd| (*entry(fd)).state == State::Channel && (*entry(fd)).kind == kind)
}

/// Returns whether reads from a descriptor are random.
pub(crate) unsafe fn is_random(fd: i32) -> bool {
    of(fd).is_none() && (*entry(fd)).state == State::Random
}

/// Returns device, inode and type from the file system.
unsafe fn status(fd: i32) -> Option<(u64, u64, u32, u64)> {
    const FSTAT: usize = 5;
    let mut stat = [0_u64; 18];
    let failed = sys::call(FSTAT, fd as usize, stat.as_mut_ptr() as usize, 0, 0) < 0;
    (!failed).then_some((stat[0], stat[1], stat[3] as u32 & 0o170_000, stat[5]))
}

/// Returns the key of a descriptor's file, by device and inode.
pub(crate) unsafe fn identity(fd: i32) -> u64 {
    status(fd).map_or(0, |(device, inode, ..)| key(&[device, inode]))
}

/// Inspects a descriptor of unknown origin: inherited, or made by a library on its own.
unsafe fn discover(fd: i32, e: *mut Entry) {
    const FIFO: u32 = 0o010_000;
    const CHARACTERS: u32 = 0o020_000;
    const SOCKET: u32 = 0o140_000;
    const ANONYMOUS: u32 = 0;
    const MEMORY_DEVICES: u64 = 1;
    const RANDOM_DEVICES: [u64; 2] = [0x108, 0x109];
    let Some((device, inode, kind, special)) = status(fd) else { return };
    (*e).state = State::Channel;
    match kind {
        FIFO => {
            (*e).kind = FileKind::Pipe;
            (*e).channel = find_or_make(key(&[device, inode]), true) as u16;
        }
        SOCKET => {
            (*e).kind = FileKind::Socket;
            (*e).channel = 0;
        }
        CHARACTERS if RANDOM_DEVICES.contains(&special) => (*e).state = State::Random,
        CHARACTERS if special >> 8 != MEMORY_DEVICES => {
            (*e).kind = FileKind::Terminal;
            (*e).channel = find_or_make(key(&[device, inode, special]), true) as u16;
        }
        ANONYMOUS => {
            let (kind, outside) = anonymous(fd);
            (*e).kind = kind;
            (*e).channel = find_or_make(0, outside) as u16;
        }
        _ => (*e).state = State::Plain,
    }
}

/// Inspects a file without a file system, which shows its name only as a link. Also returns whether the kernel itself,
/// or another process, can put data in.
unsafe fn anonymous(fd: i32) -> (FileKind, bool) {
    const READLINK: usize = 89;
    let mut path = *b"/proc/self/fd/\0\0\0\0\0\0\0\0\0\0\0\0";
    let mut digits = [0_u8; 10];
    let mut rest = fd as u32;
    let mut first = digits.len();
    while first > 0 {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    path[14..14 + digits.len() - first].copy_from_slice(&digits[first..]);
    let mut name = [0_u8; 32];
    let len = sys::call(READLINK, path.as_ptr() as usize, name.as_mut_ptr() as usize, name.len(), 0);
    match &name[..len.clamp(0, 32) as usize] {
        b"anon_inode:[eventfd]" => (FileKind::Event, false),
        b"anon_inode:[eventpoll]" => (FileKind::Set, false),
        b"anon_inode:[timerfd]" => (FileKind::Event, true),
        _ => (FileKind::Other, true),
    }
}

/// Forgets a descriptor that was closed, or refers to something else now.
pub(crate) unsafe fn forget(fd: i32) {
    super::descriptors::renewed(fd);
    files::forget(fd);
    let e = entry(fd);
    if (*e).state == State::Channel {
        multiplex::forget(fd);
    }
    *e = NOTHING;
}

/// Forgets a range of closed descriptors.
pub(crate) unsafe fn forget_range(first: u32, last: u32) {
    (first..=last.min(DESCRIPTORS as u32 - 1)).for_each(|fd| forget(fd as i32));
}

/// Makes `to` refer to the same channel as `from`.
pub(crate) unsafe fn copy(from: i32, to: i32) {
    if from != to {
        forget(to);
        files::share([from, to]);
        of(from);
        let known = *entry(from);
        *entry(to) = Entry { chosen: false, ..known };
    }
}

/// Notes that the program chose this number for a descriptor.
pub(crate) unsafe fn choose(fd: i32) {
    (*entry(fd)).chosen = true;
}

/// Returns whether the file with this number can depend on threads that were never given the number: the program chose
/// it, or no file has it at the moment.
pub(crate) unsafe fn is_contested(fd: i32) -> bool {
    let e = entry(fd);
    (*e).chosen || (*e).state == State::Unknown && status(fd).is_none()
}

/// Notes a descriptor that the program has created.
pub(crate) unsafe fn made(fd: i32, kind: FileKind, channel: usize) {
    forget(fd);
    *entry(fd) = Entry { state: State::Channel, kind, reported: false, chosen: false, channel: channel as u16 };
}

/// Notes a socket that the program has created; its channel is known only later.
pub(crate) unsafe fn made_socket(fd: i32) {
    made(fd, FileKind::Socket, 0);
}

/// Sets the channel of a socket that was connected, or listens.
pub(crate) unsafe fn settle(fd: i32, channel: usize) {
    (*entry(fd)).channel = channel as u16;
}

pub(crate) unsafe fn set_outside(channel: usize) {
    (*at(channel)).outside = true;
}

pub(crate) unsafe fn set_delayed(channel: usize) {
    (*at(channel)).delayed = true;
}

/// Returns whether another process may have an end of it; for [`ALL`], of any channel.
pub(crate) unsafe fn is_outside(channel: usize) -> bool {
    if channel == ALL { SHARED.get() } else { (*at(channel)).outside }
}

/// Returns whether all its data comes from outside, at an arbitrary time.
pub(crate) unsafe fn is_unexpected(channel: usize) -> bool {
    is_outside(channel) && (!(*at(channel)).fed || super::client::is_there())
}

pub(crate) unsafe fn is_delayed(channel: usize) -> bool {
    if channel == ALL { (1..USED.get()).any(|channel| (*at(channel)).delayed) } else { (*at(channel)).delayed }
}

/// Returns true for the first call per descriptor.
pub(crate) unsafe fn report(fd: i32) -> bool {
    let e = entry(fd);
    !core::mem::replace(&mut (*e).reported, true)
}

/// Notes that another process gets a copy of every descriptor.
pub(crate) unsafe fn share_all() {
    SHARED.set(true);
    (1..USED.get()).for_each(|channel| set_outside(channel));
}

/// Notes that another program is started, and gets the descriptors that are not closed for it.
pub(crate) unsafe fn share_inherited() {
    const GET_DESCRIPTOR_FLAGS: usize = 1;
    for fd in 0..DESCRIPTORS {
        let known = *entry(fd as i32);
        if known.state == State::Channel
            && known.channel != 0
            && sys::call(sys::FCNTL, fd, GET_DESCRIPTOR_FLAGS, 0, 0) == 0
        {
            set_outside(usize::from(known.channel));
        }
    }
}

/// Above every address, and distinct from [`racehunter_abi::File`]s.
const OBJECTS: usize = 1 << 60;

/// Releases what the running thread knows to the other end.
pub(crate) unsafe fn tell(channel: usize) {
    feed(channel);
    super::release(OBJECTS | channel);
}

/// Notes that this process puts data in.
pub(crate) unsafe fn feed(channel: usize) {
    (*at(channel)).fed = true;
}

/// Orders the running thread after what came through the channel.
pub(crate) unsafe fn learn(channel: usize) {
    super::learn(OBJECTS | channel);
}

/// Examines a wait for input on several descriptors: returns the channel, and whether it can end from outside, and only
/// from there.
pub(crate) unsafe fn survey(entries: &[PollFd]) -> (usize, bool, bool) {
    let (mut common, mut outside, mut expected) = (None, false, false);
    for entry in entries.iter().filter(|entry| entry.fd >= 0) {
        let Some(d) = of(entry.fd) else {
            expected = true;
            continue;
        };
        common = Some(if common.is_none_or(|c| c == d.channel) && d.kind != FileKind::Set { d.channel } else { ALL });
        let (from_outside, unexpected) = if d.kind == FileKind::Set {
            multiplex::survey(d.channel)
        } else {
            (is_outside(d.channel), is_unexpected(d.channel) && entry.events & POLLIN != 0)
        };
        outside |= from_outside;
        expected |= !unexpected;
    }
    (common.unwrap_or(ALL), outside, outside && !expected)
}

/// Notes that both ends are in this process.
pub(crate) unsafe fn set_inside(channel: usize) {
    (*at(channel)).outside = false;
}

/// Orders the running thread after what came through any channel.
pub(crate) unsafe fn learn_all() {
    (1..USED.get()).for_each(|channel| learn(channel));
}
