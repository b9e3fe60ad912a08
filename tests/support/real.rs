//! Real programs: libraries with threads, small programs that use them, and a server.
//!
//! Their sources come from packages that bundle them, which `tests/sources` lists. Objects are cached in the target
//! directory under a hash of everything that they are made from, so that the tests and shows of one run compile a
//! library once.

use crate::tool::{self, racehunter, root, run};
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A program and the library that it uses.
pub struct Real {
    /// Its name.
    pub name: &'static str,
    /// The package with the library, if it uses one.
    package: Option<&'static str>,
    /// Directories of the package with sources; or single files.
    sources: &'static [&'static str],
    /// Files of those directories that are not part of the library, by the end of their names.
    without: &'static [&'static str],
    /// Directories of the package with headers.
    headers: &'static [&'static str],
    flags: &'static [&'static str],
    /// The program that uses it, from the root of the project.
    driver: &'static str,
    /// Its arguments.
    pub arguments: &'static [&'static str],
    /// A planted bug.
    pub planted: Planted,
}

/// A bug that is planted by replacing text.
pub struct Planted {
    /// A description.
    pub what: &'static str,
    /// The end of the changed file's path.
    pub file: &'static str,
    changes: &'static [(&'static str, &'static str)],
}

/// All real programs.
pub const REAL: [Real; 4] = [
    Real {
        name: "sqlite3",
        package: Some("libsqlite3-sys"),
        sources: &["sqlite3/sqlite3.c"],
        without: &[],
        headers: &["sqlite3"],
        flags: &["-DSQLITE_THREADSAFE=1", "-DSQLITE_OMIT_LOAD_EXTENSION"],
        driver: "benches/programs/sqlite_threads.c",
        arguments: &["2", "12"],
        planted: Planted {
            what: "a connection without its mutex",
            file: "sqlite_threads.c",
            changes: &[
                ("SQLITE_OPEN_FULLMUTEX", "SQLITE_OPEN_NOMUTEX"),
                ("    pthread_mutex_lock(&shared_lock);\n", ""),
                ("    pthread_mutex_unlock(&shared_lock);\n", ""),
            ],
        },
    },
    Real {
        name: "zstd",
        package: Some("zstd-sys"),
        sources: &["zstd/lib/common", "zstd/lib/compress", "zstd/lib/decompress"],
        without: &[],
        headers: &["zstd/lib"],
        flags: &["-DZSTD_MULTITHREAD", "-DZSTD_DISABLE_ASM"],
        driver: "tests/programs/zstd_threads.c",
        arguments: &[],
        planted: Planted {
            what: "a lock of the thread pool dropped",
            file: "pool.c",
            changes: &[(
                "            ZSTD_pthread_mutex_lock(&ctx->queueMutex);\n            ctx->numThreadsBusy--;\n            \
                 ZSTD_pthread_cond_signal(&ctx->queuePushCond);\n            \
                 ZSTD_pthread_mutex_unlock(&ctx->queueMutex);\n",
                "            ctx->numThreadsBusy--;\n            ZSTD_pthread_cond_signal(&ctx->queuePushCond);\n",
            )],
        },
    },
    Real {
        name: "xz",
        package: Some("lzma-sys"),
        sources: &[
            "xz-5.2/src/liblzma/common",
            "xz-5.2/src/liblzma/lzma",
            "xz-5.2/src/liblzma/lz",
            "xz-5.2/src/liblzma/check",
            "xz-5.2/src/liblzma/delta",
            "xz-5.2/src/liblzma/rangecoder",
            "xz-5.2/src/liblzma/simple",
            "xz-5.2/src/common/tuklib_cpucores.c",
            "xz-5.2/src/common/tuklib_physmem.c",
        ],
        without: &["tablegen.c", "crc32_small.c", "crc64_small.c"],
        headers: &[
            ".",
            "xz-5.2/src/liblzma/api",
            "xz-5.2/src/liblzma/common",
            "xz-5.2/src/liblzma/lzma",
            "xz-5.2/src/liblzma/lz",
            "xz-5.2/src/liblzma/check",
            "xz-5.2/src/liblzma/delta",
            "xz-5.2/src/liblzma/rangecoder",
            "xz-5.2/src/liblzma/simple",
            "xz-5.2/src/common",
        ],
        flags: &["-std=gnu99", "-DHAVE_CONFIG_H=1"],
        driver: "tests/programs/xz_threads.c",
        arguments: &[],
        planted: Planted {
            what: "a lock of the encoder dropped",
            file: "stream_encoder_mt.c",
            changes: &[(
                "\t\tmythread_sync(thr->coder->mutex) {\n\t\t\t// Mark the output buffer as finished",
                "\t\t{\n\t\t\t// Mark the output buffer as finished",
            )],
        },
    },
    Real {
        name: "server",
        package: None,
        sources: &[],
        without: &[],
        headers: &[],
        flags: &[],
        driver: "tests/programs/epoll_server.c",
        arguments: &[],
        planted: Planted {
            what: "a worker without the lock of the table",
            file: "epoll_server.c",
            changes: &[
                ("        pthread_mutex_lock(&table_lock);\n", ""),
                ("        pthread_mutex_unlock(&table_lock);\n", ""),
            ],
        },
    },
];

