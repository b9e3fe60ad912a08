//! Places, objects and locks in the terms of the source.

use crate::names::{is_object, without_numbers};
use crate::relevance::Topic;
use crate::threads::Threads;
use crate::unknown_object;
use crate::values::{self, Numbers};
use racehunter_explore::Execution;
use racehunter_finding::{Frame, Object, Site, Value, Waiting};
use racehunter_log::{
    Access, AccessMode, Address, Blockage, CodeAddress, Entry, Event, File, FileKind, FileOperation, LockMode,
    RaceAccess, ThreadId, Wait, entries,
};
use racehunter_symbols::source::Access as Spelling;
use racehunter_symbols::{DataSymbol, Form, Symbols, is_own, is_rust_library, own_frame};
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Maximum number of uses of an object that are searched for its name.
const TRIES: usize = 8;
/// Maximum number of entries that are searched for the stack of a thread that waits.
const SEARCHED: usize = 100_000;

/// The first megabytes of the stack of `main`, since programs start without address randomisation. Libraries end far
/// below.
const MAIN_STACK: Range<u64> = 0x7fff_ff80_0000..0x7fff_ffff_f000;

/// How to read values, by place and kind of access.
type Forms = HashMap<(u64, Access), Option<Form>>;

/// A block of the heap, and where the log has its allocation.
pub(crate) struct Block {
    start: u64,
    end: u64,
    at: usize,
}

/// Translates the log of one execution.
pub(crate) struct Places<'a> {
    pub(crate) symbols: &'a Symbols,
    pub(crate) load_address: u64,
    pub(crate) execution: &'a Execution,
    pub(crate) threads: &'a Threads,
    pub(crate) numbers: Numbers,
    /// Heap blocks in the log, collected on demand: there are few of them, but very many records.
    pub(crate) blocks: OnceCell<Vec<Block>>,
    /// How to read values, by code and access. Long executions repeat the same accesses, and each look-up walks through
    /// the debug information about types.
    pub(crate) forms: RefCell<Forms>,
    /// Variables that are part of the identity of the finding.
    pub(crate) variables: RefCell<Vec<String>>,
    /// What the finding is about.
    pub(crate) topic: RefCell<Topic>,
    /// Places whose line is not known, by the nearest line of the function.
    pub(crate) nearest: RefCell<BTreeSet<(String, String, u32)>>,
}

