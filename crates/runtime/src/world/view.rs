//! A private view of the files that an execution changes.
//!
//! What one execution leaves in a directory must not reach the next one, nor a parallel one: a lock file left behind by an
//! aborted execution would make all others fail. Before an execution changes anything in a directory for the first time, an
//! overlay therefore covers the directory, in a mount namespace of the process. The existing files are seen through it, changes
//! go to memory, and everything disappears with the process.
//!
//! An execution that is about to change files in a directory restarts, with the directory covered from its [start](early). If it
//! cannot, the files that it has opened there are opened again, through the overlay. From then on the kernel itself redirects
//! descriptors to the copy of a file when it is changed for the first time.
//!
//! With free-running threads, in an in-process loop, and if the kernel refuses namespaces, the real files are changed; callers
//! learn that by [`Cover::Refused`].

use super::namespace::{self, MOUNT, Namespace, raise_privileges};
use super::paths::{
    CLOSE_ON_EXEC, DIRECTORY, HERE, LONGEST, OPENAT, Path, Place, REGULAR, Status, link, status, working_directory,
};
use super::{early, ipc, network, paths};
use crate::{Global, free, kernel, log, schedule, server, sys};
use core::ffi::CStr;
use racehunter_abi::control::NOTE_FILES;
use racehunter_abi::{Escape, TRACES_OF_LINKS};

/// Whether the coming change is private to the execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cover {
    /// It is, now or since an earlier call.
    Private,
    /// It is not a file: a device, a pipe, an entry of `/proc`.
    NotAFile,
    /// It cannot be made private.
    Refused,
}

/// Maximum number of covered directories; a program that changes files in more of them is refused.
pub(super) const DIRECTORIES: usize = 16;
/// Number of descriptors that are checked when something is covered.
const DESCRIPTORS: i32 = 256;

struct View {
    covered: [Path; DIRECTORIES],
    /// The directories below the overlays.
    below: [i32; DIRECTORIES],
    count: usize,
    namespace: Namespace,
}

static VIEW: Global<View> = Global::new(View {
    covered: [Path::NEW; DIRECTORIES],
    below: [-1; DIRECTORIES],
    count: 0,
    namespace: Namespace::Common,
});

/// Covers files at the start of an execution of a program that has kernel threads, or changes files. With kernel threads it could
/// not leave the namespaces later, and what it had learnt about files by then would not apply to their copies.
pub(crate) unsafe fn begin_early(changes_files: bool) {
    let wants_network = early::has_network() && !server::shares_network();
    if server::shares_files() && !wants_network {
        return;
    }
    (*VIEW.ptr()).namespace = namespace::leave();
    if let Namespace::Own { user } = (*VIEW.ptr()).namespace {
        raise_privileges(user, true);
        if wants_network {
            network::begin_early();
        }
        if early::has_ipc() {
            ipc::begin_early();
        }
        raise_privileges(user, false);
    }
    if server::shares_files() {
        return;
    }
    let whole = working_directory().filter(|whole| whole.text() != b"/" && !has_mounts_below(whole));
    if let Some(whole) = whole.filter(|_| changes_files) {
        cover_now(&whole);
    }
    for directory in early::directories() {
        if !is_covered(directory) {
            cover_now(directory);
        }
    }
}

/// Returns whether this execution has changed files in its own view of them.
pub(crate) unsafe fn is_active() -> bool {
    (*VIEW.ptr()).count > 0
}

/// Called when the calling thread is about to create, remove, rename or write the file or directory at a path.
pub(crate) unsafe fn cover(directory: i32, path: &CStr) -> Cover {
    if !schedule::running() || !server::has_controller() {
        return Cover::Refused;
    }
    if leads_to_covered(directory, path) {
        return Cover::Refused;
    }
    let covered = directory_of(directory, path).map_or(Cover::NotAFile, |parent| cover_all(&parent));
    if covered == Cover::Private {
        look_at_names(directory, path);
    }
    covered
}

/// Called when the calling thread is about to change what a descriptor refers to.
pub(crate) unsafe fn cover_descriptor(fd: i32) -> Cover {
    if !schedule::running() || !server::has_controller() {
        return Cover::Refused;
    }
    paths::of_descriptor(fd).and_then(|path| path.parent()).map_or(Cover::NotAFile, |parent| cover_all(&parent))
}

