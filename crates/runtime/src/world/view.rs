//! A private view of the files that an execution changes.
//!
//! What one execution leaves in a directory must not reach the next one, nor its neighbour: a lock file that an aborted
//! execution has left behind would fail all others. So before an execution changes anything in a directory for the first
//! time, the directory is covered by an overlay, in a mount namespace of the process. What was there is seen through it,
//! what is changed goes to memory, and all of it is gone with the process.
//!
//! An overlay copies a file when it is opened for writing for the first time. Descriptors that are open by then go on with
//! the old one, which no other file system would do; so the file is copied before that, and they are opened again.
//!
//! With threads that run freely, in an in-process loop, and where the kernel refuses namespaces, files stay as they are;
//! callers learn that by [`Cover::Refused`].

use crate::{Global, free, kernel, log, schedule, server, sys};
use core::ffi::CStr;
use racehunter_event::control::NOTE_FILES;
use racehunter_event::{Escape, TRACES_OF_LINKS};

/// Whether what is about to change is private to the execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cover {
    /// It is, now or since an earlier call.
    Private,
    /// It is no file: a device, a pipe, what the kernel shows below `/proc`.
    NotAFile,
    /// It cannot be made private.
    Refused,
}

/// Relative paths start at the working directory.
pub(crate) const HERE: i32 = -100;

/// Directories that are covered, at most; a program that changes files in more of them is refused.
const DIRECTORIES: usize = 16;
/// Bytes of a path, its end included.
const LONGEST: usize = 1024;
/// Descriptors that are looked at when something is covered.
const DESCRIPTORS: i32 = 256;