impl Places<'_> {
    /// Frames and locks of an entry's stack; without a stack the place alone.
    pub(crate) fn stack(&self, entry: Entry<'_>) -> (Vec<Frame>, Vec<u64>) {
        let stacks = &self.execution.stacks;
        let word = |at: usize| stacks.get(at).copied().unwrap_or(0) as usize;
        let at = entry.stack();
        if at == 0 {
            return (self.frames(entry.code().0), Vec::new());
        }
        let (frames, locks) = (word(at), word(at + 1));
        let slice = |from: usize, count: usize| stacks.get(from..from + count).unwrap_or(&[]);
        let mut frames: Vec<Frame> = slice(at + 2, frames).iter().flat_map(|&code| self.frames(code)).collect();
        // Every stack ends in the code that started the thread: the runtime, and in C++ also library code.
        frames.retain(|frame| !frame.function.starts_with("rh_") && !frame.function.starts_with("racehunter_rt::"));
        if let Some(last) = frames.iter().rposition(is_in_program) {
            frames.truncate(last + 1);
        }
        // Between two functions of a Rust program there may be ten of its library, which say nothing. The innermost
        // frames are kept: they show what the library itself was doing.
        if let Some(own) = frames.iter().position(is_own) {
            let mut number = 0;
            frames.retain(|frame| {
                number += 1;
                number <= own || !is_rust_library(frame)
            });
        }
        (frames, slice(at + 2 + word(at), locks).to_vec())
    }

    /// Returns the frames of a code address. A place without a line gets the nearest one of its function.
    fn frames(&self, code: u64) -> Vec<Frame> {
        let mut frames = self.symbols.frames(code);
        if let Some(frame) = frames.first_mut().filter(|frame| frame.line == 0 && !frame.file.is_empty())
            && let Some(line) = self.symbols.nearest_line(code)
        {
            frame.line = line;
            frame.column = 0;
            self.nearest.borrow_mut().insert((frame.file.clone(), frame.function.clone(), line));
        }
        frames
    }

    /// Returns true if the line of a place is the nearest known one rather than its own.
    pub(crate) fn is_nearest(&self, file: &str, function: &str, line: u32, column: u32) -> bool {
        column == 0 && self.nearest.borrow().contains(&(file.to_owned(), function.to_owned(), line))
    }

    /// Returns the place of an entry, with its stack and locks, and what is done there.
    pub(crate) fn site(&self, entry: Entry<'_>, access: &str, size: u32) -> Site {
        let (frames, locks) = self.stack(entry);
        let locks = locks.iter().map(|&lock| self.lock_name(lock)).collect();
        let mut site = self.site_of(frames);
        site.thread = self.threads.path(entry.thread());
        site.entry = self.threads.entry(entry.thread());
        site.access = access.to_owned();
        site.size = size;
        site.locks = locks;
        site.event = entry.number().0;
        site.value = self.value(entry);
        site
    }

    /// Returns the value that an access read or wrote.
    pub(crate) fn value(&self, entry: Entry<'_>) -> Option<Value> {
        let is_it = |other: Entry<'_>| {
            let place = |of: Entry<'_>| (of.number(), of.thread(), of.code());
            other.is_access() && place(other) == place(entry)
        };
        let at = self.execution.entries().position(is_it)?;
        let records = &self.execution.records;
        values::value(self, Entry::of(&records[at]), &records[at + 1..])
    }

    /// Returns true if the address belongs to a global, or to a known heap block. Stack contents left by foreign code
    /// differ from run to run.
    pub(crate) fn is_lasting(&self, address: u64) -> bool {
        self.symbols.data_symbol(address.wrapping_sub(self.load_address)).is_some() || self.block(address).is_some()
    }

    /// Returns the last block of the heap that holds an address, if the log knows it.
    fn block(&self, address: u64) -> Option<&Block> {
        let blocks = self.blocks.get_or_init(|| {
            let block = |(at, entry): (usize, Entry<'_>)| match entry.event() {
                Event::Allocated { block: Address(start), size, is_stack: false } => {
                    Some(Block { start, end: start.saturating_add(size.max(1)), at })
                }
                _ => None,
            };
            self.execution.entries().enumerate().filter_map(block).collect()
        });
        blocks.iter().rfind(|block| (block.start..block.end).contains(&address))
    }

    /// Returns the part of a heap block that an access touches, where the source names everything behind a pointer; and
    /// how to read it.
    fn part(&self, frame: &Frame, expression: &str, address: u64, size: u64) -> Option<(String, Option<Form>)> {
        let block = self.block(address)?;
        self.symbols.part_of(frame, expression, (address - block.start, size, block.end - block.start))
    }

    /// Returns how to read the value of an access.
    pub(crate) fn form(&self, code: u64, access: Access) -> Option<Form> {
        let key = (code, access);
        if let Some(known) = self.forms.borrow().get(&key) {
            return known.clone();
        }
        let form = self.find_form(code, access);
        self.forms.borrow_mut().insert(key, form.clone());
        form
    }

    fn find_form(&self, code: u64, access: Access) -> Option<Form> {
        let (address, size) = (access.address.0, access.size);
        if let Some(symbol) = self.symbols.data_symbol_of(address.wrapping_sub(self.load_address), size) {
            return symbol.form;
        }
        let frames = self.symbols.frames(code);
        // In library code, the access touches a part of what the user's line names.
        let frame = frames.first().filter(|_| own_frame(&frames) == Some(0))?;
        let Some(expression) = self.symbols.expression(frame, spelled_as(Some(access.mode))) else {
            return self.allocated_part(address, size)?.1;
        };
        let expression = expression.trim_start_matches('&');
        match self.part(frame, expression, address, size) {
            Some((_, form)) => form,
            None => self.symbols.form_of(frame, expression, address, size),
        }
    }

    /// Returns the part of a heap block that an access touches, by the block's name where it is allocated.
    pub(crate) fn allocated_part(&self, address: u64, size: u64) -> Option<(String, Option<Form>)> {
        let block = self.block(address)?;
        let (frames, _) = self.stack(Entry::of(&self.execution.records[block.at]));
        let frame = frames.get(own_frame(&frames)?)?;
        self.part(frame, &self.symbols.allocated_for(frame)?, address, size)
    }

    /// Returns a place that is known only by its code address.
    pub(crate) fn bare(&self, code: CodeAddress) -> Site {
        self.site_of(if code.is_known() { self.frames(code.0) } else { Vec::new() })
    }

    fn site_of(&self, frames: Vec<Frame>) -> Site {
        // An access inside an inlined library function is shown where the user's code calls it.
        let own = own_frame(&frames).unwrap_or(0);
        let stack: Vec<Frame> = frames.into_iter().skip(own).collect();
        let top = stack.first();
        Site {
            file: top.map_or_else(String::new, |frame| frame.file.clone()),
            line: top.map_or(0, |frame| frame.line),
            column: top.map_or(0, |frame| frame.column),
            function: top.map_or_else(|| "??".to_owned(), |frame| frame.function.clone()),
            thread: "main".to_owned(),
            entry: String::new(),
            access: String::new(),
            size: 0,
            locks: Vec::new(),
            stack,
            waits_for: None,
            event: 0,
            value: None,
        }
    }

    /// Notes the variable that a finding is about, by its name at one of the places: it is part of the identity. The
    /// index of an array element is not, because it depends on the schedule.
    pub(crate) fn note_variable(&self, address: u64, size: u64, site: &Site) {
        let relative = address.wrapping_sub(self.load_address);
        let is_of_executable = self.symbols.data_symbol_of(relative, size).is_some();
        let object = self.object(address, size, &[site]);
        let (is_found, is_heap) = (object.region == "global", object.region == "heap");
        // In a library it keeps its name in the source, so that ids do not change.
        let name = match is_found && !is_of_executable {
            true => self.spelled_at(&[site]).map(|(name, _)| name),
            false => Some(object.name),
        };
        let is_named = is_found || is_heap || self.spelled_at(&[site]).is_some();
        if let Some(name) = name.filter(|name| is_named && !name.starts_with("byte ")) {
            self.variables.borrow_mut().push(without_numbers(&name));
        }
    }

    /// Returns how the source spells what is accessed at one of the sites, and where.
    fn spelled_at<'s>(&self, sites: &[&'s Site]) -> Option<(String, &'s Frame)> {
        sites.iter().find_map(|site| {
            let access = if site.access.contains("read") { Spelling::Read } else { Spelling::Write };
            let frame = site.stack.first()?;
            self.symbols.expression(frame, access).map(|name| (name, frame))
        })
    }

    /// Returns the variable at an address: of the executable, or of a shared library.
    pub(crate) fn global(&self, address: u64, size: u64) -> Option<DataSymbol> {
        let own = self.symbols.data_symbol_of(address.wrapping_sub(self.load_address), size);
        own.or_else(|| self.symbols.data_symbol_of(address, size))
    }

    /// Returns the memory at an address: by its symbol, its allocation, or how the source calls it at one of the sites.
    pub(crate) fn object(&self, address: u64, size: u64, sites: &[&Site]) -> Object {
        let spelled = || self.spelled_at(sites);
        if let Some(symbol) = self.global(address, size) {
            return Object {
                name: symbol.name,
                size,
                region: "global".to_owned(),
                allocated: Vec::new(),
                element: None,
            };
        }
        let allocation = self.execution.entries().rev().find_map(|entry| match entry.event() {
            Event::Allocated { block: Address(start), size, is_stack } => {
                (start..start + size.max(1)).contains(&address).then_some((entry, start, size, is_stack))
            }
            _ => None,
        });
        let is_on_stack = allocation.is_some_and(|(.., is_stack)| is_stack) || MAIN_STACK.contains(&address);
        if let Some((entry, start, block_size, false)) = allocation {
            let (frames, _) = self.stack(entry);
            let own = own_frame(&frames).unwrap_or(0);
            let allocated = frames.into_iter().skip(own).collect();
            let at = address - start;
            let (name, element) = match spelled() {
                Some((name, frame)) => {
                    let each = self.symbols.element_size(frame, &name).filter(|each| 2 * each <= block_size);
                    let part = self.part(frame, &name, address, size).map(|(part, _)| part);
                    (part.unwrap_or(name), each.map(|each| at / each))
                }
                None => {
                    let part = self.allocated_part(address, size).map(|(part, _)| part);
                    (part.unwrap_or_else(|| format!("byte {at} of a block of {block_size}")), None)
                }
            };
            return Object { name, size, region: "heap".to_owned(), allocated, element };
        }
        match spelled() {
            // A local variable that another thread uses, if it is known to be on a stack.
            Some((name, _)) => {
                let region = if is_on_stack { "stack" } else { "unknown" };
                Object { name, size, region: region.to_owned(), allocated: Vec::new(), element: None }
            }
            None => unknown_object(format!("memory at {address:#x}"), size),
        }
    }

    /// Returns how the source calls a lock.
    pub(crate) fn lock_name(&self, address: u64) -> String {
        if let Some(symbol) = self.global(address, 1) {
            // The first field of a mutex is internal to the C library.
            return symbol.name.split(".__").next().unwrap_or(&symbol.name).trim_end_matches("._M_mutex").to_owned();
        }
        let is_use =
            |entry: &Entry<'_>| entry.code().is_known() && entry.event().synchronisation() == Some(Address(address));
        let used = self.execution.entries().filter(|entry| entry.is_operation() && is_use(entry));
        let named = used.take(TRIES).find_map(|entry| self.spelled(entry).map(|name| (entry, name)));
        let Some((first, name)) = named else { return format!("lock {address:#x}") };
        let name = name.trim_start_matches('&');
        // The same expression may name different locks at different times. Code of a library may be called for locks with
        // other names, and a wait on a condition variable also takes a lock.
        let is_like = |entry: &Entry<'_>| {
            entry.code() == first.code() && is_of_condition(&entry.event()) == is_of_condition(&first.event())
        };
        let (mut alike, mut others): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
        for entry in self.execution.entries().filter(is_like) {
            if let Some(Address(lock)) = entry.event().synchronisation()
                && !alike.contains(&lock)
                && !others.contains(&lock)
            {
                let has_name = self.spelled(entry).is_some_and(|spelled| spelled.trim_start_matches('&') == name);
                if has_name { alike.push(lock) } else { others.push(lock) }
            }
        }
        match alike.iter().position(|&lock| lock == address) {
            Some(at) if alike.len() > 1 => format!("{name} #{}", at + 1),
            _ => name.to_owned(),
        }
    }

    /// Returns the entry that says where a thread began to wait: the wait itself is logged without a stack.
    pub(crate) fn began<'e>(&'e self, entry: Entry<'e>) -> Entry<'e> {
        let is_it = |before: &Entry<'e>| before.thread() == entry.thread() && before.number() <= entry.number();
        let waits = |before: &Entry<'e>| is_it(before) && matches!(before.event(), Event::FutexWait { .. });
        let began = (entry.stack() == 0).then(|| self.execution.entries().rev().find(waits)).flatten();
        began.filter(|began| began.stack() != 0).unwrap_or(entry)
    }

    /// Returns true if it is known which line of the program an entry is about.
    pub(crate) fn is_placed(&self, entry: Entry<'_>) -> bool {
        entry.stack() != 0 || self.frames(entry.code().0).iter().any(is_own)
    }

    /// Returns the entry with the stack of a thread that begins to wait at a position of the log: the operation itself, which
    /// comes next if the wait ends, or the state of the thread at the end.
    pub(crate) fn with_stack(&self, at: usize) -> Entry<'_> {
        let records = &self.execution.records;
        let entry = Entry::of(&records[at]);
        let is_own = |other: &Entry<'_>| other.thread() == entry.thread() && other.stack() != 0;
        let later = entries(&records[at + 1..]).take(SEARCHED).find(is_own);
        later.filter(|later| later.code() == entry.code()).unwrap_or(entry)
    }

    /// Returns how the source calls what a thread waits for by a futex: the object of the user's call that leads to it, if a
    /// library is in between.
    pub(crate) fn futex(&self, entry: Entry<'_>) -> Option<String> {
        let (frames, _) = self.stack(self.began(entry));
        let own = own_frame(&frames).filter(|&own| frames.first().is_some_and(is_rust_library) && own > 0);
        let frame = own.and_then(|own| frames.get(own)).filter(|frame| is_in_program(frame))?;
        let called = self.symbols.expression(frame, Spelling::Call)?;
        Some(called.trim_start_matches('&').to_owned())
    }

    /// Returns how the user's code spells what an entry is about: at the place itself or, for library code, at the
    /// call.
    pub(crate) fn spelled(&self, entry: Entry<'_>) -> Option<String> {
        let (frames, _) = self.stack(entry);
        let own = own_frame(&frames)?;
        let frame = frames.get(own).filter(|frame| is_in_program(frame))?;
        let access = entry.access();
        if own != 0 {
            let may_hold = |name: &String| {
                access.is_none_or(|access| is_object(name) && self.symbols.may_hold(frame, name, access.size))
            };
            return self.symbols.expression(frame, Spelling::Call).filter(may_hold);
        }
        let name = self.symbols.expression(frame, spelled_as(access.map(|access| access.mode)))?;
        let part = access.and_then(|access| self.part(frame, &name, access.address.0, access.size));
        Some(part.map_or(name, |(part, _)| part))
    }

    /// Returns how the user's code spells what it frees. A block that a library frees belongs to something larger, such as a
    /// container, which lives on.
    pub(crate) fn freed(&self, entry: Entry<'_>) -> Option<String> {
        let (frames, _) = self.stack(entry);
        let frame = frames.first().filter(|frame| own_frame(&frames) == Some(0) && is_in_program(frame))?;
        let name = self.symbols.expression(frame, Spelling::Call)?;
        Some(name.trim_start_matches(['&', '*']).to_owned())
    }

    /// Returns what a thread waits for, for its site in a deadlock: the operation, the object, and the thread that
    /// would have to act.
    pub(crate) fn waiting(&self, on: &Blockage, entry: Entry<'_>) -> (&'static str, Waiting) {
        let owner = on.owner.map(|thread| self.threads.path(thread));
        let name = || self.lock_name(on.object);
        let (operation, object) = match on.wait {
            Wait::Mutex => ("lock", name()),
            Wait::ReadLock => ("read-lock", name()),
            Wait::WriteLock => ("write-lock", name()),
            Wait::Condition => ("wait", name()),
            Wait::Semaphore => ("sem-wait", name()),
            Wait::Barrier => ("barrier-wait", name()),
            Wait::Join => ("join", self.threads.label(on.target())),
            Wait::Once => ("once", "an initialisation".to_owned()),
            Wait::Futex => ("futex-wait", self.futex(entry).unwrap_or_else(|| "a futex".to_owned())),
            Wait::Sleep => ("sleep", "time".to_owned()),
            Wait::File => ("io", on.file().map_or_else(String::new, descriptor)),
            Wait::Signal => ("signal-wait", "a signal".to_owned()),
            Wait::Child => ("child-wait", "a child process".to_owned()),
            Wait::Timer => ("timer", "a timer".to_owned()),
            Wait::Outside => ("outside", "something outside the program".to_owned()),
            Wait::Partner => ("hold", "a conflicting access".to_owned()),
            Wait::Change => ("spin", "memory to change".to_owned()),
            Wait::Nothing => ("", String::new()),
        };
        (operation, Waiting { object, owner })
    }

    /// Returns what a thread waits for, in the words of a step.
    pub(crate) fn awaited(&self, on: &Blockage, entry: Entry<'_>) -> String {
        let held_by = |thread: ThreadId| format!(", held by {}", Threads::short(thread));
        let owner = || on.owner.map_or_else(String::new, held_by);
        let name = || self.lock_name(on.object);
        match on.wait {
            Wait::Mutex => format!("mutex `{}`{}", name(), owner()),
            Wait::ReadLock => format!("read lock `{}`{}", name(), owner()),
            Wait::WriteLock => format!("write lock `{}`{}", name(), owner()),
            Wait::Condition => format!("condition variable `{}`", name()),
            Wait::Semaphore => format!("semaphore `{}`", name()),
            Wait::Barrier => format!("barrier `{}`", name()),
            Wait::Join => format!("the end of {}", Threads::short(on.target())),
            Wait::Once => format!("an initialisation that {} runs", owner().trim_start_matches(", held by ")),
            Wait::Futex => self.futex(entry).map_or_else(|| "a futex".to_owned(), |name| format!("`{name}`")),
            Wait::Sleep => "time to pass".to_owned(),
            Wait::File => on.file().map_or_else(|| "input or output".to_owned(), awaited_file),
            Wait::Signal => "a signal".to_owned(),
            Wait::Child => "the end of a child process".to_owned(),
            Wait::Timer => "a timer to be set".to_owned(),
            Wait::Outside => "something outside the program".to_owned(),
            Wait::Partner => "a conflicting access".to_owned(),
            Wait::Change => "memory to change".to_owned(),
            Wait::Nothing => "nothing".to_owned(),
        }
    }
}

