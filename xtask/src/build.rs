//! Builds the parts and puts them together.
//!
//! The layout is that of an installation: `bin/racehunter` and its two compiler names, `bin/cargo-racehunter`, and
//! `lib/racehunter` with the runtime, its list of exported symbols, the headers, and a plugin per LLVM version. CMake
//! looks for the module in `lib/cmake/RaceHunter`, beside a program on the path.

use crate::packages;
use crate::shell::{cargo, root, shell, target};
use anyhow::{Context as _, Result, bail};
use object::{Object as _, ObjectSymbol as _, SectionIndex, SymbolFlags, SymbolIndex};
use std::fs;
use std::path::{Path, PathBuf};

/// All code of the runtime goes into one section, between two symbols, so that the runtime can distinguish itself from
/// the program.
const RUNTIME_SECTIONS: &str =
    "SECTIONS { .text.racehunter : { HIDDEN(rh_text_begin = .); *(.text .text.*) HIDDEN(rh_text_end = .); } }\n";

/// Functions that the runtime's compiler calls, and that programs may define: the runtime has its own.
const WRAPPED: [&str; 7] = ["bcmp", "memcmp", "memcpy", "memmove", "memset", "strlen", "strnlen"];

/// The command that cargo calls for `cargo racehunter`.
const CARGO: &str = "cargo-racehunter";

/// The directory of the CMake module, and its files.
const CMAKE: &str = "lib/cmake/RaceHunter";
const CMAKE_MODULE: [&str; 2] = ["RaceHunterConfig.cmake", "RaceHunterConfigVersion.cmake"];

/// The profile of the parts that run outside of programs. The runtime always has its own profile.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// As released.
    Release,
    /// Compiled in less than half of the time, for the tests of a change.
    Quick,
}

impl Profile {
    /// Returns its name for cargo, which is also that of its directory.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Quick => "quick",
        }
    }

    const fn kit(self) -> &'static str {
        match self {
            Self::Release => "racehunter",
            Self::Quick => "racehunter-quick",
        }
    }
}

/// The packages that every build and test with the profile `quick` selects. Another selection would change features of
/// dependencies, and cargo would compile these and everything that depends on them again. The runtime has its own
/// profile; the checker of JSON schemas is built where it is used.
pub const PACKAGES: [&str; 5] = ["--workspace", "--exclude", "racehunter-runtime", "--exclude", "racehunter-schema"];

/// The version of LLVM that the packages are built for by default.
const DEFAULT_LLVM: u32 = 22;

/// A complete RaceHunter, ready to use.
pub struct Kit {
    directory: PathBuf,
    profile: Profile,
}

impl Kit {
    /// Builds everything into `target/racehunter`.
    pub fn build() -> Result<Self> {
        Self::build_with(Profile::Release)
    }

    /// Builds everything with a profile, each into its own directory.
    pub fn build_with(profile: Profile) -> Result<Self> {
        packages::need(packages::BUILD)?;
        let versions = packages::need_llvm()?;
        let kit = Self { directory: target().join(profile.kit()), profile };
        fs::create_dir_all(kit.bin())?;
        fs::create_dir_all(kit.lib())?;

        kit.build_packages(&versions)?;
        replace(&kit.output("racehunter"), &kit.program())?;
        replace(&kit.output(CARGO), &kit.bin().join(CARGO))?;
        for name in ["racehunter-cc", "racehunter-c++"] {
            let link = kit.bin().join(name);
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink("racehunter", &link)?;
        }

        cargo(&["build", "--quiet", "--profile", "runtime", "--package", "racehunter-runtime"]).done()?;
        kit.pack_runtime(&target().join("runtime/libracehunter_rt.a"))?;
        copy_headers(&root().join("crates/runtime/include"), &kit.lib().join("include"))?;
        kit.write_cmake_module()?;
        Ok(kit)
    }

    /// Returns the command.
    pub fn program(&self) -> PathBuf {
        self.bin().join("racehunter")
    }

    /// Returns the command that cargo calls.
    pub fn cargo(&self) -> PathBuf {
        self.bin().join(CARGO)
    }

    fn bin(&self) -> PathBuf {
        self.directory.join("bin")
    }

    /// Returns where plugins and runtime are.
    pub fn lib(&self) -> PathBuf {
        self.directory.join("lib/racehunter")
    }

