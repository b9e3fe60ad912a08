//! Which call touches which file.
//!
//! The contents of files are state like memory: each file, each name and each position in an open file has a
//! [cell](super::cells), and the schedule orders calls that touch the same one. A claim needs more than that, because
//! executions must begin with the same files: changes are private to the execution ([`view`]). If that is refused, or
//! if a file cannot be distinguished from another one, everything that the program both reads and changes is
//! reported.

use super::cells::{self, TREE};
use super::copies;
use super::paths::{self, HERE};
use super::view::{self, Cover};
use crate::io::{self, channels};
use crate::reach::VARIES;
use crate::thread::COUNT;
use crate::{Global, constructors, escapes, log, schedule, server, sys};
use core::ffi::{CStr, c_char};
use racehunter_abi::{Escape, TRACES_OF_LINKS, Touched};
use racehunter_machine::file::{CallPlace, FileId, FileUse, FirstNames, UsedFiles, is_varying, name_hash};
use racehunter_machine::text::last_part;
use racehunter_sight::Effect;

/// Where something was done.
type Place = CallPlace;

const FILES: usize = 32;

static LOOKED_AT: Global<UsedFiles<FILES>> = Global::new(UsedFiles::NONE);
static CHANGED: Global<UsedFiles<FILES>> = Global::new(UsedFiles::NONE);
/// Whether something was changed that is not private to the execution: another one may see it.
#[unsafe(link_section = ".data.racehunter")]
static LEAVES_TRACES: Global<bool> = Global::new(false);

/// Whether it was reported that executions leave files to each other.
#[unsafe(link_section = ".data.racehunter")]
static IS_TOLD: Global<bool> = Global::new(false);

/// Files that were seen.
static NAMES: Global<FirstNames<512>> = Global::new(FirstNames::NONE);

/// Returns the name under which a file was first seen: this one, if it is new. `None` if there are too many.
unsafe fn first_name(node: u64, name: u64) -> Option<u64> {
    (*NAMES.ptr()).first(node, name)
}

/// Returns when a file was last changed in this execution, if seen calls changed it.
pub(super) unsafe fn changed_at(node: u64) -> Option<u64> {
    cells::changed_at(cells::of((*NAMES.ptr()).find(node)?))
}

/// Descriptors that are remembered.
const DESCRIPTORS: usize = 1024;

/// What an open descriptor refers to: cells of the file and of its position. 0: unknown.
#[derive(Clone, Copy)]
struct Open {
    node: u64,
    file: u16,
    position: u16,
}

impl Open {
    const UNKNOWN: Self = Self { node: 0, file: 0, position: 0 };
}

static OPEN: Global<[Open; DESCRIPTORS]> = Global::new([Open::UNKNOWN; DESCRIPTORS]);

unsafe fn entry(fd: i32) -> Option<&'static mut Open> {
    usize::try_from(fd).ok().and_then(|fd| (&mut *OPEN.ptr()).get_mut(fd))
}

/// Forgets a descriptor that was closed, or refers to something else now.
pub(crate) unsafe fn forget(fd: i32) {
    if let Some(open) = entry(fd) {
        *open = Open::UNKNOWN;
    }
}

/// Notes that two descriptors share one position.
pub(crate) unsafe fn share([from, to]: [i32; 2]) {
    let known = node_of(from).map(|node| opened(from, node));
    if let (Some(known), Some(open)) = (known, entry(to)) {
        *open = known;
    }
}

/// In place of the name of a file without one.
const NAMELESS: u64 = 1;

unsafe fn opened(fd: i32, node: u64) -> Open {
    if let Some(open) = entry(fd)
        && open.node == node
    {
        return *open;
    }
    let mut name = 0;
    paths::name_of(fd, |text| name = if text.ends_with(b" (deleted)") { NAMELESS } else { name_hash(text) });
    let file = cells::of(first_name(node, name).unwrap_or(name));
    let open = Open { node, file, position: cells::of(name_hash(&fd.to_le_bytes()) ^ name.rotate_left(17)) };
    if let Some(known) = entry(fd) {
        *known = open;
    }
    open
}

