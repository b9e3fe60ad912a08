//! The program and its libraries as one address space.

use std::cell::{OnceCell, RefCell};
use std::ops::Range;
use std::path::{Path, PathBuf};

use racehunter_finding::Frame;
use rustc_hash::FxHashMap;

use crate::forms::Form;
use crate::image::Image;
use crate::inspect::{inspect_content, read};
use crate::paths::Paths;
use crate::source::{self, Access};
use crate::{Binary, SymbolsError};

/// Bytes of code around an address that are searched for a line.
const NEARBY: u64 = 256;

/// A variable, or the part of it at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSymbol {
    /// As the source would write it, with the path to the field as far as debug information gives it: `queue.count`,
    /// `table[3].next`. Without debug information, the name of the variable, `+` and the offset into it.
    pub name: String,
    /// Bytes from the start of the variable.
    pub offset: u64,
    /// Size of the whole variable.
    pub size: u64,
    /// True if each thread has its own.
    pub thread_local: bool,
    /// File that declares the variable, empty when unknown.
    pub file: String,
    /// Line of the declaration, 0 when unknown.
    pub line: u32,
    /// How to read the value there, if debug information says so.
    pub form: Option<Form>,
}

/// Symbols and debug information of one program.
///
/// Debug information is parsed once, on first use, and every answer is cached, so that looking up each line of a long
/// log is cheap. Addresses inside the executable are relative to its load address; all others are those of the running
/// process, see [`Symbols::add_module`].
pub struct Symbols {
    binary: Binary,
    executable: Image,
    modules: Vec<Module>,
    paths: Paths,
    frames: RefCell<FxHashMap<u64, Vec<Frame>>>,
    sources: RefCell<FxHashMap<String, Option<Vec<String>>>>,
}

/// A shared library of the process. It is opened on first use, because most are never needed.
struct Module {
    base: u64,
    end: u64,
    path: PathBuf,
    image: OnceCell<Option<Image>>,
}

impl Module {
    fn image(&self) -> Option<&Image> {
        self.image.get_or_init(|| Image::load(&self.path).ok()).as_ref()
    }

    fn name(&self) -> Option<String> {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned())
    }
}

impl Symbols {
    /// Opens an executable. File names below the working directory are shown relative to it.
    ///
    /// # Errors
    /// If the file cannot be read or is not an ELF file. Missing debug information is not an error.
    pub fn load(executable: &Path) -> Result<Self, SymbolsError> {
        let data = read(executable)?;
        let binary = inspect_content(executable, &data)?;
        Self::of(binary, &data)
    }

    /// Reads the executable if it can be hunted; otherwise returns what it is.
    ///
    /// # Errors
    /// If the file cannot be read or is damaged.
    pub fn load_huntable(executable: &Path) -> Result<Result<Self, Binary>, SymbolsError> {
        let data = read(executable)?;
        let binary = inspect_content(executable, &data)?;
        if binary.is_huntable() { Self::of(binary, &data).map(Ok) } else { Ok(Err(binary)) }
    }

    fn of(binary: Binary, data: &[u8]) -> Result<Self, SymbolsError> {
        let executable = Image::parse(&binary.path, data)?;
        Ok(Self {
            binary,
            executable,
            modules: Vec::new(),
            paths: Paths::new(std::env::current_dir().unwrap_or_default()),
            frames: RefCell::default(),
            sources: RefCell::default(),
        })
    }

    /// Adds a shared library that is loaded at `base` and ends before `end`.
    pub fn add_module(&mut self, base: u64, end: u64, path: impl Into<PathBuf>) {
        self.modules.push(Module { base, end, path: path.into(), image: OnceCell::new() });
        self.frames.get_mut().clear();
    }

    /// Adds a shared library by its load address alone; its length comes from its file. Does nothing if the library is
    /// already known or cannot be read.
    pub fn add_library(&mut self, base: u64, path: &Path) {
        if self.modules.iter().any(|module| module.base == base && module.path == path) {
            return;
        }
        if let Ok(image) = Image::load(path) {
            let module = Module { base, end: base + image.end, path: path.to_path_buf(), image: OnceCell::new() };
            // The latest one counts: another library may have been at the same address before.
            self.modules.insert(0, Module { image: OnceCell::from(Some(image)), ..module });
            self.frames.get_mut().clear();
        }
    }

    /// Returns what kind of file the executable is, and its identity.
    #[must_use]
    pub fn binary(&self) -> &Binary {
        &self.binary
    }