    fn cmake(&self) -> PathBuf {
        self.directory.join(CMAKE)
    }

    fn write_cmake_module(&self) -> Result<()> {
        fs::create_dir_all(self.cmake())?;
        let version = version()?;
        for name in CMAKE_MODULE {
            let text = fs::read_to_string(root().join("cmake").join(name))?;
            write_if_changed(&self.cmake().join(name), text.replace("@VERSION@", &version).as_bytes())?;
        }
        Ok(())
    }

    /// Returns where cargo leaves a product of the packages.
    fn output(&self, name: &str) -> PathBuf {
        target().join(self.profile.name()).join(name)
    }

    /// Builds both commands, and a plugin per version of LLVM.
    fn build_packages(&self, versions: &[u32]) -> Result<()> {
        let build = ["build", "--quiet", "--profile", self.profile.name()];
        // Cargo caches both versions of the plugin, and leaves the one of the last build in place.
        for &version in versions.iter().filter(|&&version| version != DEFAULT_LLVM) {
            let feature = format!("llvm{version}");
            let plugin = ["--package", "racehunter-plugin", "--no-default-features", "--features", &feature];
            cargo(&[&build[..], &plugin].concat()).done()?;
            self.keep_plugin(version)?;
        }
        let has_default = versions.contains(&DEFAULT_LLVM);
        let selection: &[&str] = match (self.profile, has_default) {
            (Profile::Release, true) => {
                &["--package", "racehunter", "--package", CARGO, "--package", "racehunter-plugin"]
            }
            (Profile::Release, false) => &["--package", "racehunter", "--package", CARGO],
            (Profile::Quick, true) => &[&PACKAGES[..], &["--lib", "--bin", "racehunter", "--bin", CARGO]].concat(),
            (Profile::Quick, false) => bail!("the tests need LLVM {DEFAULT_LLVM}"),
        };
        cargo(&[&build[..], selection].concat()).done()?;
        if has_default { self.keep_plugin(DEFAULT_LLVM) } else { Ok(()) }
    }

    fn keep_plugin(&self, version: u32) -> Result<()> {
        let plugin = self.output("libracehunter_plugin.so");
        replace(&plugin, &self.lib().join(format!("libracehunter_plugin_{version}.so")))
    }

    /// Packs the runtime without the parts of Rust's library that it does not use, and the list of its exported
    /// symbols.
    fn pack_runtime(&self, archive: &Path) -> Result<()> {
        let packed = self.lib().join("libracehunter_rt.a");
        let unfinished = self.lib().join("unfinished.a");
        let _ = fs::remove_file(&unfinished);
        let members = shell("ar", &["t", &archive.to_string_lossy()]).output()?;
        let is_own =
            |name: &&str| name.starts_with("racehunter_rt-") || name.ends_with("-once.o") || name.ends_with("-new.o");
        let own: Vec<&str> = members.lines().filter(is_own).collect();
        if own.len() < 3 {
            bail!("`{}` does not have the expected members", archive.display());
        }
        let scratch = self.lib().join("members");
        fs::create_dir_all(&scratch)?;
        let mut words = vec!["x".to_owned(), "--output".to_owned(), scratch.display().to_string()];
        words.push(archive.display().to_string());
        words.extend(own.iter().map(|&name| name.to_owned()));
        run_ar(&words)?;
        let whole = scratch.join("racehunter_rt.o");
        let script = scratch.join("sections");
        fs::write(&script, RUNTIME_SECTIONS)?;
        let mut words = vec!["-r".to_owned(), "-T".to_owned(), script.display().to_string()];
        words.extend(["-o".to_owned(), whole.display().to_string()]);
        words.extend(WRAPPED.iter().map(|name| format!("--wrap={name}")));
        words.extend(own.iter().map(|name| scratch.join(name).display().to_string()));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        shell("ld", &words).done()?;
        // Programs that use the same option of the linker define these names too.
        let renamed = WRAPPED.map(|name| format!("--redefine-sym=__wrap_{name}=rh_{name}"));
        let words: Vec<&str> = renamed.iter().map(String::as_str).collect();
        shell("objcopy", &[&words[..], &[&*whole.to_string_lossy()]].concat()).done()?;
        let mut exported = exported_symbols(&whole)?;
        weaken(&whole, &exported, &scratch.join("weak"))?;
        run_ar(&["rcs".to_owned(), unfinished.display().to_string(), whole.display().to_string()])?;
        fs::remove_dir_all(&scratch)?;
        exported.sort();
        let list = format!("{{\n{}}};\n", exported.iter().map(|name| format!("  {name};\n")).collect::<String>());
        write_if_changed(&self.lib().join("racehunter.dynlist"), list.as_bytes())?;
        fs::rename(&unfinished, &packed).context("cannot put the runtime in place")
    }