/// Returns the programs with these names, or all if there are none.
///
/// # Errors
///
/// If there is no such program.
pub fn named(names: &[&str]) -> Result<Vec<&'static Real>, String> {
    match names.iter().find(|name| REAL.iter().all(|real| real.name != **name)) {
        Some(name) => Err(format!("there is no real program {name}")),
        None => Ok(REAL.iter().filter(|real| names.is_empty() || names.contains(&real.name)).collect()),
    }
}

/// Returns the one with this name.
#[must_use]
pub fn real(name: &str) -> Option<&'static Real> {
    REAL.iter().find(|real| real.name == name)
}

/// How a program is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Build {
    /// By the system's compiler.
    Plain,
    /// By RaceHunter's wrapper.
    Ours,
    /// By RaceHunter's wrapper, with the planted bug.
    Planted,
    /// By RaceHunter's wrapper, optimised.
    Fast,
    /// By the compiler that the wrapper uses, optimised, with ThreadSanitizer.
    Tsan,
}

impl Real {
    /// Returns the arguments of an execution long enough to measure.
    #[must_use]
    pub fn long_arguments(&self) -> &'static [&'static str] {
        if self.name == "sqlite3" { &["3", "200"] } else { self.arguments }
    }

    /// Builds the program; returns its path.
    ///
    /// # Panics
    /// If something does not compile, or the text to replace is missing.
    #[must_use]
    pub fn build(&self, build: Build) -> PathBuf {
        let package = self.package.map(package).unwrap_or_default();
        let store = Store::new();
        let mut files: Vec<PathBuf> =
            self.sources.iter().flat_map(|source| self.files(&package.join(source))).collect();
        files.sort();
        files.push(root().join(self.driver));
        let mut flags: Vec<String> = self.flags.iter().map(|&flag| flag.to_owned()).collect();
        flags.extend(self.headers.iter().map(|header| format!("-I{}", package.join(header).display())));
        if build == Build::Planted {
            self.planted.apply(&store, &mut files);
            flags.extend(files.iter().filter_map(|file| Some(format!("-I{}", file.parent()?.display()))));
            flags.dedup();
        }
        let objects = store.objects(&files, &flags, build);
        let program = store.directory.join(format!("{}-{build:?}", self.name).to_lowercase());
        let mut link = Store::compiler(build);
        link.arg("-pthread").args(objects).arg("-o").arg(&program).arg("-lm");
        run(&mut link).expect(0);
        program
    }

    fn files(&self, source: &Path) -> Vec<PathBuf> {
        if !source.is_dir() {
            return vec![source.to_owned()];
        }
        let entries = fs::read_dir(source).expect("a package has its sources");
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let is_left_out = |path: &PathBuf| self.without.iter().any(|end| path.to_string_lossy().ends_with(end));
        paths.filter(|path| path.extension() == Some(OsStr::new("c")) && !is_left_out(path)).collect()
    }
}

impl Planted {
    /// Changes a copy of the file, and uses it instead of the file.
    fn apply(&self, store: &Store, files: &mut [PathBuf]) {
        let named = |file: &&mut PathBuf| file.to_string_lossy().ends_with(&format!("/{}", self.file));
        let file = files.iter_mut().find(named).unwrap_or_else(|| panic!("there is no {}", self.file));
        let mut text = fs::read_to_string(&*file).expect("a source can be read");
        for (from, to) in self.changes {
            assert!(text.contains(from), "{} has changed: it does not have\n{from}", self.file);
            text = text.replace(from, to);
        }
        let directory = store.directory.join("planted");
        fs::create_dir_all(&directory).expect("a directory can be made");
        // Headers beside it are found through its old directory.
        let copy = directory.join(self.file);
        if fs::read_to_string(&copy).ok().as_deref() != Some(&text) {
            fs::write(&copy, text).expect("a file can be written");
        }
        *file = copy;
    }
}

