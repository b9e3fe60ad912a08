//! Compiles sources to code for the analysis, and to a program that can be executed.

use super::{Scan, assumptions, inputs, library};
use crate::{Error, digest, files, target};
use racehunter_compile::{Language, Toolkit};
use racehunter_ir::{IrError, Module, decode_all, read_program};
use racehunter_scan::Program;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Makes functions atomic whose names say so.
const ATOMIC_SECTIONS: (&str, &str) = ("RACEHUNTER_ATOMIC_SECTIONS", "1");
/// Where to put the code, before it is compiled any further.
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

/// The program to scan.
pub struct Built {
    /// The code.
    pub modules: Vec<Module>,
    /// Objects, or an executable.
    files: Vec<PathBuf>,
    /// Sources that could not be compiled to objects: they can be analysed but not executed.
    only_code: Vec<PathBuf>,
    is_program: bool,
    is_task: bool,
    language: Language,
    pub(super) directory: PathBuf,
    name: String,
    /// True if library functions are described by code, which executions do not show.
    pub is_described: bool,
}

/// Compiles sources without the optimiser, which could remove code that contains a race.
pub fn build(scan: &Scan) -> Result<Built, Error> {
    let directory = scan.out.join("scan");
    std::fs::create_dir_all(&directory).map_err(Error::file("create", &directory))?;
    let full: Vec<PathBuf> =
        scan.files.iter().map(|file| std::path::absolute(file).unwrap_or_else(|_| file.clone())).collect();
    let flags = scan.cflags.as_ref().map_or_else(String::new, |flags| format!("={flags}"));
    let paths = full.iter().map(|path| path.as_os_str().as_bytes());
    let number = digest::number(std::iter::once(flags.as_bytes()).chain(paths));
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let first = scan.files.first().map(|file| stem(file)).unwrap_or_default();
    let name = format!("{first}-{:08x}", number as u32);
    let mut built = Built {
        modules: Vec::new(),
        files: Vec::new(),
        only_code: Vec::new(),
        is_program: false,
        is_task: scan.is_task,
        language: Language::C,
        directory,
        name,
        is_described: false,
    };
    for (index, file) in scan.files.iter().enumerate() {
        if !file.exists() {
            return Err(Error::Missing(file.clone()));
        }
        if file.is_dir() {
            return Err(Error::DirectoryOfSources(file.clone()));
        }
        let mut is_source = false;
        let path = match target::language(file) {
            Some(language) => {
                is_source = true;
                if language == Language::Cxx {
                    built.language = Language::Cxx;
                }
                let object = built.directory.join(format!("{}-{index}.o", built.name));
                if let Compiled::Code(code) = compile(scan, file, language, &object)? {
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
            // A file of variables only: their initial values are then unknown.
            Err(IrError::NoSection { .. }) if is_source => {}
            Err(error) => return Err(error.into()),
        }
        built.files.push(path);
    }
    if built.is_program && built.files.len() > 1 {
        return failed("a program is scanned alone; sources and objects can be scanned together");
    }
    built.is_described = library::add(&mut built)?;
    Ok(built)
}

fn failed<T>(message: &str) -> Result<T, Error> {
    Err(Error::Scan(message.to_owned()))
}

fn options(scan: &Scan) -> Result<Vec<OsString>, Error> {
    let mut options: Vec<OsString> = Vec::new();
    if scan.is_task {
        options.extend(TASK_OPTIONS.map(OsString::from));
    }
    options.extend(target::compiler_options(scan.cflags.as_deref())?);
    Ok(options)
}

/// The result of compiling a source.
enum Compiled {
    /// An object, with the code in it.
    Object,
    /// Only the code: the compiler understood it, but could not make an object.
    Code(Vec<Module>),
}

fn compile(scan: &Scan, source: &Path, language: Language, object: &Path) -> Result<Compiled, Error> {
    let toolkit = Toolkit::discover()?;
    let mut words = options(scan)?;
    // Last, so that these options apply.
    words.extend(["-O0".into(), "-g".into(), "-pthread".into(), "-c".into()]);
    words.push(source.into());
    let code = object.with_extension(format!("{}.code", std::process::id()));
    let mut environment = Vec::new();
    environment.extend(scan.is_task.then_some(ATOMIC_SECTIONS));
    environment.extend(code.to_str().map(|path| (EXPORT, path)));
    let is_made = target::compile(language, words, object, &toolkit, &environment);
    let exported = std::fs::read(&code);
    let _ = std::fs::remove_file(&code);
    match (is_made?, exported) {
        (true, _) => Ok(Compiled::Object),
        (false, Ok(exported)) => Ok(Compiled::Code(decode_all(&exported)?)),
        (false, Err(_)) => Err(Error::DoesNotCompile(source.to_path_buf())),
    }
}

impl Built {
    /// Returns true if it was linked by the user.
    pub fn is_program(&self) -> bool {
        self.is_program
    }

    /// Returns the program, linked with the stand-in for its inputs.
    pub fn executable(&self, program: &Program) -> Result<PathBuf, Error> {
        if self.is_program {
            return self.files[0].canonicalize().map_err(Error::file("find", &self.files[0]));
        }
        if let Some(source) = self.only_code.first() {
            return failed(&format!("no machine code can be made of `{}`", source.display()));
        }
        let toolkit = Toolkit::discover()?;
        let source = self.directory.join("inputs.c");
        files::write(&source, inputs::SOURCE.as_bytes())?;
        let is_clean = self.is_task && assumptions::leave_sections_clean(program);
        // Scans of other kinds may be using the same directory.
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
            return failed("the inputs do not compile");
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
            // Tasks declare kernel functions that are not defined. An execution that calls one ends there.
            words.push("-Wl,--unresolved-symbols=ignore-all".into());
        }
        if !target::compile(self.language, words, &program, &toolkit, &[])? {
            return failed("the program does not link");
        }
        program.canonicalize().map_err(Error::file("find", &program))
    }
}
