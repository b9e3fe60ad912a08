//! When and where a page is written, and which commit of the project it describes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Returns names and values, as far as they are known. `here` is the working directory.
#[must_use]
pub fn about(written: SystemTime, here: Option<&Path>) -> Vec<(String, String)> {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").ok().map(|name| name.trim().to_owned());
    let all = [
        (
            "Written",
            Some(humantime::format_rfc3339_seconds(written).to_string().replace('T', " ").replace('Z', " UTC")),
        ),
        ("on", host.filter(|name| !name.is_empty())),
        ("commit", here.and_then(commit)),
        ("in", here.map(|here| here.display().to_string())),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Returns the commit that is checked out here, read from git's own files: starting git would run what the project
/// configures.
fn commit(here: &Path) -> Option<String> {
    let git = here.ancestors().map(|directory| directory.join(".git")).find(|git| git.exists())?;
    let git = match fs::read_to_string(&git) {
        // A worktree: the file says where its directory is.
        Ok(text) => git.parent()?.join(text.strip_prefix("gitdir: ")?.trim()),
        Err(_) => git,
    };
    let head = fs::read_to_string(git.join("HEAD")).ok()?;
    let Some(name) = head.trim().strip_prefix("ref: ") else { return short(&head) };
    let common = fs::read_to_string(git.join("commondir")).map_or_else(|_| PathBuf::new(), |text| text.trim().into());
    let common = git.join(common);
    if let Ok(hash) = fs::read_to_string(common.join(name)) {
        return short(&hash);
    }
    let packed = fs::read_to_string(common.join("packed-refs")).ok()?;
    short(packed.lines().find_map(|line| line.strip_suffix(name))?)
}

/// Returns the beginning of a hash.
fn short(hash: &str) -> Option<String> {
    let hash = hash.trim();
    let is_hash = hash.len() >= 40 && hash.bytes().all(|letter| letter.is_ascii_hexdigit());
    is_hash.then(|| hash[..12].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn the_commit_is_that_of_head() {
        let directory = tempfile::tempdir().expect("a directory");
        let git = directory.path().join(".git");
        fs::create_dir_all(git.join("refs/heads")).expect("directories");
        let below = directory.path().join("src");
        assert_eq!(commit(&below), None);
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").expect("written");
        fs::write(git.join("packed-refs"), format!("# pack-refs\n{HASH} refs/heads/main\n")).expect("written");
        assert_eq!(commit(&below).as_deref(), Some("0123456789ab"));
        fs::write(git.join("refs/heads/main"), format!("f{}\n", &HASH[1..])).expect("written");
        assert_eq!(commit(&below).as_deref(), Some("f123456789ab"));
        fs::write(git.join("HEAD"), format!("{HASH}\n")).expect("written");
        assert_eq!(commit(&below).as_deref(), Some("0123456789ab"));
        fs::write(git.join("HEAD"), "nonsense").expect("written");
        assert_eq!(commit(&below), None);
    }
}