    /// Returns the frames of a return address, innermost first: more than one if functions were inlined, and always at
    /// least one, named `??` if nothing is known.
    #[must_use]
    pub fn frames(&self, code: u64) -> Vec<Frame> {
        if let Some(known) = self.frames.borrow().get(&code) {
            return known.clone();
        }
        let frames = self.look_up(code);
        self.frames.borrow_mut().insert(code, frames.clone());
        frames
    }

    fn look_up(&self, code: u64) -> Vec<Frame> {
        // The instruction of interest is the call before the return address, and may be the last of its line.
        let Some(call) = code.checked_sub(1) else { return vec![unknown(None)] };
        let (frames, library) = match self.in_executable(call) {
            Some(address) => (self.executable.frames(address, &self.paths), None),
            None => match self.module_of(call) {
                Some((module, address)) => (
                    module.image().map_or_else(Vec::new, |image| image.frames(address, &self.paths)),
                    module.path.file_name().map(|name| name.to_string_lossy().into_owned()),
                ),
                None => (Vec::new(), None),
            },
        };
        if frames.is_empty() { vec![unknown(library)] } else { frames }
    }

    /// Returns the nearest line that debug information has for the function of a return address, if the address itself
    /// has none: compilers give no line to code that they generate.
    #[must_use]
    pub fn nearest_line(&self, code: u64) -> Option<u32> {
        let unknown = self.frames(code).into_iter().next().filter(|frame| frame.line == 0 && !frame.file.is_empty())?;
        (1..=NEARBY).find_map(|distance| {
            let around = [code.checked_sub(distance), code.checked_add(distance)];
            around.into_iter().flatten().find_map(|code| {
                let frame = self.look_up(code).into_iter().next()?;
                let is_same = frame.function == unknown.function && frame.file == unknown.file;
                (is_same && frame.line > 0).then_some(frame.line)
            })
        })
    }

    /// Returns the plugin's description of a call that is not seen: the number of its effect, and a name. The place is
    /// in the section of the executable, or an address in a shared library.
    #[must_use]
    pub fn unseen(&self, place: u64) -> Option<(u8, String)> {
        if let Some(known) = self.executable.unseen(place) {
            return Some(known);
        }
        let (module, address) = self.module_of(place)?;
        let image = module.image()?;
        image.unseen(image.offset_in_unseen(address)?)
    }

    /// Returns the shared library that defines a function, by its file name. The one that is loaded first counts.
    #[must_use]
    pub fn library_of(&self, function: &str) -> Option<String> {
        let has = |module: &&Module| module.image().is_some_and(|image| image.has_function(function));
        self.modules.iter().find(has).and_then(Module::name)
    }

    /// Returns the shared library at an address, by its file name.
    #[must_use]
    pub fn library_at(&self, address: u64) -> Option<String> {
        if self.in_executable(address).is_some() {
            return None;
        }
        self.module_of(address).and_then(|(module, _)| module.name())
    }

    /// Returns the global variable at an address, down to the smallest field.
    #[must_use]
    pub fn data_symbol(&self, address: u64) -> Option<DataSymbol> {
        self.data_symbol_of(address, 1)
    }

    /// As [`Symbols::data_symbol`], for an access to `size` bytes: names the smallest part of the variable that holds
    /// all of them, so that copying a structure is not shown as an access to its first field.
    #[must_use]
    pub fn data_symbol_of(&self, address: u64, size: u64) -> Option<DataSymbol> {
        if let Some(address) = self.in_executable(address) {
            return self.executable.data_symbol(address, size, &self.paths);
        }
        let (module, address) = self.module_of(address)?;
        module.image()?.data_symbol(address, size, &self.paths)
    }

    /// Returns where the executable's global variables are, relative to its load address.
    pub fn globals(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        let first = self.executable.first;
        let relative = move |global: Range<u64>| Some(global.start.checked_sub(first)?..global.end.checked_sub(first)?);
        self.executable.globals().filter_map(relative)
    }

    /// Returns the executable's thread-local variable at an offset from the start of its block of thread-local memory.
    #[must_use]
    pub fn thread_local_of(&self, offset: u64, size: u64) -> Option<DataSymbol> {
        self.executable.thread_local(offset, size, &self.paths)
    }

    /// Returns how the source spells what is accessed at a frame's place: `q->count` for the line `q->count += 1;`.
    #[must_use]
    pub fn expression(&self, frame: &Frame, access: Access) -> Option<String> {
        let line = usize::try_from(frame.line.checked_sub(1)?).ok()?;
        let mut sources = self.sources.borrow_mut();
        let lines = sources.entry(frame.file.clone()).or_insert_with(|| source::lines(Path::new(&frame.file)));
        let name = source::expression(&frame.file, lines.as_ref()?.get(line)?, frame.column, access)?;
        match name.strip_prefix('*') {
            // `memcpy(q->name, ...)` works on the array itself, to which its name points.
            Some(array) if self.executable.is_array((&frame.function, frame.line), array) => Some(array.to_owned()),
            _ => Some(name),
        }
    }