    /// Copies everything to another place; returns the command there.
    pub fn copy_to(&self, home: &Path) -> Result<PathBuf> {
        let (bin, lib) = (home.join("bin"), home.join("lib/racehunter"));
        fs::create_dir_all(&bin)?;
        fs::create_dir_all(&lib)?;
        for entry in fs::read_dir(self.lib())? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                replace(&entry.path(), &lib.join(entry.file_name()))?;
            }
        }
        copy_headers(&self.lib().join("include"), &lib.join("include"))?;
        fs::create_dir_all(home.join(CMAKE))?;
        for name in CMAKE_MODULE {
            replace(&self.cmake().join(name), &home.join(CMAKE).join(name))?;
        }
        replace(&self.program(), &bin.join("racehunter"))?;
        replace(&self.bin().join(CARGO), &bin.join(CARGO))?;
        for name in ["racehunter-cc", "racehunter-c++"] {
            let link = bin.join(name);
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink("racehunter", &link)?;
        }
        Ok(bin.join("racehunter"))
    }
}

/// The header for programs, and those that override headers of other libraries.
const HEADERS: [&str; 3] = ["racehunter.h", "bits/c++config.h", "bits/atomic_wait.h"];

fn copy_headers(from: &Path, to: &Path) -> Result<()> {
    for header in HEADERS {
        let place = to.join(header);
        fs::create_dir_all(place.parent().unwrap_or(to))?;
        replace(&from.join(header), &place)?;
    }
    Ok(())
}

/// Returns the version of the project.
pub fn version() -> Result<String> {
    let manifest = fs::read_to_string(root().join("Cargo.toml"))?;
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = \""));
    line.and_then(|rest| rest.split('"').next()).map(str::to_owned).context("Cargo.toml has no version")
}

fn run_ar(words: &[String]) -> Result<()> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    shell("ar", &words).done()
}

/// Returns the symbols that the program's shared libraries must find in the executable. Hidden symbols cannot be exported, and
/// some linkers warn of each.
fn exported_symbols(object: &Path) -> Result<Vec<String>> {
    let data = fs::read(object)?;
    let file = object::File::parse(&*data)?;
    let is_visible = |flags: SymbolFlags<SectionIndex, SymbolIndex>| match flags {
        SymbolFlags::Elf { st_other, .. } => st_other & 3 == object::elf::STV_DEFAULT,
        _ => true,
    };
    let global =
        file.symbols().filter(|symbol| symbol.is_global() && symbol.is_definition() && is_visible(symbol.flags()));
    let names = global.filter_map(|symbol| symbol.name().ok().map(str::to_owned));
    Ok(names.filter(|name| !name.starts_with("_ZN") && !name.starts_with("_R") && !name.contains("rust")).collect())
}

/// Makes symbols weak, so that the program can define functions with the names of modelled C library functions: an
/// allocator, or a `connect` that has nothing to do with sockets.
fn weaken(object: &Path, symbols: &[String], list: &Path) -> Result<()> {
    let own =
        |name: &&String| ["__rh_", "rh_", "RH_", "__tsan_", "racehunter_"].iter().any(|own| name.starts_with(own));
    let weak: String = symbols.iter().filter(|name| !own(name)).map(|name| format!("{name}\n")).collect();
    fs::write(list, weak)?;
    shell("objcopy", &[&format!("--weaken-symbols={}", list.display()), &object.to_string_lossy()]).done()
}

/// Copies through a temporary file, because the old one may be running.
fn replace(from: &Path, to: &Path) -> Result<()> {
    let unfinished = to.with_extension("unfinished");
    fs::copy(from, &unfinished)
        .and_then(|_| fs::rename(&unfinished, to))
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

fn write_if_changed(path: &Path, content: &[u8]) -> Result<()> {
    if fs::read(path).ok().as_deref() != Some(content) {
        fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