struct View {
    covered: [Path; DIRECTORIES],
    count: usize,
    namespace: Namespace,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Namespace {
    /// The one that the process was born in.
    Common,
    /// One of its own. `user`: in a user namespace of its own, without any privilege outside.
    Own {
        user: bool,
    },
    Refused,
}

static VIEW: Global<View> =
    Global::new(View { covered: [Path::NEW; DIRECTORIES], count: 0, namespace: Namespace::Common });

/// An execution begins of a program that has kernel threads, or changes files. It could not leave the namespaces later, when it has kernel threads, and
/// what it has learnt of files by then would not be true of their copies.
pub(crate) unsafe fn begin_early(changes_files: bool) {
    if server::shares_files() {
        return;
    }
    (*VIEW.ptr()).namespace = leave_namespace();
    let whole = working_directory().filter(|whole| whole.text() != b"/" && !has_mounts_below(whole));
    if let Some(whole) = whole.filter(|_| changes_files) {
        cover_directory(&whole);
    }
}

/// Whether this execution has changed files in its own view of them.
pub(crate) unsafe fn is_active() -> bool {
    (*VIEW.ptr()).count > 0
}

/// The calling thread is about to create, remove, rename or write the file or directory at a path.
pub(crate) unsafe fn cover(directory: i32, path: &CStr) -> Cover {
    if !schedule::running() || !server::has_controller() {
        return Cover::Refused;
    }
    if leads_to_covered(directory, path) {
        return Cover::Refused;
    }
    let covered = directory_of(directory, path).map_or(Cover::NotAFile, |parent| cover_all(&parent));
    if covered == Cover::Private {
        copy_up(directory, path);
    }
    covered
}

/// Something is about to happen in a directory, to files that are not known.
pub(crate) unsafe fn cover_below(directory: &CStr) -> Cover {
    if !schedule::running() || !server::has_controller() {
        return Cover::Refused;
    }
    let path = Place::open(HERE, directory.as_ptr() as usize).and_then(|place| Path::of_descriptor(place.0));
    path.map_or(Cover::NotAFile, |path| cover_all(&path))
}

unsafe fn cover_all(directory: &Path) -> Cover {
    let is_below = |place: &[u8]| directory.is_in(place);
    if [&b"/proc"[..], b"/sys"].into_iter().any(is_below) || is_below(b"/dev") && !is_below(b"/dev/shm") {
        return Cover::NotAFile;
    }
    let is_private = !server::shares_files() && (is_covered(directory) || cover_directory(&around(directory)));
    if is_private { Cover::Private } else { Cover::Refused }
}

/// What is covered for the sake of a directory: the whole working directory if it is in there, since files are not renamed
/// from one overlay to another.
unsafe fn around(directory: &Path) -> Path {
    match working_directory() {
        Some(whole) if directory.is_in(whole.text()) && whole.text() != b"/" && !has_mounts_below(&whole) => whole,
        _ => *directory,
    }
}

unsafe fn working_directory() -> Option<Path> {
    const GETCWD: usize = 79;
    let mut here = Path::NEW;
    let length = sys::call(GETCWD, here.bytes.as_mut_ptr() as usize, LONGEST, 0, 0);
    here.length = usize::try_from(length).ok()?.checked_sub(1)?;
    (here.bytes[0] == b'/').then_some(here)
}

/// Whether something else is mounted below a directory, which an overlay would hide. If that is not known, there may be.
unsafe fn has_mounts_below(directory: &Path) -> bool {
    const ROOM: usize = 1 << 16;
    static TEXT: Global<[u8; ROOM]> = Global::new([0; ROOM]);
    let path = c"/proc/self/mountinfo".as_ptr() as usize;
    let fd = sys::call(OPENAT, HERE as isize as usize, path, CLOSE_ON_EXEC, 0);
    if fd < 0 {
        return true;
    }
    let text = &mut *TEXT.ptr();
    let mut used = 0;
    loop {
        let result = sys::call(sys::READ, fd as usize, text[used..].as_mut_ptr() as usize, ROOM - used, 0);
        match usize::try_from(result) {
            Ok(bytes) if bytes > 0 && used + bytes < ROOM => used += bytes,
            _ => break,
        }
    }
    sys::call(sys::CLOSE, fd as usize, 0, 0, 0);
    let view = &*VIEW.ptr();
    let is_other = |place: &[u8]| {
        let is_below = place.strip_prefix(directory.text()).is_some_and(|rest| rest.first() == Some(&b'/'));
        is_below && !view.covered[..view.count].iter().any(|known| known.text() == place)
    };
    const PLACE: usize = 4;
    let places =
        text[..used].split(|&byte| byte == b'\n').filter_map(|line| line.split(|&byte| byte == b' ').nth(PLACE));
    used + 1 >= ROOM || places.into_iter().any(is_other)
}

/// Whether what is at two paths is covered by one overlay, so that one can be renamed to the other.
pub(crate) unsafe fn are_together(directory: i32, path: &CStr, other: &CStr) -> bool {
    let view = &*VIEW.ptr();
    let deepest = |directory: i32, path: &CStr| {
        let parent = directory_of(directory, path)?;
        let known = view.covered[..view.count].iter().enumerate().filter(|(_, known)| parent.is_in(known.text()));
        known.max_by_key(|(_, known)| known.length).map(|(index, _)| index)
    };
    deepest(directory, path) == deepest(HERE, other)
}

unsafe fn is_covered(parent: &Path) -> bool {
    let view = &*VIEW.ptr();
    view.covered[..view.count].iter().any(|known| parent.is_in(known.text()))
}

/// Whether a path leads to a directory that is itself covered: the kernel neither removes nor renames one.
unsafe fn leads_to_covered(directory: i32, path: &CStr) -> bool {
    let view = &*VIEW.ptr();
    let covered = &view.covered[..view.count];
    // Most executions change nothing, or only what is in one directory.
    !covered.is_empty()
        && Place::open(directory, path.as_ptr() as usize)
            .filter(|place| place.status().kind() == DIRECTORY)
            .and_then(|place| Path::of_descriptor(place.0))
            .is_some_and(|path| covered.iter().any(|known| known.text() == path.text()))
}

unsafe fn cover_directory(parent: &Path) -> bool {
    let view = VIEW.ptr();
    if (*view).namespace == Namespace::Common && !free::is_on() {
        server::begin_earlier();
    }
    if free::is_on() || server::runs_loops() || parent.text() == b"/" || has_mounts_below(parent) {
        return false;
    }
    if (*view).namespace == Namespace::Common && !kernel::in_use() {
        (*view).namespace = leave_namespace();
    }
    let Namespace::Own { user } = (*view).namespace else { return false };
    if (*view).count == DIRECTORIES {
        return false;
    }
    raise_privileges(user, true);
    let is_mounted = mount_over(parent, user);
    raise_privileges(user, false);
    if is_mounted {
        (*view).covered[(*view).count] = *parent;
        (*view).count += 1;
        log::note(NOTE_FILES);
        reopen_below(parent);
    }
    is_mounted
}

/// Text with a zero at its end, made without an allocator. What does not fit is cut off; that is the path of nothing.
#[derive(Clone, Copy)]
struct Path {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Path {
    const NEW: Self = Self { bytes: [0; LONGEST], length: 0 };

    fn of(parts: &[&[u8]]) -> Self {
        let mut path = Self::NEW;
        parts.iter().for_each(|part| path.push(part));
        path
    }

