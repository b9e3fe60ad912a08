//! Debian's source packages, through an apt with its own configuration, lists and cache: nothing on the machine is
//! changed.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The source and the directory of packages.
pub struct Sources {
    directory: PathBuf,
}

/// The source of a project.
pub struct Source {
    /// Its upstream version.
    pub version: String,
    origin: Origin,
}

enum Origin {
    /// The description of a fetched package, which names its parts.
    Package(PathBuf),
    /// A directory with the source.
    Directory(PathBuf),
}

impl Sources {
    /// Prepares a directory for sources; fetches the package lists if there are none.
    pub fn new(directory: &Path) -> Result<Self, String> {
        let directory = directory.join("sources");
        let error = |error: std::io::Error| format!("{}: {error}", directory.display());
        std::fs::create_dir_all(directory.join("lists/partial")).map_err(error)?;
        let list = directory.join("list.sources");
        if !list.exists() {
            std::fs::write(&list, machine()?).map_err(error)?;
        }
        Ok(Self { directory })
    }

    fn apt(&self, words: &[&str]) -> Result<(), String> {
        let mut apt = Command::new("apt-get");
        let path = |name: &str| self.directory.join(name).display().to_string();
        for option in [
            "Dir::Etc::SourceParts=/dev/null".to_owned(),
            format!("Dir::Etc::SourceList={}", path("list.sources")),
            format!("Dir::State::Lists={}", path("lists")),
            format!("Dir::Cache={}", self.directory.display()),
            // The directory may be readable only by its owner.
            "APT::Sandbox::User=root".to_owned(),
        ] {
            apt.args(["-o", &option]);
        }
        let ended =
            apt.args(words).current_dir(&self.directory).output().map_err(|error| format!("apt-get: {error}"))?;
        if ended.status.success() {
            return Ok(());
        }
        let errors = String::from_utf8_lossy(&ended.stderr);
        let first = errors.lines().find(|line| line.starts_with("E:")).unwrap_or("no reason is given");
        Err(format!("apt-get {}: {first}", words.join(" ")))
    }

    /// Returns a package: from the directory if it exists there, otherwise from Debian.
    pub fn get(&self, package: &str) -> Result<Source, String> {
        if let Some(source) = self.find(package) {
            return Ok(source);
        }
        let fetch = || self.apt(&["source", "--quiet", "--download-only", package]);
        let fetched = fetch().or_else(|_| self.apt(&["update", "--quiet"]).and_then(|()| fetch()));
        // A part that is missing on the server leaves the others, and Debian's own changes are not needed.
        self.find(package).ok_or_else(|| fetched.err().unwrap_or_else(|| format!("{package}: nothing was fetched")))
    }

    fn find(&self, package: &str) -> Option<Source> {
        let entries = std::fs::read_dir(&self.directory).ok()?;
        let descriptions = entries.flatten().map(|entry| entry.path());
        let description =
            descriptions.filter(|path| path.extension().is_some_and(|end| end == "dsc")).find(|path| {
                path.file_stem().is_some_and(|name| name.to_string_lossy().starts_with(&format!("{package}_")))
            })?;
        let version = version(&std::fs::read_to_string(&description).ok()?)?;
        let origin = Origin::Package(description);
        Some(Source { version, origin }).filter(|source| source.archive().is_some())
    }
}

impl Source {
    /// Returns a source that is already unpacked.
    pub fn directory(path: &Path) -> Self {
        Self { version: "-".to_owned(), origin: Origin::Directory(path.to_path_buf()) }
    }

    /// Returns the authors' own archive.
    fn archive(&self) -> Option<PathBuf> {
        let Origin::Package(description) = &self.origin else { return None };
        let name = description.file_name()?.to_str()?;
        let package = name.split('_').next()?;
        let entries = std::fs::read_dir(description.parent()?).ok()?;
        entries.flatten().map(|entry| entry.path()).find(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            name.starts_with(&format!("{package}_{}.orig.tar", self.version)) && !name.ends_with(".asc")
        })
    }

    /// Unpacks it into an empty directory, with Debian's changes if they exist.
    pub fn unpack(&self, place: &Path) -> Result<(), String> {
        let error = |error: std::io::Error| format!("{}: {error}", place.display());
        if place.exists() {
            std::fs::remove_dir_all(place).map_err(error)?;
        }
        std::fs::create_dir_all(place.parent().unwrap_or(place)).map_err(error)?;
        let description = match &self.origin {
            Origin::Package(description) => description,
            Origin::Directory(path) => {
                let copied = Command::new("cp").arg("-R").arg(path).arg(place).output().map_err(error)?;
                let cannot = || format!("cannot copy {}", path.display());
                return copied.status.success().then_some(()).ok_or_else(cannot);
            }
        };
        let mut debian = Command::new("dpkg-source");
        debian.args(["--no-copy", "--no-check", "--quiet", "--extract"]).arg(description).arg(place);
        if debian.output().is_ok_and(|ended| ended.status.success()) {
            return Ok(());
        }
        let archive = self.archive().ok_or("the archive is gone")?;
        std::fs::create_dir_all(place).map_err(error)?;
        let mut tar = Command::new("tar");
        tar.arg("xf").arg(&archive).arg("-C").arg(place).arg("--strip-components=1");
        let ended = tar.output().map_err(error)?;
        if ended.status.success() { Ok(()) } else { Err(format!("cannot unpack {}", archive.display())) }
    }
}

/// Returns the machine's own list of where binary packages come from, for sources.
fn machine() -> Result<String, String> {
    let mut list = String::new();
    for file in files("/etc/apt/sources.list.d") {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        if file.extension().is_some_and(|end| end == "sources") && text.contains("debian") {
            list += &deb_src(&text);
            list.push('\n');
        }
    }
    if list.is_empty() {
        return Err("the machine names no Debian archive in /etc/apt/sources.list.d/*.sources: \
                    write one with `Types: deb-src` as DIR/sources/list.sources"
            .to_owned());
    }
    Ok(list)
}

fn files(directory: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Returns a list for binary packages as one for sources.
fn deb_src(list: &str) -> String {
    let line = |line: &str| if line.starts_with("Types:") { "Types: deb-src".to_owned() } else { line.to_owned() };
    list.lines().map(line).map(|line| line + "\n").collect()
}

/// Returns the version of the project in the description of a package.
fn version(description: &str) -> Option<String> {
    let whole = description.lines().find_map(|line| line.strip_prefix("Version: "))?;
    let whole = whole.split_once(':').map_or(whole, |(_, rest)| rest);
    Some(whole.rsplit_once('-').map_or(whole, |(version, _)| version).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_authors() {
        assert_eq!(version("Source: a\nVersion: 1.44.2-1+deb12u1\n").as_deref(), Some("1.44.2"));
        assert_eq!(version("Version: 1:2.1.12-stable-8\n").as_deref(), Some("2.1.12-stable"));
        assert_eq!(version("Source: a\n"), None);
    }

    #[test]
    fn a_list_of_binary_packages_becomes_one_of_sources() {
        let list = "Types: deb\nURIs: http://example.org/debian\nSuites: stable\n";
        assert_eq!(deb_src(list), "Types: deb-src\nURIs: http://example.org/debian\nSuites: stable\n");
    }
}
