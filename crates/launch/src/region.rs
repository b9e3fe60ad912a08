//! The controller's view of the memory that it shares with a fork server.

use crate::processes::{Backend, Settings};
use crate::results::Unread;
use crate::stream::Stream;
use crate::wire;
use racehunter_abi::control::{
    BACKEND_FIBERS, BACKEND_THREADS, Checksum, FLAG_DEBUG, Header, LIBRARIES, LIBRARIES_OFFSET, LOG_OFFSET,
    LOG_RECORDS, Library, MAGIC, OUTCOME_ASSERTION, OUTCOME_NOT_FREE, OUTCOME_UNMODELLED, PLAN_BYTES, REGION_SIZE,
    SELECTED, SELECTED_OFFSET, SITES, SITES_OFFSET, SLOTS, SLOTS_OFFSET, STACK_WORDS, STACKS_OFFSET, SWITCHES,
    SWITCHES_OFFSET, Slot, Trouble,
};
use racehunter_abi::{FORMAT_VERSION, RawRecord, Record, Switch};
use racehunter_explore::{Observe, Plan};
use racehunter_log::EventNumber;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr;

/// Number of bytes of the log area whose memory is kept between two requests.
pub(crate) const KEPT: usize = 16 << 20;

/// One mapped control region.
///
/// The target can write anything anywhere in it at any time, deliberately or not: everything is read as plain numbers, by
/// volatile reads, and checked.
pub(crate) struct Region {
    base: *mut u8,
    file: File,
    /// What was written, for comparison with the contents afterwards.
    written: Written,
    /// Nanoseconds for which threads are held in free-running executions.
    pub(crate) patience: u64,
}

// SAFETY: the mapping belongs to the region and can be used from any one thread at a time.
unsafe impl Send for Region {}

/// What the controller has written into a region.
#[derive(Default)]
struct Written {
    /// The header, once the server has filled in its part.
    header: Option<Header>,
    /// The plans of the request, one per slot.
    plans: Vec<Box<[u8]>>,
    switches: Vec<Switch>,
    selected: Vec<u32>,
    flags: Vec<u8>,
    /// Number of plans so far.
    nonce: u64,
}

impl Written {
    fn forget_plans(&mut self) {
        self.plans.clear();
        self.switches.clear();
        self.selected.clear();
    }

    fn next_nonce(&mut self) -> u64 {
        self.nonce += 1;
        self.nonce
    }
}

/// Returns whether the server and its executions can have changed the header in this way.
fn is_plausible(written: &Header, found: &Header) -> bool {
    let fixed = |of: &Header| {
        let Header { magic, version, runtime_version, executable, sites_epoch, pool, preparatory, once, .. } = *of;
        let Header { backend, shadow, shadow_size, shared, .. } = *of;
        let set = (sites_epoch, pool, preparatory, once, backend, shared);
        (magic, version, runtime_version, executable, shadow, shadow_size, set)
    };
    fixed(written) == fixed(found)
        && (written.sites..=SITES as u32).contains(&found.sites)
        && found.loops <= 1
        && found.outside <= 1
        && found.preparing <= found.preparatory
        && found.running < SLOTS as u32
        && found.requested <= SLOTS as u32
        && found.next <= SLOTS as u32
        && found.begun <= SLOTS as u32
        && found.trouble <= Trouble::Region as u32
        && found.log_used <= LOG_RECORDS as u64
        && found.stack_used <= STACK_WORDS as u64
        && found.libraries as usize <= LIBRARIES
}

/// Returns plain numbers without padding as bytes.
fn as_bytes<T: Copy>(numbers: &[T]) -> &[u8] {
    // SAFETY: used for `u32` and `Switch` only, which have no padding.
    unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
}

