//! From sources to their code, and to a program that can be executed.

use super::{assumptions, inputs, library};
use crate::arguments::Scan;
use crate::target;
use anyhow::{Context as _, Result, bail};
use racehunter_compile::{Language, Toolkit};
use racehunter_ir::{IrError, Module, decode_all, read_program};
use racehunter_scan::Program;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

/// Functions that are atomic by their name are made so.
const ATOMIC_SECTIONS: (&str, &str) = ("RACEHUNTER_ATOMIC_SECTIONS", "1");
/// Where to put the code, before anything is made of it.
const EXPORT: &str = "RACEHUNTER_EXPORT";

/// Verification tasks are written for other compilers and standards.
const TASK_OPTIONS: [&str; 9] = [
    "-w",
    "-fgnu89-inline",
    "-Wno-int-conversion",
    "-Wno-incompatible-pointer-types",
    "-Wno-incompatible-function-pointer-types",
    "-Wno-implicit-function-declaration",
    "-Wno-implicit-int",
    "-Wno-return-mismatch",
    "-fno-builtin",
];

/// What there is to scan.
pub struct Built {
    /// The code.
    pub modules: Vec<Module>,
    /// Objects, or an executable.
    files: Vec<PathBuf>,
    /// Sources that no object could be made of: they can be looked at and not executed.
    only_code: Vec<PathBuf>,
    is_program: bool,
    is_task: bool,
    language: Language,
    pub(super) directory: PathBuf,
    name: String,
    /// Whether functions of libraries are described by code, which executions do not show.
    pub is_described: bool,
}

/// Compiles sources, without the optimiser: what it removes is missing in the code, races included.
pub fn build(arguments: &Scan) -> Result<Built> {
    let directory = arguments.out.join("scan");
    std::fs::create_dir_all(&directory).with_context(|| format!("cannot create `{}`", directory.display()))?;
    let mut hasher = DefaultHasher::new();
    (&arguments.files, &arguments.cflags, std::env::current_dir().ok()).hash(&mut hasher);
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let first = arguments.files.first().map(|file| stem(file)).unwrap_or_default();
    let name = format!("{first}-{:08x}", hasher.finish() as u32);
    let mut built = Built {
        modules: Vec::new(),
        files: Vec::new(),
        only_code: Vec::new(),
        is_program: false,
        is_task: arguments.svcomp,
        language: Language::C,
        directory,
        name,
        is_described: false,
    };
    for (index, file) in arguments.files.iter().enumerate() {
        if !file.exists() {
            bail!("`{}` does not exist", file.display());
        }
        if file.is_dir() {
            bail!("`{}` is a directory; name the sources of a program, or the program", file.display());
        }
        let mut is_source = false;
        let path = match target::language(file) {
            Some(language) => {
                is_source = true;
                if language == Language::Cxx {
                    built.language = Language::Cxx;
                }
                let object = built.directory.join(format!("{}-{index}.o", built.name));
                if let Compiled::Code(code) = compile(arguments, file, language, &object)? {
                    built.modules.extend(code);
                    built.only_code.push(file.clone());
                    continue;
                }
                object
            }
            None => {
                built.is_program = file.extension().is_none_or(|extension| extension != "o");
                file.clone()
            }
        };
        match read_program(&path) {
            Ok(modules) => built.modules.extend(modules),
            // A file of variables alone: what they are initialised with is not known then.
            Err(IrError::NoSection { .. }) if is_source => {}
            Err(error) => return Err(error.into()),
        }
        built.files.push(path);
    }
    if built.is_program && built.files.len() > 1 {
        bail!("a program is scanned alone; sources and objects can be scanned together");
    }
    built.is_described = library::add(&mut built)?;
    Ok(built)
}

fn options(arguments: &Scan) -> Vec<OsString> {
    let mut options: Vec<OsString> = Vec::new();
    if arguments.svcomp {
        options.extend(TASK_OPTIONS.map(OsString::from));
    }
    options.extend(arguments.cflags.as_deref().unwrap_or_default().split_ascii_whitespace().map(OsString::from));
    options
}