    /// Returns false if `expression` at a frame's place is a number or the like, of which an access to `size` bytes in a library
    /// function is no part: `std::to_string(number)` writes a text.
    #[must_use]
    pub fn may_hold(&self, frame: &Frame, expression: &str, size: u64) -> bool {
        let whole = self.executable.plain_size((&frame.function, frame.line), expression);
        whole.is_none_or(|whole| whole == size)
    }

    /// Returns the source's name for the block that it allocates at a frame's place: `*q` for `q = malloc(sizeof *q);`.
    #[must_use]
    pub fn allocated_for(&self, frame: &Frame) -> Option<String> {
        let line = usize::try_from(frame.line.checked_sub(1)?).ok()?;
        let mut sources = self.sources.borrow_mut();
        let lines = sources.entry(frame.file.clone()).or_insert_with(|| source::lines(Path::new(&frame.file)));
        let pointer = source::assigned(lines.as_ref()?.get(line)?, frame.column)?;
        Some(format!("*{pointer}"))
    }

    /// Returns how an access to `size` bytes from `address` on reads the value of an expression at a frame's place.
    #[must_use]
    pub fn form_of(&self, frame: &Frame, expression: &str, address: u64, size: u64) -> Option<Form> {
        self.executable.form_of_expression((&frame.function, frame.line), expression, (address, size))
    }

    /// Returns the part that is meant, such as `q->count`, and how to read it, if `expression` at a frame's place names
    /// all of `*q` or `table[i]` but the access touches only some bytes of it. The access has `size` bytes, `offset`
    /// bytes into a heap block of `block` bytes.
    #[must_use]
    pub fn part_of(
        &self,
        frame: &Frame,
        expression: &str,
        (offset, size, block): (u64, u64, u64),
    ) -> Option<(String, Option<Form>)> {
        let function = (frame.function.as_str(), frame.line);
        let (path, form) = self.executable.part_of_expression(function, expression, (offset, size, block))?;
        let name = match (expression.strip_prefix('*'), path.strip_prefix('.')) {
            (Some(pointer), Some(member)) if !pointer.starts_with('*') => format!("{pointer}->{member}"),
            (Some(_), _) if !path.is_empty() => format!("({expression}){path}"),
            _ => format!("{expression}{path}"),
        };
        Some((name, form))
    }

    /// Returns the size of the elements that an expression such as `table[i].next` selects from, if it follows a
    /// pointer to them and none after that.
    #[must_use]
    pub fn element_size(&self, frame: &Frame, expression: &str) -> Option<u64> {
        self.executable.element_size((&frame.function, frame.line), expression)
    }

    /// Converts an address relative to the executable's load address to the file's own address, if it lies inside. The
    /// two differ in programs that are not position independent, whose files do not start at 0.
    fn in_executable(&self, address: u64) -> Option<u64> {
        let address = address.checked_add(self.executable.first)?;
        (address < self.executable.end).then_some(address)
    }

    fn module_of(&self, address: u64) -> Option<(&Module, u64)> {
        let module = self.modules.iter().find(|module| (module.base..module.end).contains(&address))?;
        Some((module, address - module.base))
    }
}

/// Returns the first frame that is the user's own: not in a header of the system or of the compiler. Falls back to the
/// innermost frame.
#[must_use]
pub fn own_frame(frames: &[Frame]) -> Option<usize> {
    let own = frames.iter().position(is_own);
    own.or(if frames.is_empty() { None } else { Some(0) })
}

/// Returns true if a frame is the user's own, by its file.
#[must_use]
pub fn is_own(frame: &Frame) -> bool {
    !frame.file.is_empty() && !is_system_file(&frame.file)
}

/// Returns true if a frame belongs to Rust's standard library, or to code that the compiler inserts between it and the
/// program.
#[must_use]
pub fn is_rust_library(frame: &Frame) -> bool {
    frame.file.starts_with("/rustc/") || frame.file.contains("/rustlib/src/") || frame.function == "__rust_try"
}

fn is_system_file(file: &str) -> bool {
    let system = ["/usr/include/", "/usr/lib/", "/usr/lib64/", "/lib/", "/rustc/"];
    system.iter().any(|prefix| file.starts_with(prefix)) || file.contains("/rustlib/src/") || file.contains("/sysdeps/")
}

fn unknown(library: Option<String>) -> Frame {
    let function = library.map_or_else(|| "??".to_owned(), |library| format!("?? ({library})"));
    Frame { function, file: String::new(), line: 0, column: 0 }
}