/// Returns a descriptor and what it leads to: `pipe fd 3`.
fn descriptor(file: File) -> String {
    let kind = match file.kind {
        FileKind::Other => "",
        FileKind::Pipe => "pipe ",
        FileKind::Socket => "socket ",
        FileKind::Event => "event ",
        FileKind::Set => "epoll ",
        FileKind::Terminal => "terminal ",
        FileKind::Lock => "file ",
        FileKind::Several => return "several file descriptors".to_owned(),
    };
    if file.descriptor < 0 { kind.trim_end().to_owned() } else { format!("{kind}fd {}", file.descriptor) }
}

/// Returns what a thread waits for that operates on a descriptor.
fn awaited_file(file: File) -> String {
    let place = descriptor(file);
    match (file.operation, file.kind) {
        (FileOperation::Write, _) => format!("room in {place}"),
        (FileOperation::Accept, _) => format!("a connection on {place}"),
        (FileOperation::Connect, _) => format!("{place} to be connected"),
        (FileOperation::Lock, _) => format!("the lock of {place}"),
        (FileOperation::Open, _) => "the other end of a FIFO to be opened".to_owned(),
        (_, FileKind::Several) => "one of several file descriptors".to_owned(),
        _ => format!("input on {place}"),
    }
}

/// Returns what a thread did with a descriptor.
pub(crate) fn file_step(file: File, done: bool) -> String {
    let place = descriptor(file);
    let step = match file.operation {
        FileOperation::Read => format!("read from {place}"),
        FileOperation::Write => format!("write to {place}"),
        FileOperation::Accept => format!("accept a connection on {place}"),
        FileOperation::Connect => format!("connect {place}"),
        FileOperation::Close => format!("close {place}"),
        FileOperation::Shutdown => format!("shut down {place}"),
        FileOperation::Poll => format!("poll {place}"),
        FileOperation::Lock => format!("lock {place}"),
        FileOperation::Unlock => format!("unlock {place}"),
        FileOperation::Open => "open a FIFO".to_owned(),
        FileOperation::Child => "wait for a child process".to_owned(),
        FileOperation::Change => format!("change {place}"),
        FileOperation::None => "input or output".to_owned(),
    };
    if done { step } else { format!("{step}, in vain") }
}

