//! `cargo xtask dist --clean-root`: the Debian package in a root file system that has nothing but apt.
//!
//! mmdebstrap makes the root, and removes it afterwards. The commands of the container file install the package there; it finds a
//! bug, and bundles the finding; the kit of this machine then replays the bundle.

use crate::build::Kit;
use crate::packages;
use crate::shell::{root, shell};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// Where apt keeps the list of its sources, the newer place first.
const SOURCES: [&str; 2] = ["/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list"];

/// Installs a package in a clean root, hunts there, and replays here what was found there.
pub fn try_package(kit: &Kit, dist: &Path, package: &str) -> Result<()> {
    packages::need(packages::CLEAN_ROOT)?;
    let sources = SOURCES.iter().find(|path| Path::new(path).exists()).context("there are no sources of apt here")?;
    let bundle = dist.join("bug.rhbundle");
    let _ = fs::remove_file(&bundle);

    let install = dist.join("install.sh");
    let container = root().join("packaging/Containerfile");
    let container = fs::read_to_string(&container).with_context(|| format!("cannot read {}", container.display()))?;
    fs::write(&install, format!("set -eu\n{}", commands(&container)))?;

    let copy_in = |from: PathBuf, to: &str| Ok(format!("--customize-hook=cp {} \"$1\"{to}", word(&from)?));
    let hooks: [Result<String>; 6] = [
        copy_in(dist.join(package), "/tmp/"),
        copy_in(install.clone(), "/tmp/install.sh"),
        copy_in(root().join("targets/data-race/lost_update.c"), "/tmp/bug.c"),
        copy_in(root().join("packaging/try.sh"), "/tmp/try.sh"),
        Ok("--customize-hook=chroot \"$1\" sh /tmp/try.sh".to_owned()),
        Ok(format!("--customize-hook=cp \"$1\"/tmp/bug.rhbundle {}", word(&bundle)?)),
    ];
    let hooks = hooks.into_iter().collect::<Result<Vec<_>>>()?;
    let mut words = vec!["--variant=apt", "--format=null", "--quiet"];
    words.extend(hooks.iter().map(String::as_str));
    let suite = suite()?;
    words.extend([suite.as_str(), "-", sources]);
    shell("mmdebstrap", &words).done()?;

    let replayed = shell(kit.program(), &["replay", &bundle.to_string_lossy()]).status()?;
    if replayed != Some(0) {
        bail!("the bundle does not replay here: exit code {replayed:?}");
    }
    fs::remove_file(bundle)?;
    fs::remove_file(install)?;
    println!("tried {package} in a clean root");
    Ok(())
}

/// Returns the commands that a container file runs, one per line.
fn commands(container: &str) -> String {
    let joined = container.replace("\\\n", " ");
    let lines = joined.lines().filter_map(|line| line.strip_prefix("RUN "));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Returns the name of this machine's release, such as `bookworm`.
fn suite() -> Result<String> {
    let text = fs::read_to_string("/etc/os-release").context("cannot read /etc/os-release")?;
    let name = text.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let name = name.context("/etc/os-release does not name the release")?;
    Ok(name.trim_matches('"').to_owned())
}

/// Returns a path as one word of a shell.
fn word(path: &Path) -> Result<String> {
    Ok(shlex::try_quote(&path.to_string_lossy())?.into_owned())
}

#[cfg(test)]
mod tests {
    #[test]
    fn commands_of_a_container_file() {
        let text = "# a comment\nFROM debian\nRUN a \\\n    && b\nCOPY c d\nRUN e\n";
        assert_eq!(super::commands(text), "a      && b\ne\n");
    }
}