/// A call of a file function that is about to happen, and its place.
pub(crate) struct Call<'a> {
    pub effect: Effect,
    pub name: &'a [u8],
    /// The file, and the other relevant argument: flags, a mode, another path.
    pub arguments: [usize; 2],
    pub place: Place,
}

impl Call<'_> {
    fn is_named(&self, names: &[&str]) -> bool {
        names.iter().any(|name| name.as_bytes() == self.name)
    }

    /// Returns whether the file is given by its path, and not by a descriptor or a stream.
    fn has_path(&self) -> bool {
        match self.effect {
            Effect::FileChange | Effect::FilePosition => false,
            Effect::FileOpen | Effect::FileOpenMode | Effect::FileTemporary => true,
            _ => is_stream(self.arguments[0]),
        }
    }

    /// Returns whether it changes more names than that of one file: then it concerns everything that has a path. Listing a
    /// directory reads all of its names, which amounts to the same.
    fn concerns_tree(&self) -> bool {
        self.is_named(&[
            "mkdir",
            "mkdirat",
            "rmdir",
            "remove",
            "unlinkat",
            "rename",
            "renameat",
            "renameat2",
            "link",
            "linkat",
            "symlink",
            "symlinkat",
            "mkdtemp",
            "opendir",
            "fdopendir",
            "scandir",
        ])
    }

    /// Returns whether it reads the names in a directory.
    fn lists_names(&self) -> bool {
        self.is_named(&["opendir", "fdopendir", "scandir"])
    }

    /// Returns whether a second path is among its arguments.
    fn has_second_path(&self) -> bool {
        self.is_named(&["rename", "link", "renameat", "renameat2", "linkat"]) && self.arguments[1] != 0
    }

    /// Returns whether its result includes times. Those of a changed directory vary from execution to execution.
    fn tells_times(&self) -> bool {
        let name = self.name.strip_prefix(b"__").unwrap_or(self.name);
        let name = name.strip_prefix(b"f").or(name.strip_prefix(b"l")).unwrap_or(name);
        name.starts_with(b"stat") || name.starts_with(b"xstat")
    }

    /// Returns whether it changes some of the times of a file, and not others.
    fn changes_times(&self) -> bool {
        let name = self.name.strip_prefix(b"f").or(self.name.strip_prefix(b"l")).unwrap_or(self.name);
        [&b"chmod"[..], b"chown", b"ut", b"link", b"rename"].iter().any(|beginning| name.starts_with(beginning))
            || self.is_named(&["link", "linkat"])
    }

    /// Returns whether it flushes the buffer of a stream.
    fn flushes(&self) -> bool {
        self.is_named(&["fclose", "fflush", "fflush_unlocked", "fseek", "fseeko", "rewind", "fsetpos"])
    }

    /// Returns whether it takes a position, or needs none.
    fn has_offset(&self) -> bool {
        self.effect == Effect::FileLook
            || self.is_named(&["pwrite", "pwritev", "ftruncate", "fchmod", "fchown", "futimens"])
    }

    /// Returns whether relative paths start at a directory that is one of its arguments.
    fn starts_elsewhere(&self) -> bool {
        let name = self.name.strip_suffix(b"64").unwrap_or(self.name);
        let name = name.strip_suffix(b"2").unwrap_or(name);
        self.is_named(&["statx", "__openat_2", "__openat64_2"])
            || name.ends_with(b"at") && !self.is_named(&["stat", "lstat", "creat", "__xstat", "__lxstat"])
    }
}

/// Handles a call of a file function that is about to happen.
pub(crate) unsafe fn used(call: &Call) {
    if matches!(call.effect, Effect::FileOpenMode | Effect::FileTemporary) || call.is_named(&["fclose"]) {
        escapes::renumbered();
    }
    let is_refused = call.has_path() && io::is_in_first_page(call.arguments[0]);
    if is_refused {
        return;
    }
    if call.has_path() { used_path(call) } else { used_descriptor(call) }
}

/// Handles a path that is about to be changed by a call that is not announced. Relative paths start at the working
/// directory.
pub(crate) unsafe fn changes(path: *const c_char) {
    changes_at(HERE, path);
}

