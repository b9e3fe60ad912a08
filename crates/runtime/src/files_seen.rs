//! Files that the program looks at and changes.
//!
//! What is in a file is state that no scheduling point stands for. It takes nothing away from a claim as long as it is the same
//! in every schedule and every execution: a program may read what nobody writes, and write what nobody reads. What it both
//! looks at and changes, and a position in an open file that two threads use, is told.

use crate::io::channels;
use crate::reach::{VARIES, others_are_there};
use crate::thread::CURRENT;
use crate::{Global, log, sys};
use core::ffi::{CStr, c_char};
use racehunter_event::Escape;
use racehunter_sight::Effect;

/// Where something was done: code address and description.
type Place = (usize, usize);

/// A file, as far as it can be known again: the last part of its path, and what the file system calls it. Zero is not known.
#[derive(Clone, Copy, PartialEq, Eq)]
struct File {
    name: u64,
    node: u64,
}

impl File {
    const ANY: Self = Self { name: u64::MAX, node: u64::MAX };

    fn may_be(self, other: Self) -> bool {
        self == Self::ANY
            || other == Self::ANY
            || self.name != 0 && self.name == other.name
            || self.node != 0 && self.node == other.node
    }
}

const FILES: usize = 32;

/// Files with the places where they were first used so.
struct Used {
    files: [(File, Place); FILES],
    count: usize,
}

impl Used {
    const fn new() -> Self {
        Self { files: [(File { name: 0, node: 0 }, (0, 0)); FILES], count: 0 }
    }

    fn add(&mut self, file: File, place: Place) {
        if self.files[..self.count].iter().any(|(known, _)| *known == file) {
            return;
        }
        // The last one stands for all that are too many.
        let last = self.count == FILES - 1;
        self.files[self.count.min(FILES - 1)] = (if last { File::ANY } else { file }, place);
        self.count = (self.count + 1).min(FILES);
    }

    fn find(&self, file: File) -> Option<Place> {
        self.files[..self.count].iter().find(|(known, _)| known.may_be(file)).map(|(_, place)| *place)
    }
}

static LOOKED_AT: Global<Used> = Global::new(Used::new());
static CHANGED: Global<Used> = Global::new(Used::new());

/// Descriptors that are told apart.
const DESCRIPTORS: usize = 1024;
/// Of each descriptor, number + 1 of the thread that has used it, and of the one that has used its position.
static USERS: Global<[[u16; 2]; DESCRIPTORS]> = Global::new([[0; 2]; DESCRIPTORS]);
#[unsafe(link_section = ".data.racehunter")]
static HAS_USERS: Global<bool> = Global::new(false);

/// In place of a thread: whoever uses the descriptor, another descriptor has the same position.
const ANYBODY: u16 = u16::MAX;

/// A descriptor is gone, or stands for something else now.
pub(crate) unsafe fn forget(fd: i32) {
    set_users(fd, [0; 2]);
}

/// Two descriptors have one position.
pub(crate) unsafe fn share(descriptors: [i32; 2]) {
    descriptors.into_iter().for_each(|fd| set_users(fd, [ANYBODY; 2]));
}

unsafe fn set_users(fd: i32, users: [u16; 2]) {
    if let Some(known) = usize::try_from(fd).ok().and_then(|fd| (&mut *USERS.ptr()).get_mut(fd)) {
        *known = users;
    }
}

/// What a call does to a file.
#[derive(Clone, Copy, Default)]
struct Use {
    looks: bool,
    changes: bool,
    positions: bool,
}

/// A function on a file is about to be called. Whether that was told, and need not be told again.
pub(crate) unsafe fn used(effect: Effect, closes: bool, arguments: [usize; 2], place: Place) -> bool {
    let [file, mode] = arguments;
    let is_path = match effect {
        Effect::FileChange | Effect::FilePosition => false,
        Effect::FileOpen | Effect::FileOpenMode => true,
        _ => file >= DESCRIPTORS * 16,
    };
    if is_path {
        let path = CStr::from_ptr(file as *const c_char).to_bytes();
        return match kind_of_path(path, file) {
            Path::Harmless => false,
            Path::Varying => tell((place.0, place.1 | VARIES)),
            Path::File(file) => note(file, use_of(effect, mode), place),
        };
    }
    let fd = descriptor(file);
    let usage = match closes {
        true => Use { positions: true, ..Use::default() },
        false => Use { positions: effect == Effect::FilePosition, ..use_of(effect, mode) },
    };
    // What goes to the output and error of the program is looked at by nobody.
    if matches!(fd, 1 | 2) && !usage.looks || channels::of(fd).is_some() {
        return false;
    }
    let Some(file) = file_of(fd) else { return false };
    if (usage.positions || usage.changes) && is_used_by_another(fd, usage.positions) {
        return tell(place);
    }
    note(file, usage, place)
}

unsafe fn use_of(effect: Effect, mode: usize) -> Use {
    match effect {
        Effect::FileLook | Effect::FilePosition => Use { looks: true, ..Use::default() },
        Effect::FileChange => Use { changes: true, ..Use::default() },
        Effect::FileOpen => use_of_flags(mode),
        Effect::FileOpenMode => use_of_mode(mode as *const u8),
        _ => Use { looks: true, changes: true, positions: false },
    }
}

