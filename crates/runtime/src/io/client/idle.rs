//! Detects whether a process and its descendants are waiting, from what the kernel shows about them.

use crate::sys;

const OPEN: usize = 2;
const GETDENTS64: usize = 217;

/// Returns whether no thread of a process or of its descendants runs. `None` if that cannot be seen.
pub(super) unsafe fn is_idle(pid: u32) -> Option<bool> {
    /// A client with more processes is busy.
    const DEPTH: u32 = 8;
    is_idle_below(pid, DEPTH)
}

unsafe fn is_idle_below(pid: u32, depth: u32) -> Option<bool> {
    if depth == 0 {
        return Some(false);
    }
    let mut names = [0_u8; 4096];
    let listed = read_directory(&Path::new().text("/proc/").number(pid).text("/task"), &mut names)?;
    let mut at = 0;
    while at < listed {
        // `struct linux_dirent64`: its length is at 16, the name at 19.
        let length = usize::from(u16::from_le_bytes([names[at + 16], names[at + 17]]));
        let name = names.get(at + 19..at + length).unwrap_or_default();
        at += length.max(1);
        let Some((thread, _)) = number(name) else { continue };
        let of = || Path::new().text("/proc/").number(pid).text("/task/").number(thread);
        let mut text = [0_u8; 512];
        // It has ended.
        let Some(length) = read(&of().text("/stat"), &mut text) else { continue };
        // The name of the program, in parentheses, may contain any character.
        let end = text[..length].iter().rposition(|&letter| letter == b')')?;
        if matches!(text.get(end + 2), Some(b'R' | b'D')) {
            return Some(false);
        }
        let Some(length) = read(&of().text("/children"), &mut text) else { continue };
        let mut rest = &text[..length];
        while let Some((child, used)) = number(rest) {
            if is_idle_below(child, depth - 1) == Some(false) {
                return Some(false);
            }
            rest = rest.get(used + 1..).unwrap_or_default();
        }
    }
    Some(true)
}

/// Parses the decimal number at the start of a text. Returns it and its length.
fn number(text: &[u8]) -> Option<(u32, usize)> {
    let digits = text.iter().take_while(|letter| letter.is_ascii_digit()).count();
    let value =
        text[..digits].iter().fold(0_u32, |value, digit| value.wrapping_mul(10).wrapping_add(u32::from(digit - b'0')));
    (digits > 0).then_some((value, digits))
}

/// A zero-terminated path.
struct Path {
    bytes: [u8; 64],
    length: usize,
}

impl Path {
    const fn new() -> Self {
        Self { bytes: [0; 64], length: 0 }
    }

    fn text(mut self, text: &str) -> Self {
        for &letter in text.as_bytes() {
            if self.length + 1 < self.bytes.len() {
                self.bytes[self.length] = letter;
                self.length += 1;
            }
        }
        self
    }

    fn number(self, number: u32) -> Self {
        let digits = number.checked_ilog10().unwrap_or(0);
        let digit = |place: u32| b'0' + (number / 10_u32.pow(place) % 10) as u8;
        (0..=digits)
            .rev()
            .fold(self, |path, place| path.text(core::str::from_utf8(&[digit(place)]).unwrap_or_default()))
    }
}

unsafe fn read(path: &Path, into: &mut [u8]) -> Option<usize> {
    with(path, |fd| sys::call(sys::READ, fd, into.as_mut_ptr() as usize, into.len(), 0))
}

/// Reads the entries of a directory, as many as fit.
unsafe fn read_directory(path: &Path, into: &mut [u8]) -> Option<usize> {
    with(path, |fd| sys::call(GETDENTS64, fd, into.as_mut_ptr() as usize, into.len(), 0))
}

unsafe fn with(path: &Path, call: impl FnOnce(usize) -> isize) -> Option<usize> {
    let fd = sys::call(OPEN, path.bytes.as_ptr() as usize, 0, 0, 0);
    if fd < 0 {
        return None;
    }
    let length = call(fd as usize);
    sys::call(sys::CLOSE, fd as usize, 0, 0, 0);
    usize::try_from(length).ok()
}