/// The same for a path that starts at a directory.
pub(crate) unsafe fn changes_at(directory: i32, path: *const c_char) {
    if view::cover(directory, CStr::from_ptr(path)) == Cover::Refused {
        LEAVES_TRACES.set(true);
    }
}

/// A file is mapped.
pub(crate) unsafe fn mapped(fd: i32) {
    if let Some(node) = node_of(fd) {
        cells::map(opened(fd, node).file);
    }
}

/// Handles a descriptor that is about to become standard input, output or error. Those are not checked, so it must not be
/// a file that the program uses in other ways.
pub(crate) unsafe fn becomes_standard(from: i32, to: i32, code: usize) {
    const DUP2: usize = 33;
    if (0..3).contains(&to) && node_of(from).is_some() && schedule::running() {
        log::escape(Escape::SystemCall, code, DUP2, 0);
    }
}

/// Prepares for another process, which may change files where programs usually do.
pub(crate) unsafe fn before_child() {
    for directory in [c".", c"/tmp"] {
        if view::cover_below(directory) == Cover::Refused {
            LEAVES_TRACES.set(true);
        }
    }
}

/// Announces that state of a descriptor, other than the contents of a file, is about to be read or changed.
pub(crate) unsafe fn touch_descriptor(fd: i32, changes: bool, code: usize) {
    const IDENTITY: u64 = 0x0fd0_0002;
    let mut touched = Touched::default();
    touched.add(number_cell(fd), changes);
    // Copies of the descriptor refer to the same file.
    touched.add(cells::of(channels::key(&[IDENTITY, channels::identity(fd)])), changes);
    if let Some(node) = node_of(fd).filter(|_| !matches!(fd, 0..=2)) {
        touched.add(opened(fd, node).file, changes);
    }
    cells::touch_apart(touched, code);
}

/// Announces that a thread looks up which file has this descriptor number, or gives the number to another file.
pub(crate) unsafe fn touch_number(fd: i32, changes: bool, code: usize) {
    let mut touched = Touched::default();
    touched.add(number_cell(fd), changes);
    cells::touch_apart(touched, code);
}

/// Announces a lookup of a descriptor without other visible effects. That is a point even if the number was not given to
/// another file so far: in another schedule it was.
pub(crate) unsafe fn looked_up(fd: i32, code: usize) {
    if COUNT.get() > 1 && schedule::running() {
        touch_number(fd, false, code);
    }
}

fn number_cell(fd: i32) -> u16 {
    const NUMBER: u64 = 0x0fd0_0001;
    cells::of(channels::key(&[NUMBER, fd as u64]))
}

unsafe fn used_path(call: &Call) {
    const DO_NOT_FOLLOW: usize = 0x100;
    const CHARACTERS: u32 = 0o020_000;
    const FIFO: u32 = 0o010_000;
    let [address, second] = call.arguments;
    let (path, usage) = (CStr::from_ptr(address as *const c_char), use_of(call.effect, second));
    let bytes = path.to_bytes();
    if is_varying(bytes) {
        copies::ask();
        return tell((call.place.0, call.place.1 | VARIES));
    }
    if call.is_named(&["freopen"]) || bytes.is_empty() {
        // A stream refers to something else, which may be a standard one; or the path is that of a descriptor.
        (*OPEN.ptr()).fill(Open::UNKNOWN);
        tell(call.place);
    }
    let directory = (bytes.starts_with(b"/") || !call.starts_elsewhere()).then_some(HERE);
    let status = || directory.and_then(|directory| paths::status(directory, address, DO_NOT_FOLLOW));
    if status().is_some_and(|status| matches!(status.kind(), CHARACTERS | FIFO)) && usage.looks != usage.changes {
        return;
    }
    if usage.changes {
        constructors::before_main();
    }
    if usage.changes && !cover(call, directory, path) {
        LEAVES_TRACES.set(true);
    }
    let mut found = status();
    let is_link = found.is_some_and(|found| found.is_link());
    if is_link {
        found = paths::status(HERE, address, 0);
    }
    let (name, node) =
        (name_hash(last_part(bytes)), found.map_or(0, |found| channels::key(&[found.device, found.node])));
    let known = first_name(node, name);
    let mut touched = Touched::default();
    touched.add(TREE, call.concerns_tree());
    touched.add(cells::of(name), usage.changes);
    touched.add(cells::of(known.unwrap_or(name)), usage.changes);
    if call.has_second_path() {
        // The name that a file gets.
        touched.add(cells::of(name_hash(last_part(CStr::from_ptr(second as *const c_char).to_bytes()))), true);
    }
    let is_directory = found.is_some_and(|found| found.kind() == paths::DIRECTORY);
    let is_changed = |(cell, _)| cell != TREE && cells::is_changed(cell);
    let has_times = touched.parts().any(|(cell, _)| cells::has_times(cell));
    let varies = call.tells_times() && (is_directory && touched.parts().any(is_changed) || has_times);
    if call.changes_times() {
        touched.parts().filter(|&(_, changes)| changes).for_each(|(cell, _)| cells::give_times(cell));
    }
    let changes_memory = touched.parts().any(|(cell, changes)| changes && cells::is_mapped(cell));
    // The target of a link has another name.
    let is_elsewhere = is_link && (usage.changes || found.is_none());
    // Others must not have the name, which is why it differs each time.
    let varies = varies || call.effect == Effect::FileTemporary && LEAVES_TRACES.get();
    note(FileId { name, node }, usage, call.place);
    if varies || is_elsewhere || changes_memory || known.is_none() {
        tell(call.place);
    }
    cells::touch(touched, call.place.0);
    if call.lists_names() {
        cells::learn(TREE);
    }
}