fn use_of_flags(flags: usize) -> Use {
    const ACCESS: usize = 3;
    const READ_ONLY: usize = 0;
    const WRITE_ONLY: usize = 1;
    const CREATE: usize = 0o100;
    const EXCLUSIVE: usize = 0o200;
    const TRUNCATE: usize = 0o1000;
    let (access, creates) = (flags & ACCESS, flags & CREATE != 0);
    Use {
        // A file that is not created must be there.
        looks: access != WRITE_ONLY || !creates || flags & EXCLUSIVE != 0,
        changes: access != READ_ONLY || creates || flags & TRUNCATE != 0,
        positions: false,
    }
}

unsafe fn use_of_mode(mode: *const u8) -> Use {
    let text = CStr::from_ptr(mode as *const c_char).to_bytes();
    let has = |letter: u8| text.contains(&letter);
    Use { looks: has(b'r') || has(b'+') || has(b'x'), changes: !has(b'r') || has(b'+'), positions: false }
}

/// What a path leads to.
enum Path {
    /// Something that is always the same, or that has a model.
    Harmless,
    /// Something that is never the same.
    Varying,
    File(File),
}

unsafe fn kind_of_path(path: &[u8], address: usize) -> Path {
    const STAT: usize = 4;
    const KIND: u32 = 0o170_000;
    const CHARACTERS: u32 = 0o020_000;
    const FIFO: u32 = 0o010_000;
    let varying: [&[u8]; 5] = [b"/dev/urandom", b"/dev/random", b"/dev/hwrng", b"/proc/", b"/sys/"];
    if varying.iter().any(|beginning| path.starts_with(beginning)) {
        return Path::Varying;
    }
    let mut status = [0_u64; 18];
    let is_there = sys::call(STAT, address, status.as_mut_ptr() as usize, 0, 0) == 0;
    if is_there && matches!(status[3] as u32 & KIND, CHARACTERS | FIFO) {
        return Path::Harmless;
    }
    let last = path.rsplit(|&byte| byte == b'/').find(|part| !part.is_empty()).unwrap_or(b"/");
    let node = if is_there { channels::key(&[status[0], status[1]]) } else { 0 };
    Path::File(File { name: hash(last), node })
}

fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step) | 1
}

/// The descriptor of a stream, or of itself.
unsafe fn descriptor(file: usize) -> i32 {
    /// Where the C library's `FILE` has it, which programs have compiled in.
    const IN_STREAM: usize = 112;
    if file < DESCRIPTORS * 16 { file as i32 } else { *((file + IN_STREAM) as *const i32) }
}

/// What a descriptor leads to, if that is a file.
unsafe fn file_of(fd: i32) -> Option<File> {
    const FSTAT: usize = 5;
    const KIND: u32 = 0o170_000;
    const REGULAR: u32 = 0o100_000;
    const DIRECTORY: u32 = 0o040_000;
    let mut status = [0_u64; 18];
    let is_there = sys::call(FSTAT, fd as usize, status.as_mut_ptr() as usize, 0, 0) == 0;
    let is_file = is_there && matches!(status[3] as u32 & KIND, REGULAR | DIRECTORY);
    is_file.then(|| File { name: 0, node: channels::key(&[status[0], status[1]]) })
}

/// Notes that the running thread uses a descriptor, and whether another one has used it so that the order matters.
unsafe fn is_used_by_another(fd: i32, positions: bool) -> bool {
    if !others_are_there() {
        if HAS_USERS.get() {
            (*USERS.ptr()).iter_mut().filter(|users| users[0] != ANYBODY).for_each(|users| *users = [0; 2]);
            HAS_USERS.set(false);
        }
        return false;
    }
    let Some(users) = usize::try_from(fd).ok().and_then(|fd| (&mut *USERS.ptr()).get_mut(fd)) else { return true };
    HAS_USERS.set(true);
    let own = CURRENT.get() as u16 + 1;
    let is_other = |user: u16| user != 0 && user != own;
    let conflicts = is_other(users[1]) || positions && is_other(users[0]);
    if users[0] != ANYBODY {
        users[0] = own;
        users[1] = if positions { own } else { users[1] };
    }
    conflicts
}

/// Notes what is done to a file. It is told when the same file is both looked at and changed.
unsafe fn note(file: File, usage: Use, place: Place) -> bool {
    if !usage.looks && !usage.changes {
        return false;
    }
    let (looked_at, changed) = (&mut *LOOKED_AT.ptr(), &mut *CHANGED.ptr());
    if usage.looks {
        looked_at.add(file, place);
    }
    if usage.changes {
        changed.add(file, place);
    }
    let (earlier_look, earlier_change) = (looked_at.find(file), changed.find(file));
    let (Some(look), Some(change)) = (earlier_look, earlier_change) else { return false };
    if look != place {
        tell(look);
    }
    if change != place {
        tell(change);
    }
    tell(place)
}

unsafe fn tell(place: Place) -> bool {
    let (code, object) = place;
    log::escape(Escape::Unseen, code, object, 0);
    true
}
