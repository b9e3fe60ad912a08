//! Paths of files, and what the file system says about them, without an allocator.

use crate::sys;
pub(super) use racehunter_machine::text::{LONGEST, PathText as Path};

/// Relative paths start at the working directory.
pub(crate) const HERE: i32 = -100;
/// Returns the path of a descriptor, by the link that the kernel shows.
pub(super) unsafe fn of_descriptor(fd: i32) -> Option<Path> {
    const READLINK: usize = 89;
    let link = link(fd);
    let fill = |bytes: &mut [u8; LONGEST]| {
        let length = sys::call(READLINK, link.pointer(), bytes.as_mut_ptr() as usize, LONGEST - 1, 0);
        usize::try_from(length).ok()
    };
    Path::NEW.filled(fill).filter(Path::is_absolute)
}

/// Returns the name under which the kernel shows a descriptor: it refers to the same place, whatever is mounted over
/// that.
pub(super) fn link(fd: i32) -> Path {
    let mut link = Path::of(&[b"/proc/self/fd/"]);
    link.push_number(fd as usize);
    link
}

/// Passes the last part of the name under which a descriptor was opened.
pub(crate) unsafe fn name_of(fd: i32, mut use_name: impl FnMut(&[u8])) {
    if let Some(path) = of_descriptor(fd) {
        let text = path.text();
        use_name(text.rsplit(|&byte| byte == b'/').next().unwrap_or(text));
    }
}

/// A descriptor that only refers to a place.
pub(super) struct Place(pub i32);

impl Place {
    pub unsafe fn open(directory: i32, path: usize) -> Option<Self> {
        const PATH_ONLY: usize = 0o1000_0000;
        let fd = sys::call(OPENAT, directory as isize as usize, path, PATH_ONLY | CLOSE_ON_EXEC, 0);
        (fd >= 0).then_some(Self(fd as i32))
    }

    pub unsafe fn status(&self) -> Status {
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

pub(crate) const OPENAT: usize = 257;
pub(super) const CLOSE_ON_EXEC: usize = 0o200_0000;
pub(super) const REGULAR: u32 = 0o100_000;
pub(super) const DIRECTORY: u32 = 0o040_000;
const LINK: u32 = 0o120_000;

/// What the file system says about a file.
#[derive(Clone, Copy, Default)]
pub(crate) struct Status {
    pub device: u64,
    pub node: u64,
    pub links: u64,
    pub mode: u32,
    pub owner: u32,
    pub group: u32,
}

impl Status {
    pub(crate) const fn kind(&self) -> u32 {
        self.mode & 0o170_000
    }

    pub(crate) const fn is_link(&self) -> bool {
        self.kind() == LINK
    }
}

/// Returns the status of a path; `flags` are those of `fstatat`.
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

/// Returns the working directory, where relative paths start.
pub(super) unsafe fn working_directory() -> Option<Path> {
    const GETCWD: usize = 79;
    // The length includes the zero.
    let fill = |bytes: &mut [u8; LONGEST]| {
        let length = sys::call(GETCWD, bytes.as_mut_ptr() as usize, LONGEST, 0, 0);
        usize::try_from(length).ok()?.checked_sub(1)
    };
    Path::NEW.filled(fill).filter(Path::is_absolute)
}