/// Makes what a call changes private. Returns whether it is.
unsafe fn cover(call: &Call, directory: Option<i32>, path: &CStr) -> bool {
    let is_private = |cover: Cover| cover != Cover::Refused;
    if call.is_named(&["shm_open", "shm_unlink"]) {
        return is_private(view::cover_below(c"/dev/shm"));
    }
    let Some(directory) = directory else { return false };
    let other = call.is_named(&["rename", "link"]).then(|| CStr::from_ptr(call.arguments[1] as *const c_char));
    let are_private =
        is_private(view::cover(directory, path)) && other.is_none_or(|other| is_private(view::cover(HERE, other)));
    if are_private && other.is_some_and(|other| !view::are_together(directory, path, other)) {
        // The call fails here as it does between file systems.
        log::escape(Escape::Traces, 0, TRACES_OF_LINKS as usize, 0);
    }
    are_private
}

unsafe fn used_descriptor(call: &Call) {
    let [file, mode] = call.arguments;
    if file == 0 && call.flushes() {
        // All streams that there are.
        let changed = &*CHANGED.ptr();
        if !changed.is_empty() {
            tell(call.place);
        }
        return;
    }
    let fd = descriptor(file);
    if COUNT.get() > 1 && channels::is_contested(fd) && node_of(fd).is_some() {
        touch_number(fd, false, call.place.0);
    }
    let is_close = call.is_named(&["fclose"]);
    let usage = if is_close { FileUse::default() } else { use_of(call.effect, mode) };
    let mut touched = Touched::default();
    let copies = call.is_named(&["sendfile", "copy_file_range", "splice"]);
    if copies && let Some(node) = node_of(mode as i32) {
        // The copied data comes from another file.
        let from = opened(mode as i32, node);
        touched.add(from.file, false);
        touched.add(from.position, true);
        note(FileId { name: 0, node }, FileUse { looks: true, changes: false }, call.place);
    }
    // The program does not read back what it writes to standard output and standard error.
    let is_output = matches!(fd, 1 | 2) && (!usage.looks || copies);
    let Some(node) = node_of(fd).filter(|_| !is_output && channels::of(fd).is_none()) else {
        if is_output && server::checks_output() {
            touched.add(cells::OUTPUT, true);
        }
        if is_stream(file) && !is_output {
            // The state of the stream itself: its position, the end of the file, errors.
            touched.add(cells::of(name_hash(&file.to_le_bytes())), !call.is_named(&["feof", "ferror"]));
        }
        if !is_output {
            looked_up(fd, call.place.0);
        }
        cells::touch(touched, call.place.0);
        return;
    };
    let open = opened(fd, node);
    touched.add(open.file, usage.changes || call.flushes());
    if !call.has_offset() {
        touched.add(open.position, true);
    }
    let is_hidden = usage.changes && cells::is_mapped(open.file) || call.tells_times() && cells::has_times(open.file);
    if call.changes_times() {
        cells::give_times(open.file);
    }
    // A file is covered when it is opened for writing. These calls change it through any descriptor.
    let is_open_for_it = !call.changes_times() && !call.is_named(&["fsetxattr", "fremovexattr"]);
    if usage.changes && !is_open_for_it && view::cover_descriptor(fd) == Cover::Refused {
        LEAVES_TRACES.set(true);
    }
    note(FileId { name: 0, node }, usage, call.place);
    if is_hidden {
        tell(call.place);
    }
    if call.effect == Effect::FileChange && !copies && !call.flushes() {
        cells::touch_blindly(touched, call.place.0);
    } else {
        cells::touch(touched, call.place.0);
    }
    if is_close {
        forget(fd);
    }
}

