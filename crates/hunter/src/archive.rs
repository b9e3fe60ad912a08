//! Tar archives of plain files, as far as bundles need them.

/// Length of a block.
const BLOCK: usize = 512;
/// Largest size that fits the header of a file.
const LARGEST: usize = 0o77_777_777_777;

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// Its name, shorter than 100 bytes.
    pub(crate) name: String,
    /// Its permissions.
    pub(crate) mode: u32,
    /// Its contents.
    pub(crate) bytes: Vec<u8>,
}

/// Returns an archive of these files. Files whose name or size does not fit are left out.
pub(crate) fn write(members: &[Member]) -> Vec<u8> {
    let mut out = Vec::new();
    for member in members.iter().filter(|member| member.name.len() < 100 && member.bytes.len() <= LARGEST) {
        out.extend_from_slice(&header(member));
        out.extend_from_slice(&member.bytes);
        out.resize(out.len().next_multiple_of(BLOCK), 0);
    }
    out.resize(out.len() + 2 * BLOCK, 0);
    out
}

fn header(member: &Member) -> [u8; BLOCK] {
    let mut header = [0; BLOCK];
    let mut put = |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, &member.name);
    put(100, &format!("{:07o}", member.mode & 0o777));
    put(108, "0000000");
    put(116, "0000000");
    put(124, &format!("{:011o}", member.bytes.len()));
    // No time stamp: the same finding makes the same bundle.
    put(136, "00000000000");
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\x0000");
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

/// Returns the plain files of an archive, or nothing if it is damaged.
pub(crate) fn read(mut bytes: &[u8]) -> Option<Vec<Member>> {
    let mut members = Vec::new();
    loop {
        let header = bytes.get(..BLOCK)?;
        if header.iter().all(|&byte| byte == 0) {
            return Some(members);
        }
        let sum: u32 =
            header.iter().enumerate().map(|(at, &byte)| if (148..156).contains(&at) { 32 } else { byte.into() }).sum();
        if number(&header[148..156])? != u64::from(sum) || &header[257..262] != b"ustar" {
            return None;
        }
        let size = usize::try_from(number(&header[124..136])?).ok()?;
        let rest = &bytes[BLOCK..];
        let content = rest.get(..size)?;
        if matches!(header[156], b'0' | 0) {
            let name = header[..100].split(|&byte| byte == 0).next()?;
            let name = std::str::from_utf8(name).ok()?.to_owned();
            let mode = u32::try_from(number(&header[100..108])?).ok()?;
            members.push(Member { name, mode, bytes: content.to_vec() });
        }
        bytes = rest.get(size.checked_next_multiple_of(BLOCK)?..)?;
    }
}

/// Returns an octal number, up to its terminator.
fn number(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field).ok()?.trim_matches([' ', '\0']);
    u64::from_str_radix(text, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members() -> Vec<Member> {
        let member = |name: &str, mode, length: usize| Member { name: name.to_owned(), mode, bytes: vec![7; length] };
        vec![member("bundle.json", 0o644, 0), member("program", 0o755, 512), member("sources/1-a.c", 0o644, 513)]
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(read(&write(&members())), Some(members()));
        assert_eq!(read(&write(&[])), Some(Vec::new()));
    }

    #[test]
    fn what_is_damaged_is_refused() {
        let whole = write(&members());
        assert_eq!(read(&[]), None);
        // Only the second of the two empty blocks at its end may be missing.
        for length in (0..whole.len() - BLOCK).step_by(7) {
            assert_eq!(read(&whole[..length]), None, "{length}");
        }
        for at in [0, 100, 130, 150, 260] {
            let mut other = whole.clone();
            other[at] ^= 1;
            assert_eq!(read(&other), None, "{at}");
        }
    }
}