/// What came of a source.
enum Compiled {
    /// An object, with the code in it.
    Object,
    /// The code alone: the compiler understood it, and could make no object of it.
    Code(Vec<Module>),
}

fn compile(arguments: &Scan, source: &Path, language: Language, object: &Path) -> Result<Compiled> {
    let toolkit = Toolkit::discover()?;
    let mut words = options(arguments);
    // Last, so that nothing else counts.
    words.extend(["-O0".into(), "-g".into(), "-pthread".into(), "-c".into()]);
    words.push(source.into());
    let code = object.with_extension(format!("{}.code", std::process::id()));
    let mut environment = Vec::new();
    environment.extend(arguments.svcomp.then_some(ATOMIC_SECTIONS));
    environment.extend(code.to_str().map(|path| (EXPORT, path)));
    let is_made = target::compile(language, words, object, &toolkit, &environment);
    let exported = std::fs::read(&code);
    let _ = std::fs::remove_file(&code);
    match (is_made?, exported) {
        (true, _) => Ok(Compiled::Object),
        (false, Ok(exported)) => Ok(Compiled::Code(decode_all(&exported)?)),
        (false, Err(_)) => bail!("`{}` does not compile", source.display()),
    }
}

impl Built {
    /// Whether it was linked by others.
    pub fn is_program(&self) -> bool {
        self.is_program
    }

    /// The program, linked with what stands for its inputs.
    pub fn executable(&self, program: &Program) -> Result<PathBuf> {
        if self.is_program {
            return self.files[0].canonicalize().context("cannot find the program");
        }
        if let Some(source) = self.only_code.first() {
            bail!("no machine code can be made of `{}`", source.display());
        }
        let toolkit = Toolkit::discover()?;
        let source = self.directory.join("inputs.c");
        target::in_place(&source, |unfinished| {
            let written = std::fs::write(unfinished, inputs::SOURCE).map(|()| true);
            written.with_context(|| format!("cannot write `{}`", source.display()))
        })?;
        let is_clean = self.is_task && assumptions::leave_sections_clean(program);
        // Scans of other kinds may be going on with the same directory.
        let object = self.directory.join(match (self.is_task, is_clean) {
            (false, _) => "inputs.o",
            (true, false) => "task.o",
            (true, true) => "clean_task.o",
        });
        // It is not part of the program: nothing in it is an event.
        let mut words: Vec<OsString> = ["-O1", "-w", "-fno-sanitize=thread", "-c"].map(OsString::from).to_vec();
        if self.is_task {
            words.push("-DIS_TASK".into());
        }
        if is_clean {
            words.push("-DSECTIONS_ARE_CLEAN".into());
        }
        words.push(source.into());
        if !target::compile(Language::C, words, &object, &toolkit, &[])? {
            bail!("the inputs do not compile");
        }
        let program = self.directory.join(&self.name);
        let mut words: Vec<OsString> = self.files.iter().map(OsString::from).collect();
        words.push(object.into());
        words.extend(["-pthread", "-lm"].map(OsString::from));
        let wrap = |name: &str| OsString::from(format!("-Wl,--wrap={name}"));
        words.extend(["pthread_create", "pthread_join", "pthread_detach"].map(wrap));
        if self.is_task {
            words.extend(["pthread_mutex_init", "pthread_rwlock_init"].map(wrap));
            words.extend(assumptions::ENDS.map(wrap));
            // Tasks name functions of the kernel that are nowhere. An execution that calls one ends there.
            words.push("-Wl,--unresolved-symbols=ignore-all".into());
        }
        if !target::compile(self.language, words, &program, &toolkit, &[])? {
            bail!("the program does not link");
        }
        program.canonicalize().with_context(|| format!("cannot find `{}`", program.display()))
    }
}