/// Returns the directory of a package, which cargo fetches if necessary.
fn package(name: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut metadata = Command::new(cargo);
    metadata.args(["metadata", "--quiet", "--locked", "--format-version", "1", "--manifest-path"]);
    let metadata = run(metadata.arg(root().join("tests/sources/Cargo.toml"))).expect(0).stdout;
    let metadata: serde_json::Value = serde_json::from_str(&metadata).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let manifest = packages.into_iter().find(|package| package["name"] == name);
    let manifest = manifest.and_then(|package| package["manifest_path"].as_str());
    let manifest = Path::new(manifest.unwrap_or_else(|| panic!("tests/sources has no {name}")));
    manifest.parent().map(Path::to_path_buf).unwrap_or_default()
}

/// Compiled objects.
struct Store {
    directory: PathBuf,
    /// A hash of the compiler plugins, whose change makes objects outdated.
    plugins: u64,
}

impl Store {
    fn new() -> Self {
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |path| root().join(path));
        let directory = target.join("real");
        fs::create_dir_all(&directory).expect("a directory can be made");
        Self { directory, plugins: plugins() }
    }

    fn compiler(build: Build) -> Command {
        match build {
            Build::Plain => Command::new("cc"),
            Build::Ours | Build::Planted | Build::Fast => racehunter(["cc"]),
            Build::Tsan => {
                let version = run(&mut racehunter(["cc", "--version"])).expect(0).stdout;
                let directory = version.lines().find_map(|line| line.strip_prefix("InstalledDir: "));
                let mut command = Command::new(Path::new(directory.expect("clang says where it is")).join("clang"));
                command.arg("-fsanitize=thread");
                command
            }
        }
    }

    fn objects(&self, files: &[PathBuf], flags: &[String], build: Build) -> Vec<PathBuf> {
        let next = AtomicUsize::new(0);
        let compile = || {
            while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.object(file, flags, build);
            }
        };
        thread::scope(|scope| {
            let cores = thread::available_parallelism().map_or(1, usize::from);
            (0..cores).for_each(|_| drop(scope.spawn(compile)));
        });
        files.iter().map(|file| self.object(file, flags, build)).collect()
    }

    /// Compiles a file, unless that was done before.
    fn object(&self, file: &Path, flags: &[String], build: Build) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        let content = fs::read(file).unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()));
        // The planted bug is already part of the content.
        let way = if build == Build::Planted { Build::Ours } else { build };
        let ours = (!matches!(build, Build::Plain | Build::Tsan)).then_some(self.plugins);
        // Other header directories make no difference to unchanged files.
        let flags: Vec<&String> = flags.iter().collect();
        let known: Vec<&&String> = flags.iter().filter(|flag| !flag.starts_with("-I")).collect();
        (content, file, known, ours, way).hash(&mut hasher);
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let object = self.directory.join(format!("{stem}-{:016x}.o", hasher.finish()));
        if !object.exists() {
            let unfinished = object.with_extension(format!("{:?}.unfinished", thread::current().id()));
            // Without optimisation, unless speed is measured: most of the time goes into compiling.
            let optimise = if matches!(build, Build::Fast | Build::Tsan) { "-O2" } else { "-O0" };
            let mut command = Self::compiler(build);
            command.args([optimise, "-w", "-pthread"]).args(flags).arg("-c").arg(file).arg("-o").arg(&unfinished);
            run(&mut command).expect(0);
            fs::rename(&unfinished, &object).expect("a file can be renamed");
        }
        object
    }
}

/// Returns the hash of the compiler plugins that belong to the command.
fn plugins() -> u64 {
    let program = tool::path();
    let library = program.ancestors().nth(2).unwrap_or(&program).join("lib/racehunter");
    let entries = fs::read_dir(&library).unwrap_or_else(|error| panic!("cannot read {}: {error}", library.display()));
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension() == Some(OsStr::new("so")));
    paths.sort();
    let mut hasher = DefaultHasher::new();
    for path in paths {
        fs::read(path).expect("a plugin can be read").hash(&mut hasher);
    }
    hasher.finish()
}