/// Returns true for operations on condition variables.
const fn is_of_condition(event: &Event) -> bool {
    matches!(event, Event::Wait { .. } | Event::WaitEnd { .. } | Event::Signal { .. } | Event::Broadcast { .. })
}

/// Returns true if the frame is the user's own code.
pub(crate) fn is_in_program(frame: &Frame) -> bool {
    !frame.file.is_empty() && !frame.file.starts_with("/usr/") && !is_rust_library(frame)
}

/// Returns what kind of expression to look for in the source.
fn spelled_as(mode: Option<AccessMode>) -> Spelling {
    match mode {
        Some(AccessMode::Read | AccessMode::ReadRange) => Spelling::Read,
        Some(AccessMode::Write | AccessMode::WriteRange) => Spelling::Write,
        _ => Spelling::Call,
    }
}

/// What destroys a synchronisation object, in JSON and reports.
pub(crate) const DESTROY: &str = "destroy";

/// Returns the name of an operation in JSON and reports.
pub(crate) fn operation_name(event: &Event) -> &'static str {
    match event {
        Event::Access(access) => mode_name(access.mode),
        Event::Acquire { mode: LockMode::Mutex | LockMode::Write, .. } => "lock",
        Event::Acquire { mode: LockMode::Read, .. } => "read-lock",
        Event::Release { .. } => "unlock",
        Event::Wait { .. } => "wait",
        Event::Signal { .. } | Event::Broadcast { .. } => "signal",
        Event::SemaphoreWait { .. } => "decrement",
        Event::SemaphorePost { .. } => "increment",
        Event::BarrierArrive { .. } => "arrive",
        Event::Lifetime { .. } => DESTROY,
        Event::Initialised { .. } => "initialise",
        Event::Join { .. } => "join",
        Event::Detach { .. } => "detach",
        Event::Create { .. } => "create",
        _ => "",
    }
}

/// Returns the name of what one side of a race did.
pub(crate) fn race_access_name(access: RaceAccess) -> &'static str {
    match access {
        RaceAccess::Access(mode) => mode_name(mode),
        RaceAccess::ThreadEnd | RaceAccess::Unknown => "",
    }
}

fn mode_name(mode: AccessMode) -> &'static str {
    match mode {
        AccessMode::Read | AccessMode::ReadRange => "read",
        AccessMode::Write | AccessMode::WriteRange => "write",
        AccessMode::AtomicRead => "atomic-read",
        AccessMode::AtomicWrite => "atomic-write",
        AccessMode::AtomicUpdate => "atomic-update",
        AccessMode::Free => "free",
    }
}