    fn push(&mut self, bytes: &[u8]) {
        let bytes = &bytes[..bytes.len().min(LONGEST - 1 - self.length)];
        self.bytes[self.length..][..bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    fn push_number(&mut self, mut number: usize) {
        let mut digits = [0; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.push(&digits[at..]);
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn pointer(&self) -> usize {
        self.bytes.as_ptr() as usize
    }

    /// Whether it is this directory, or below it.
    fn is_in(&self, directory: &[u8]) -> bool {
        self.text().strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
    }

    /// The path of what a descriptor leads to, by the link that the kernel shows.
    unsafe fn of_descriptor(fd: i32) -> Option<Self> {
        const READLINK: usize = 89;
        let link = link(fd);
        let mut path = Self::NEW;
        let length = sys::call(READLINK, link.pointer(), path.bytes.as_mut_ptr() as usize, LONGEST - 1, 0);
        path.length = usize::try_from(length).ok().filter(|&length| length < LONGEST - 1)?;
        (path.bytes[0] == b'/').then_some(path)
    }
}

/// The name under which the kernel shows a descriptor: it leads to the same place whatever is mounted over that.
fn link(fd: i32) -> Path {
    let mut link = Path::of(&[b"/proc/self/fd/"]);
    link.push_number(fd as usize);
    link
}

/// The last part of the name under which a descriptor was opened.
pub(crate) unsafe fn name_of(fd: i32, mut use_name: impl FnMut(&[u8])) {
    if let Some(path) = Path::of_descriptor(fd) {
        let text = path.text();
        use_name(text.rsplit(|&byte| byte == b'/').next().unwrap_or(text));
    }
}

/// A descriptor that stands for a place, and can be used for nothing else.
struct Place(i32);

impl Place {
    unsafe fn open(directory: i32, path: usize) -> Option<Self> {
        const PATH_ONLY: usize = 0o1000_0000;
        let fd = sys::call(OPENAT, directory as isize as usize, path, PATH_ONLY | CLOSE_ON_EXEC, 0);
        (fd >= 0).then_some(Self(fd as i32))
    }

    unsafe fn status(&self) -> Status {
        const EMPTY_PATH: usize = 0x1000;
        status(self.0, c"".as_ptr() as usize, EMPTY_PATH).unwrap_or_default()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // SAFETY: the descriptor is our own.
        unsafe { sys::call(sys::CLOSE, self.0 as usize, 0, 0, 0) };
    }
}

const OPENAT: usize = 257;
const CLOSE_ON_EXEC: usize = 0o200_0000;
const REGULAR: u32 = 0o100_000;
const DIRECTORY: u32 = 0o040_000;
const LINK: u32 = 0o120_000;

/// What the file system says about a file.
#[derive(Clone, Copy, Default)]
pub(crate) struct Status {
    pub device: u64,
    pub node: u64,
    links: u64,
    mode: u32,
    owner: u32,
    group: u32,
}

impl Status {
    pub(crate) const fn kind(&self) -> u32 {
        self.mode & 0o170_000
    }

    pub(crate) const fn is_link(&self) -> bool {
        self.kind() == LINK
    }
}

/// Of what is at a path; `flags` are those of `fstatat`.
pub(crate) unsafe fn status(directory: i32, path: usize, flags: usize) -> Option<Status> {
    const NEWFSTATAT: usize = 262;
    // `struct stat`: device, inode and links; then the mode and the owner in one word, and the group in the next.
    let mut words = [0_u64; 18];
    let result = sys::call(NEWFSTATAT, directory as isize as usize, path, words.as_mut_ptr() as usize, flags);
    let [device, node, links, mode_and_owner, group, ..] = words;
    (result == 0).then_some(Status {
        device,
        node,
        links,
        mode: mode_and_owner as u32,
        owner: (mode_and_owner >> 32) as u32,
        group: group as u32,
    })
}

/// The directory that has the entry which a path leads to. Nothing for what is neither a file nor a directory.
unsafe fn directory_of(directory: i32, path: &CStr) -> Option<Path> {
    if let Some(existing) = Place::open(directory, path.as_ptr() as usize) {
        if !matches!(existing.status().kind(), REGULAR | DIRECTORY) {
            return None;
        }
        let mut parent = Path::of_descriptor(existing.0)?;
        let last = parent.text().iter().rposition(|&byte| byte == b'/')?.max(1);
        parent.bytes[last..].fill(0);
        parent.length = last;
        return Some(parent);
    }
    // It is not there yet; its directory is.
    let bytes = path.to_bytes();
    let end = bytes.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
    let parent = match bytes[..end].iter().rposition(|&byte| byte == b'/') {
        Some(0) => Path::of(&[b"/"]),
        Some(slash) if slash < LONGEST - 1 => Path::of(&[&bytes[..slash]]),
        Some(_) => return None,
        None => Path::of(&[b"."]),
    };
    Path::of_descriptor(Place::open(directory, parent.pointer())?.0)
}

/// Gives the process a mount namespace of its own, with a user namespace around it where it has no privilege.
unsafe fn leave_namespace() -> Namespace {
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
        // Users stay who they are.
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

/// The map that keeps one number.
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
        sys::call(sys::WRITE, fd as usize, text.pointer(), text.length, 0);
        sys::call(sys::CLOSE, fd as usize, 0, 0, 0);
    }
}

/// Who enters a user namespace has all privileges in it, also over the files of the user. The program must not notice: they
/// are in force only while something is mounted.
unsafe fn raise_privileges(user: bool, are_raised: bool) {
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

const MOUNT: usize = 165;

/// Covers a directory by an overlay whose changes are kept in memory.
unsafe fn mount_over(directory: &Path, user: bool) -> bool {
    const CHDIR: usize = 80;
    const UMOUNT: usize = 166;
    const DETACH: usize = 2;
    let here = working_directory().unwrap_or(Path::NEW);
    // The memory is mounted over the directory first, so that no other place is needed for it; what was there is reached by
    // its descriptor.
    let Some(lower) = Place::open(HERE, directory.pointer()) else { return false };
    let inner = Inner::of(directory);
    let status = lower.status();
    let tmpfs = c"tmpfs".as_ptr() as usize;
    if sys::call6(MOUNT, tmpfs, directory.pointer(), tmpfs, 0, c"mode=755".as_ptr() as usize, 0) < 0 {
        return false;
    }
    let layers = make_layer(directory, b"/upper", &status).zip(make_layer(directory, b"/work", &status));
    let is_mounted = layers.is_some_and(|(upper, work)| {
        let overlay = c"overlay".as_ptr() as usize;
        let mount = |features: &[u8]| {
            let options = Path::of(&[
                b"lowerdir=",
                link(lower.0).text(),
                b",upperdir=",
                link(upper.0).text(),
                b",workdir=",
                link(work.0).text(),
                features,
            ]);
            sys::call6(MOUNT, overlay, directory.pointer(), overlay, 0, options.pointer(), 0) == 0
        };
        // As like one file system as it can be: directories that were there can be renamed, files keep their numbers and links.
        match user {
            true => mount(b",userxattr,xino=on") || mount(b",userxattr"),
            false => mount(b",redirect_dir=on,index=on,xino=on") || mount(b""),
        }
    });
    if !is_mounted {
        sys::call(UMOUNT, directory.pointer(), DETACH, 0, 0);
        return false;
    }
    if !inner.bring_along() {
        // The overlay, and the memory below it.
        sys::call(UMOUNT, directory.pointer(), DETACH, 0, 0);
        sys::call(UMOUNT, directory.pointer(), DETACH, 0, 0);
        return false;
    }
    // The working directory is still the one that was covered.
    if here.is_in(directory.text()) {
        sys::call(CHDIR, here.pointer(), 0, 0, 0);
    }
    true
}

/// Directories below one that is about to be covered that were covered before. An overlay shows what its directory had without
/// mounts, so these would be hidden, and what the execution has changed in them with them: they are moved into it.
struct Inner([Option<Place>; DIRECTORIES]);

impl Inner {
    unsafe fn of(directory: &Path) -> Self {
        let view = &*VIEW.ptr();
        let covered = &view.covered[..view.count];
        let mut places = [const { None }; DIRECTORIES];
        for (place, known) in places.iter_mut().zip(covered) {
            let is_below = |other: &Path| other.length < known.length && known.is_in(other.text());
            // Those further down come along with the one that they are in.
            if is_below(directory) && !covered.iter().any(|other| is_below(other) && other.is_in(directory.text())) {
                *place = Place::open(HERE, known.pointer());
            }
        }
        Self(places)
    }

    /// Whether all of them are at their paths again.
    unsafe fn bring_along(&self) -> bool {
        const MOVE: usize = 8192;
        let view = &*VIEW.ptr();
        self.0.iter().zip(&view.covered).all(|(place, known)| {
            place
                .as_ref()
                .is_none_or(|place| sys::call6(MOUNT, link(place.0).pointer(), known.pointer(), 0, MOVE, 0, 0) == 0)
        })
    }
}

/// A directory for the overlay, with the mode and the owner of the one that it covers: that is what the program sees.
unsafe fn make_layer(directory: &Path, name: &[u8], like: &Status) -> Option<Place> {
    const MKDIR: usize = 83;
    const CHOWN: usize = 92;
    const CHMOD: usize = 90;
    let path = Path::of(&[directory.text(), name]);
    sys::call(MKDIR, path.pointer(), 0o700, 0, 0);
    sys::call(CHOWN, path.pointer(), like.owner as usize, like.group as usize, 0);
    sys::call(CHMOD, path.pointer(), (like.mode & 0o7777) as usize, 0, 0);
    Place::open(HERE, path.pointer())
}

/// What was opened in a directory before it was covered is opened again, through the overlay.
unsafe fn reopen_below(directory: &Path) {
    for fd in 0..DESCRIPTORS {
        if is_open(fd)
            && let Some(path) = Path::of_descriptor(fd)
            && path.is_in(directory.text())
        {
            reopen(fd, path.pointer());
        }
    }
}

unsafe fn is_open(fd: i32) -> bool {
    const GET_DESCRIPTOR_FLAGS: usize = 1;
    sys::call(sys::FCNTL, fd as usize, GET_DESCRIPTOR_FLAGS, 0, 0) >= 0
}

/// Has a descriptor lead to what is at a path now, at the same position.
unsafe fn reopen(fd: i32, path: usize) {
    const GET_DESCRIPTOR_FLAGS: usize = 1;
    const GET_FLAGS: usize = 3;
    const DUP3: usize = 292;
    const SEEK_CUR: usize = 1;
    const CREATION: usize = 0o1300;
    let flags = sys::call(sys::FCNTL, fd as usize, GET_FLAGS, 0, 0);
    let closes = sys::call(sys::FCNTL, fd as usize, GET_DESCRIPTOR_FLAGS, 0, 0) & 1;
    let position = sys::call(sys::LSEEK, fd as usize, 0, SEEK_CUR, 0);
    let again = sys::call(OPENAT, HERE as isize as usize, path, flags as usize & !CREATION | CLOSE_ON_EXEC, 0);
    if flags < 0 || again < 0 {
        return;
    }
    if position > 0 {
        sys::call(sys::LSEEK, again as usize, position as usize, 0, 0);
    }
    sys::call(DUP3, again as usize, fd as usize, if closes != 0 { CLOSE_ON_EXEC } else { 0 }, 0);
    sys::call(sys::CLOSE, again as usize, 0, 0, 0);
}

/// Files that were copied, by what the file system says about them; the oldest are forgotten.
const REMEMBERED: usize = 64;
static COPIED: Global<([(u64, u64); REMEMBERED], usize)> = Global::new(([(0, 0); REMEMBERED], 0));

/// A file that is there and is about to be changed is copied, if that has not happened yet, and what is open of it leads to
/// the copy.
unsafe fn copy_up(directory: i32, path: &CStr) {
    const READ_WRITE: usize = 2;
    const NO_BLOCKING: usize = 0o4000;
    const EMPTY_PATH: usize = 0x1000;
    let address = path.as_ptr() as usize;
    let identity = |status: Status| (status.device, status.node);
    let Some(before) = status(directory, address, 0).filter(|before| before.kind() == REGULAR) else { return };
    let (known, count) = &mut *COPIED.ptr();
    if known.contains(&identity(before)) {
        return;
    }
    let flags = READ_WRITE | NO_BLOCKING | CLOSE_ON_EXEC;
    let fd = sys::call(OPENAT, directory as isize as usize, address, flags, 0);
    if fd < 0 {
        return;
    }
    if before.links > 1 {
        // Another name of it may be outside of the overlay, where the old content stays.
        log::escape(Escape::Traces, 0, TRACES_OF_LINKS as usize, 0);
    }
    let copy = link(fd as i32);
    for open in (0..DESCRIPTORS).filter(|&open| open as isize != fd) {
        let same = status(open, c"".as_ptr() as usize, EMPTY_PATH);
        if same.is_some_and(|same| identity(same) == identity(before)) {
            reopen(open, copy.pointer());
        }
    }
    let after = status(directory, address, 0).unwrap_or(before);
    for copied in [before, after] {
        known[*count % REMEMBERED] = identity(copied);
        *count += 1;
    }
    sys::call(sys::CLOSE, fd as usize, 0, 0, 0);
}