unsafe fn use_of(effect: Effect, mode: usize) -> FileUse {
    match effect {
        Effect::FileLook | Effect::FilePosition => FileUse { looks: true, ..FileUse::default() },
        Effect::FileChange => FileUse { changes: true, ..FileUse::default() },
        Effect::FileOpen => FileUse::of_flags(mode),
        Effect::FileOpenMode => FileUse::of_mode(CStr::from_ptr(mode as *const c_char).to_bytes()),
        _ => FileUse { looks: true, changes: true },
    }
}

/// Returns the descriptor of a stream, or the descriptor itself.
unsafe fn descriptor(file: usize) -> i32 {
    /// Its offset in the C library's `FILE`, which is compiled into programs.
    const IN_STREAM: usize = 112;
    if is_stream(file) { *((file + IN_STREAM) as *const i32) } else { file as i32 }
}

/// Returns whether a file is given by its stream, and not by its descriptor.
const fn is_stream(file: usize) -> bool {
    file >= DESCRIPTORS * 16
}

/// Returns the file system's identity of a descriptor's file, if it is one.
unsafe fn node_of(fd: i32) -> Option<u64> {
    const FSTAT: usize = 5;
    const KIND: u32 = 0o170_000;
    const REGULAR: u32 = 0o100_000;
    const DIRECTORY: u32 = 0o040_000;
    let mut status = [0_u64; 18];
    let is_there = sys::call(FSTAT, fd as usize, status.as_mut_ptr() as usize, 0, 0) == 0;
    let is_file = is_there && matches!(status[3] as u32 & KIND, REGULAR | DIRECTORY);
    is_file.then(|| channels::key(&[status[0], status[1]]))
}

/// Notes what is done to a file. If executions leave traces, reading and changing the same file is reported.
unsafe fn note(file: FileId, usage: FileUse, place: Place) {
    let (looked_at, changed) = (&mut *LOOKED_AT.ptr(), &mut *CHANGED.ptr());
    if usage.looks {
        looked_at.add(file, place);
    }
    if usage.changes {
        changed.add(file, place);
    }
    if !LEAVES_TRACES.get() || !usage.looks && !usage.changes {
        return;
    }
    let (earlier_look, earlier_change) = (looked_at.find(file), changed.find(file));
    let (Some(look), Some(change)) = (earlier_look, earlier_change) else { return };
    if !server::shares_files() && !IS_TOLD.get() {
        IS_TOLD.set(true);
        log::escape(Escape::Traces, 0, 0, 0);
    }
    if look != place {
        tell(look);
    }
    if change != place {
        tell(change);
    }
    tell(place);
}

/// Maximum number of places remembered as reported. Each is reported once while it is remembered.
const PLACES: usize = 64;
static TOLD: Global<[Place; PLACES]> = Global::new([(0, 0); PLACES]);

unsafe fn tell(place: Place) {
    let known = &mut (*TOLD.ptr())[place.0 >> 2 & (PLACES - 1)];
    if *known != place {
        *known = place;
        log::escape(Escape::Unseen, place.0, place.1, 0);
    }
}