impl Region {
    /// Creates a region.
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: plain system calls on a file of our own; the mapping is checked.
        unsafe {
            let file = match libc::memfd_create(c"racehunter".as_ptr(), libc::MFD_CLOEXEC) {
                fd if fd < 0 => return Err(io::Error::last_os_error()),
                fd => File::from_raw_fd(fd),
            };
            file.set_len(REGION_SIZE as u64)?;
            let fd = file.as_raw_fd();
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
            let base = libc::mmap(ptr::null_mut(), REGION_SIZE, protection, flags, fd, 0);
            if base == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            let region = Self { base: base.cast(), file, written: Written::default(), patience: 0 };
            (*region.header()).magic = MAGIC;
            (*region.header()).version = FORMAT_VERSION;
            Ok(region)
        }
    }

    pub(crate) fn fd(&self) -> i32 {
        self.file.as_raw_fd()
    }

    /// Returns the header. It is valid as long as the region; fields must be read one by one.
    pub(crate) fn header(&self) -> *mut Header {
        self.base.cast()
    }

    fn at(&self, offset: usize) -> *mut u8 {
        // SAFETY: all offsets are constants within the mapping.
        unsafe { self.base.add(offset) }
    }

    fn slot(&self, index: usize) -> *mut Slot {
        assert!(index < SLOTS);
        // SAFETY: within the slot area.
        unsafe { self.at(SLOTS_OFFSET).cast::<Slot>().add(index) }
    }

    /// Returns a copy of a slot, without the text that most executions leave empty. All of its fields are numbers, so any content
    /// is valid.
    pub(crate) fn read_slot(&self, index: usize) -> Slot {
        let mut slot = Slot::empty();
        let shared = self.slot(index);
        macro_rules! read {
            ($($field:ident)*) => {
                // SAFETY: `shared` is in bounds and aligned.
                $(slot.$field = unsafe { ptr::read_volatile(&raw const (*shared).$field) };)*
            };
        }
        // The slot is in memory that the program can write to, and each field is read once.
        read!(flags nonce state outcome status signal fault events switch_total log log_count threads current notes line);
        read!(diverged_at races elapsed cpu_us max_rss_kib output checksum seal end_seal);
        if matches!(slot.outcome, OUTCOME_ASSERTION | OUTCOME_UNMODELLED | OUTCOME_NOT_FREE) {
            read!(message file);
        }
        slot
    }

    /// Remembers what the server wrote about itself, which must not change from now on.
    pub(crate) fn remember_server(&mut self) {
        self.written.header = Some(self.read_header());
    }

    /// Writes the settings of a request, and drops the plans of the last one.
    pub(crate) fn begin_request(&mut self, settings: Settings) {
        let Settings { backend, pool, preparatory, once, shared, loops, outside } = settings;
        let backend = match backend {
            Backend::Fibers => BACKEND_FIBERS,
            Backend::Threads => BACKEND_THREADS,
        };
        let shared = shared.bits();
        self.written.forget_plans();
        let header = self.header();
        // SAFETY: the header is mapped; the server reads these fields only after the request.
        unsafe {
            (*header).backend = backend;
            (*header).pool = pool;
            (*header).preparatory = preparatory;
            (*header).shared = shared;
            (*header).once = once.into();
            if loops {
                (*header).loops = 1;
            }
            if outside {
                (*header).outside = 1;
            }
            // The server sets these too. What the last request has left there is not of this one.
            ((*header).running, (*header).next, (*header).begun, (*header).preparing) = (0, 0, 0, 0);
        }
        if let Some(written) = &mut self.written.header {
            (written.backend, written.pool, written.preparatory) = (backend, pool, preparatory);
            (written.once, written.shared) = (once.into(), shared);
        }
    }

    /// Returns whether everything that the controller wrote is unchanged, and the rest is plausible.
    pub(crate) fn is_intact(&self) -> bool {
        let Written { header, plans, switches, selected, flags, .. } = &self.written;
        let bytes = |offset: usize, len: usize| {
            // SAFETY: within the mapping. The program may still be writing there; any bytes are valid.
            unsafe { std::slice::from_raw_parts(self.at(offset).cast_const(), len) }
        };
        let is_same = |offset: usize, written: &[u8]| bytes(offset, written.len()) == written;
        header.as_ref().is_none_or(|written| is_plausible(written, &self.read_header()))
            && plans.iter().enumerate().all(|(index, plan)| is_same(SLOTS_OFFSET + index * size_of::<Slot>(), plan))
            && is_same(SWITCHES_OFFSET, as_bytes(switches))
            && is_same(SELECTED_OFFSET, as_bytes(selected))
            && is_same(SITES_OFFSET, flags)
    }

    /// Returns where the output of a slot starts.
    pub(crate) fn output_of(&self, index: usize) -> u64 {
        // SAFETY: as above.
        unsafe { ptr::read_volatile(&raw const (*self.slot(index)).output) }
    }

    pub(crate) fn read_header(&self) -> Header {
        // SAFETY: the header is at the start of the mapping.
        unsafe { ptr::read_volatile(self.header()) }
    }

    /// Returns the libraries that executions have loaded: load address and path.
    pub(crate) fn libraries(&self) -> Vec<(u64, PathBuf)> {
        let count = (self.read_header().libraries as usize).min(LIBRARIES);
        (0..count)
            .map(|i| {
                // SAFETY: within the table; all of its fields are numbers.
                let library = unsafe { ptr::read_volatile(self.at(LIBRARIES_OFFSET).cast::<Library>().add(i)) };
                let path = library.path.split(|&byte| byte == 0).next().unwrap_or_default();
                (library.base, PathBuf::from(OsStr::from_bytes(path)))
            })
            // Other kinds of files (a pipe, a device) must not be opened.
            .filter(|(_, path)| path.is_absolute() && path.is_file())
            .collect()
    }

    /// Returns whether this number of further switches fits.
    pub(crate) fn has_room(&self, switches: usize) -> bool {
        self.written.switches.len() + switches <= SWITCHES
    }

    /// Writes the sites that a plan observes. Returns where, if there was room. Otherwise the plan observes all.
    fn write_selected(&mut self, plan: &Plan) -> Option<(u32, u32)> {
        let looks_closer = plan.observe == Observe::Everything || plan.explain.is_some();
        let selected = plan.select.as_ref().filter(|_| !looks_closer)?;
        let (first, count) = (self.written.selected.len(), selected.len());
        if first + count > SELECTED {
            return None;
        }
        // SAFETY: the area has room for them.
        unsafe {
            let area = self.at(SELECTED_OFFSET).cast::<u32>();
            ptr::copy_nonoverlapping(selected.as_ptr(), area.add(first), count);
        }
        self.written.selected.extend_from_slice(selected);
        Some((first as u32, count as u32))
    }

    /// Writes a plan into the next slot of the request. There must be room for its switches.
    pub(crate) fn write_plan(&mut self, index: usize, plan: &Plan, snapshot: Option<(EventNumber, u32)>) {
        let first = self.written.switches.len();
        assert!(self.has_room(plan.switches.len()));
        let context = wire::Context {
            first_switch: first as u32,
            selected: self.write_selected(plan),
            snapshot: snapshot.unwrap_or_default(),
            free_patience: self.patience,
            nonce: self.written.next_nonce(),
        };
        let filled = wire::encode(plan, &context);
        // SAFETY: the switch area has room for the switches, and the slot is in bounds. A plan has no padding, so all of its
        // bytes are initialised.
        unsafe {
            let area = self.at(SWITCHES_OFFSET).cast::<Switch>();
            ptr::copy_nonoverlapping(plan.switches.as_ptr(), area.add(first), plan.switches.len());
            let slot = self.slot(index);
            ptr::write(slot, filled);
            let plan_bytes = std::slice::from_raw_parts(slot.cast::<u8>().cast_const(), PLAN_BYTES);
            self.written.plans.truncate(index);
            self.written.plans.push(plan_bytes.into());
        }
        self.written.switches.extend_from_slice(&plan.switches);
    }

    /// Empties the log. A free-running process can end in the middle of a record, and older contents must not be taken for it.
    pub(crate) fn wipe_log(&self) {
        self.punch(LOG_OFFSET, LOG_OFFSET + LOG_RECORDS * size_of::<Record>());
    }

    /// Marks the plan of a slot to be followed under a debugger.
    pub(crate) fn debug(&mut self, index: usize) {
        // SAFETY: the slot is in bounds.
        unsafe { (*self.slot(index)).flags |= FLAG_DEBUG };
    }

    /// Sets the flag bytes of all sites.
    pub(crate) fn write_flags(&mut self, flags: &[u8]) {
        // SAFETY: at most `SITES` bytes are written to an area of that size.
        unsafe {
            ptr::copy_nonoverlapping(flags.as_ptr(), self.at(SITES_OFFSET), flags.len().min(SITES));
            (*self.header()).sites_epoch += 1;
        }
        self.written.flags.clear();
        self.written.flags.extend_from_slice(&flags[..flags.len().min(SITES)]);
        if let Some(header) = &mut self.written.header {
            header.sites_epoch += 1;
        }
    }

    /// Returns the valid records among `first .. first + count`.
    pub(crate) fn read_log(&self, first: u64, count: u64) -> Vec<Record> {
        self.raw_log(first, count).filter_map(RawRecord::checked).collect()
    }

    /// Returns the records if they are all valid and match the checksum, and whether any of them has a stack. Stops reading as
    /// soon as `is_late`. Reuses the memory of `spare`.
    pub(crate) fn read_sealed_log(
        &self,
        first: u64,
        count: u64,
        checksum: u64,
        is_late: impl Fn() -> bool,
        spare: &mut Vec<Vec<Record>>,
    ) -> Result<(Vec<Record>, bool), Unread> {
        /// Number of records between two looks at the clock.
        const STRETCH: usize = 1 << 14;
        if first.checked_add(count).is_none_or(|end| end > LOG_RECORDS as u64) {
            return Err(Unread::Damaged);
        }
        let mut found = Checksum::default();
        let mut records = spare.pop().unwrap_or_default();
        records.clear();
        if records.capacity() < count as usize {
            // The next log may be a little longer. To make room anew takes time, since the kernel clears the memory.
            records = Vec::with_capacity((count + count / 8) as usize);
        }
        let mut stacks = 0;
        for from in (first..first + count).step_by(STRETCH) {
            if is_late() {
                return Err(Unread::OutOfTime);
            }
            for raw in self.raw_log(from, (first + count - from).min(STRETCH as u64)) {
                let record = raw.checked().ok_or(Unread::Damaged)?;
                found = found.with(&record);
                stacks |= record.stack;
                records.push(record);
            }
        }
        if found.0 == checksum { Ok((records, stacks != 0)) } else { Err(Unread::Damaged) }
    }

    fn raw_log(&self, first: u64, count: u64) -> impl Iterator<Item = RawRecord> {
        let first = usize::try_from(first).unwrap_or(LOG_RECORDS).min(LOG_RECORDS);
        let count = usize::try_from(count).unwrap_or(LOG_RECORDS).min(LOG_RECORDS - first);
        let area = self.at(LOG_OFFSET).cast::<RawRecord>();
        // SAFETY: within the log area.
        (first..first + count).map(move |i| unsafe { ptr::read_volatile(area.add(i)) })
    }

    /// Returns the stack at a word offset: its frames and locks, as the runtime wrote them.
    pub(crate) fn read_stack(&self, offset: u32) -> Option<(Vec<u64>, Vec<u64>)> {
        const PLAUSIBLE: u64 = 1024;
        let word = |i: usize| {
            // SAFETY: bounds are checked here.
            (i < STACK_WORDS).then(|| unsafe { ptr::read_volatile(self.at(STACKS_OFFSET).cast::<u64>().add(i)) })
        };
        let at = offset as usize;
        let (frames, locks) = (word(at)?, word(at + 1)?);
        if frames > PLAUSIBLE || locks > PLAUSIBLE {
            return None;
        }
        let words = |from: usize, count: u64| (from..from + count as usize).map(word).collect::<Option<Vec<u64>>>();
        Some((words(at + 2, frames)?, words(at + 2 + frames as usize, locks)?))
    }

    fn punch(&self, from: usize, to: usize) {
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: the file is ours; within it the range is that of the log.
        unsafe { libc::fallocate(self.fd(), mode, from as i64, (to - from) as i64) };
    }

    /// Starts to stream the log of the next request. The stream must not outlive the region.
    pub(crate) fn stream(&self) -> Stream {
        // SAFETY: both are within the mapping, and the program waits for a request.
        unsafe { Stream::begin(self.header(), self.at(LOG_OFFSET).cast()) }
    }

    /// Releases the memory of a log that has become large.
    pub(crate) fn trim(&mut self) {
        let used = (self.read_header().log_used as usize).min(LOG_RECORDS) * size_of::<Record>();
        if used > KEPT {
            self.punch(LOG_OFFSET + KEPT, LOG_OFFSET + LOG_RECORDS * size_of::<Record>());
        }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping was created in `new` and is not used afterwards.
        unsafe { libc::munmap(self.base.cast(), REGION_SIZE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use racehunter_abi::control::{MESSAGE, OUTCOME_EXITED};

    /// A result in which no two fields are alike.
    fn result(outcome: u32) -> Slot {
        Slot {
            flags: 1,
            nonce: 2,
            state: 3,
            outcome,
            status: 4,
            signal: 5,
            fault: 6,
            events: 7,
            switch_total: 8,
            log: 9,
            log_count: 10,
            threads: 11,
            current: 12,
            notes: 13,
            line: 14,
            diverged_at: 15,
            races: 16,
            elapsed: 17,
            cpu_us: 18,
            max_rss_kib: 19,
            output: 20,
            message: [21; MESSAGE],
            file: [22; MESSAGE],
            checksum: 23,
            seal: 24,
            end_seal: 25,
            ..Slot::empty()
        }
    }

    #[test]
    fn a_result_is_read_whole_and_its_text_where_there_is_one() {
        let region = Region::new().expect("memory");
        for (outcome, has_text) in [(OUTCOME_EXITED, false), (OUTCOME_ASSERTION, true), (OUTCOME_UNMODELLED, true)] {
            let written = result(outcome);
            // SAFETY: the slot is in bounds, and nothing else uses the region.
            unsafe { ptr::write(region.slot(7), written) };
            let read = region.read_slot(7);
            let without_text = |slot: Slot| format!("{:?}", Slot { message: [0; MESSAGE], file: [0; MESSAGE], ..slot });
            assert_eq!(without_text(read), without_text(written));
            assert_eq!((read.message, read.file) == (written.message, written.file), has_text);
            assert_eq!(read.seal_of(), written.seal_of());
        }
    }
}