/// Called when something is about to happen in a directory, to unknown files.
pub(crate) unsafe fn cover_below(directory: &CStr) -> Cover {
    if !schedule::running() || !server::has_controller() {
        return Cover::Refused;
    }
    let path = Place::open(HERE, directory.as_ptr() as usize).and_then(|place| paths::of_descriptor(place.0));
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

/// Returns the directory to cover: the whole working directory if it contains the directory, since files cannot be renamed from
/// one overlay to another.
unsafe fn around(directory: &Path) -> Path {
    match working_directory() {
        Some(whole) if directory.is_in(whole.text()) && whole.text() != b"/" && !has_mounts_below(&whole) => whole,
        _ => *directory,
    }
}

/// Returns whether something else is mounted below a directory, which an overlay would hide, or whether that is unknown.
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

/// Returns whether one overlay covers both paths, so that one can be renamed to the other.
pub(crate) unsafe fn are_together(directory: i32, path: &CStr, other: &CStr) -> bool {
    let view = &*VIEW.ptr();
    let deepest = |directory: i32, path: &CStr| {
        let parent = directory_of(directory, path)?;
        let known = view.covered[..view.count].iter().enumerate().filter(|(_, known)| parent.is_in(known.text()));
        known.max_by_key(|(_, known)| known.text().len()).map(|(index, _)| index)
    };
    deepest(directory, path) == deepest(HERE, other)
}

unsafe fn is_covered(parent: &Path) -> bool {
    let view = &*VIEW.ptr();
    view.covered[..view.count].iter().any(|known| parent.is_in(known.text()))
}

/// Returns whether the file at a path is private to the execution.
pub(crate) unsafe fn has(directory: i32, path: usize) -> bool {
    let parent = Place::open(directory, path).and_then(|place| paths::of_descriptor(place.0)?.parent());
    parent.is_some_and(|parent| is_covered(&parent))
}

/// Returns whether a path refers to a directory that is itself covered: the kernel neither removes nor renames one.
unsafe fn leads_to_covered(directory: i32, path: &CStr) -> bool {
    let view = &*VIEW.ptr();
    let covered = &view.covered[..view.count];
    // Most executions change nothing, or only files in one directory.
    !covered.is_empty()
        && Place::open(directory, path.as_ptr() as usize)
            .filter(|place| place.status().kind() == DIRECTORY)
            .and_then(|place| paths::of_descriptor(place.0))
            .is_some_and(|path| covered.iter().any(|known| known.text() == path.text()))
}

/// Covers a directory in the middle of an execution. What the execution knows about its files, including the locks that it holds
/// on them, would not apply to their copies, so it restarts, and covers the directory at its start.
unsafe fn cover_directory(parent: &Path) -> bool {
    if !free::is_on() && early::remember(parent) {
        server::begin_earlier();
    }
    cover_now(parent)
}

unsafe fn cover_now(parent: &Path) -> bool {
    let view = VIEW.ptr();
    if free::is_on() || server::runs_loops() || parent.text() == b"/" || has_mounts_below(parent) {
        return false;
    }
    if (*view).namespace == Namespace::Common && !kernel::in_use() {
        (*view).namespace = namespace::leave();
    }
    let Namespace::Own { user } = (*view).namespace else { return false };
    if (*view).count == DIRECTORIES {
        return false;
    }
    let below = Place::open(HERE, parent.pointer()).map_or(-1, |place| out_of_the_way(place.0));
    raise_privileges(user, true);
    let is_mounted = mount_over(parent, user);
    raise_privileges(user, false);
    if is_mounted {
        (*view).below[(*view).count] = below;
        (*view).covered[(*view).count] = *parent;
        (*view).count += 1;
        log::note(NOTE_FILES);
        reopen_below(parent);
    }
    is_mounted
}

/// Returns the directory that contains the entry of a path. `None` for anything that is neither a file nor a directory.
unsafe fn directory_of(directory: i32, path: &CStr) -> Option<Path> {
    if let Some(existing) = Place::open(directory, path.as_ptr() as usize) {
        if !matches!(existing.status().kind(), REGULAR | DIRECTORY) {
            return None;
        }
        return paths::of_descriptor(existing.0)?.parent();
    }
    // The file does not exist yet, but its directory does.
    let bytes = path.to_bytes();
    let end = bytes.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
    let parent = match bytes[..end].iter().rposition(|&byte| byte == b'/') {
        Some(0) => Path::of(&[b"/"]),
        Some(slash) if slash < LONGEST - 1 => Path::of(&[&bytes[..slash]]),
        Some(_) => return None,
        None => Path::of(&[b"."]),
    };
    paths::of_descriptor(Place::open(directory, parent.pointer())?.0)
}

/// Covers a directory by an overlay whose changes are kept in memory.
unsafe fn mount_over(directory: &Path, user: bool) -> bool {
    const CHDIR: usize = 80;
    const UMOUNT: usize = 166;
    const DETACH: usize = 2;
    let here = working_directory().unwrap_or(Path::NEW);
    // The memory is mounted over the directory first, so that no other place is needed for it; the covered directory is reached
    // by its descriptor.
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
        // As close to one file system as possible: existing directories can be renamed, files keep their numbers and
        // links.
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

/// Already covered directories below one that is about to be covered. An overlay shows its directory without mounts, so these
/// would be hidden, with everything that the execution has changed in them: they are moved into it.
struct Inner([Option<Place>; DIRECTORIES]);

impl Inner {
    unsafe fn of(directory: &Path) -> Self {
        let view = &*VIEW.ptr();
        let covered = &view.covered[..view.count];
        let mut places = [const { None }; DIRECTORIES];
        for (place, known) in places.iter_mut().zip(covered) {
            let is_below = |other: &Path| other.text().len() < known.text().len() && known.is_in(other.text());
            // Directories further down move with the one that contains them.
            if is_below(directory) && !covered.iter().any(|other| is_below(other) && other.is_in(directory.text())) {
                *place = Place::open(HERE, known.pointer());
            }
        }
        Self(places)
    }

    /// Moves them. Returns whether all of them are at their paths again.
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

/// Creates a directory for the overlay, with the mode and the owner of the one that it covers, because the program sees them.
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

/// Opens files again, through the overlay, that were opened in a directory before it was covered.
unsafe fn reopen_below(directory: &Path) {
    for fd in 0..DESCRIPTORS {
        if is_open(fd)
            && let Some(path) = paths::of_descriptor(fd)
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

/// Makes a descriptor refer to the file at a path now, at the same position.
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

/// Copies a descriptor to a number that the program does not see.
pub(super) unsafe fn out_of_the_way(fd: i32) -> i32 {
    const COPY_CLOSE_ON_EXEC: usize = 1030;
    let copy = |least: usize| sys::call(sys::FCNTL, fd as usize, COPY_CLOSE_ON_EXEC, least, 0);
    [900, 200].into_iter().map(copy).find(|&copy| copy >= 0).map_or(-1, |copy| copy as i32)
}

/// Checks a file that is about to be changed. If it existed before and has several names, some may be outside the overlay, where
/// the old content stays.
unsafe fn look_at_names(directory: i32, path: &CStr) {
    static IS_TOLD: Global<bool> = Global::new(false);
    let Some(place) = Place::open(directory, path.as_ptr() as usize) else { return };
    let Some(full) = paths::of_descriptor(place.0) else { return };
    let view = &*VIEW.ptr();
    let known = (view.covered[..view.count].iter().zip(&view.below)).filter(|(known, _)| full.is_in(known.text()));
    let Some((whole, &below)) = known.max_by_key(|(known, _)| known.text().len()) else { return };
    let Some(rest) = full.text().get(whole.text().len() + 1..) else { return };
    let file = status(below, Path::of(&[rest]).pointer(), 0).filter(|file| file.kind() == REGULAR);
    if file.is_some_and(|file| file.links > 1) && !IS_TOLD.get() {
        IS_TOLD.set(true);
        log::escape(Escape::Traces, 0, TRACES_OF_LINKS as usize, 0);
    }
}
