//! Writes records and call stacks into the control region.

pub(crate) mod brief;
mod ring;

use crate::thread::{__rh_stack, CURRENT, Frame, Thread, thread};
use crate::{Global, schedule, server, sys, track, values};
use racehunter_abi::control::{
    Checksum, FLAG_SELECTIVE, FLAG_STACKS, LOG_RECORDS, NOTE_LOG_FULL, NOTE_UNCONTROLLED, RING_PIECE, STACK_WORDS,
};
use racehunter_abi::{CodeAddress, Escape, EventNumber, Kind, Record, ThreadId};
use racehunter_machine::MAX_HELD;

/// Maximum number of frames of one call stack.
const MAX_FRAMES: usize = 64;

/// Where the next record goes, null if nothing is logged.
#[unsafe(link_section = ".data.racehunter")]
static NEXT: Global<*mut Record> = Global::new(core::ptr::null_mut());
/// The index where the log of this execution begins. The program can overwrite the region; it would have to find this
/// copy.
#[unsafe(link_section = ".data.racehunter")]
static FROM: Global<u64> = Global::new(0);
/// The checksum of the log, by which the controller checks that it is intact.
#[unsafe(link_section = ".data.racehunter")]
static CHECKSUM: Global<Checksum> = Global::new(Checksum(0));
/// Bits of `NOTE_` that the end of the execution must not miss.
#[unsafe(link_section = ".data.racehunter")]
static NOTES: Global<u32> = Global::new(0);
/// The end of the prepared memory; [`make_room`] is called before a record goes beyond it.
#[unsafe(link_section = ".data.racehunter")]
static END: Global<*mut Record> = Global::new(core::ptr::null_mut());
/// Number of records up to the first such end. Short executions do not reach it.
const FIRST: usize = 512;
/// Maximum number of records for which the kernel makes room at a time.
const MOST_AT_ONCE: usize = 16 << 10;

/// Starts the log of a slot at the current end of the region's log.
pub(crate) unsafe fn begin() {
    let header = server::header();
    if header.is_null() {
        return;
    }
    let slot = server::slot();
    // The previous execution may have overwritten the region. The controller notices that.
    let streams = ring::begin();
    FROM.set(if streams { 0 } else { (*header).log_used.min(LOG_RECORDS as u64) });
    CHECKSUM.set(Checksum::default());
    NOTES.set(0);
    EXPECTED.set(NOTHING);
    (*slot).log = FROM.get();
    (*slot).log_count = 0;
    brief::begin();
    NEXT.set(server::log_area().add(FROM.get() as usize));
    let prepared = if streams { RING_PIECE } else { FIRST };
    END.set(NEXT.get().add(prepared).min(server::log_area().add(LOG_RECORDS)));
    values::begin();
}

/// Stops logging.
pub(crate) fn stop() {
    NEXT.set(core::ptr::null_mut());
}

/// Publishes how much was logged. Safe to call at any time.
pub(crate) unsafe fn flush() {
    if NEXT.get().is_null() {
        return;
    }
    if let Some(passed) = brief::rest() {
        append(passed);
    }
    let slot = server::slot();
    (*slot).log = FROM.get();
    (*slot).checksum = CHECKSUM.get().0;
    (*slot).notes |= NOTES.get();
    if ring::is_on() {
        let in_piece = RING_PIECE - END.get().offset_from(NEXT.get()) as usize;
        (*slot).log_count = ring::position(in_piece);
        ring::publish((*slot).log_count);
        return;
    }
    let used = NEXT.get().offset_from(server::log_area()) as u64;
    (*slot).log_count = used - FROM.get();
    (*server::header()).log_used = used;
}

/// Returns the index of the first record, and the number of records so far. Not for streamed logs, which belong to plans that
/// observe the code: their executions are neither copied nor shortened.
pub(crate) unsafe fn extent() -> (u64, u64) {
    (FROM.get(), NEXT.get().offset_from(server::log_area()) as u64 - FROM.get())
}

/// Continues as another slot from a snapshot: copies the records so far to that slot's own part of the log.
pub(crate) unsafe fn fork_from(first: u64, count: u64) {
    let (checksum, notes, left_out) = (CHECKSUM.get(), NOTES.get(), brief::state());
    begin();
    brief::go_on(left_out);
    CHECKSUM.set(checksum);
    NOTES.set(notes);
    if FROM.get() + count > LOG_RECORDS as u64 {
        return note(NOTE_LOG_FULL);
    }
    core::ptr::copy_nonoverlapping(server::log_area().add(first as usize), NEXT.get(), count as usize);
    NEXT.set(NEXT.get().add(count as usize));
}

/// Returns the `NOTE_` bits so far.
pub(crate) fn notes() -> u32 {
    NOTES.get()
}

/// Returns the records so far.
pub(crate) unsafe fn records() -> &'static [Record] {
    let (first, count) = extent();
    core::slice::from_raw_parts(server::log_area().add(first as usize), count as usize)
}

/// Begins the log of the current slot with these records and notes.
pub(crate) unsafe fn begin_with(records: impl Iterator<Item = Record>, notes: u32) {
    begin();
    NOTES.set(notes);
    records.for_each(|record| _ = append(record));
}

/// Keeps only some of the records so far. None of them may concern values that are yet to come.
pub(crate) unsafe fn retain(mut keeps: impl FnMut(&Record) -> bool) {
    let (first, count) = extent();
    let from = server::log_area().add(first as usize);
    NEXT.set(from);
    CHECKSUM.set(Checksum::default());
    for i in 0..count as usize {
        // The write position is never ahead of the read position.
        let record = *from.add(i);
        if keeps(&record) {
            append(record);
        }
    }
}

/// Notes something that the controller must know about the execution.
pub(crate) unsafe fn note(bits: u32) {
    NOTES.set(NOTES.get() | bits);
    (*server::slot()).notes |= bits;
}

/// Returns where the next record goes.
pub(crate) fn next() -> *mut Record {
    NEXT.get()
}

/// No operation has this number.
const NOTHING: (EventNumber, ThreadId, usize) = (EventNumber::START, ThreadId::MAIN, 0);
/// An operation whose record is still to come: its number, its thread and its place.
#[unsafe(link_section = ".data.racehunter")]
static EXPECTED: Global<(EventNumber, ThreadId, usize)> = Global::new(NOTHING);

/// Notes that the running thread performs operation `n`. If no record describes it before the next one, a plain record is logged:
/// the controller knows a decision only by a record. Returns the number.
#[inline]
pub(crate) unsafe fn expect(n: EventNumber) -> EventNumber {
    EXPECTED.set((n, CURRENT.get(), (*thread(CURRENT.get())).code));
    n
}

/// Called before a record is appended.
#[inline]
unsafe fn meets(record: &Record) {
    let (n, thread, code) = EXPECTED.get();
    if n == EventNumber::START || !record.kind.is_in_order() || record.index < n {
        return;
    }
    if record.index > n {
        EXPECTED.set(NOTHING);
        put(Record { index: n, code: relative(code), thread, kind: Kind::Other, ..Record::default() });
    } else if record.kind.is_event() {
        EXPECTED.set(NOTHING);
    }
}

/// Appends a record unchanged.
pub(crate) unsafe fn put(record: Record) {
    values::settle_before(record.index);
    if NEXT.get().is_null() || !schedule::running() {
        return;
    }
    meets(&record);
    if let Some(passed) = brief::before(&record) {
        append(passed);
    }
    if !append(record) {
        return;
    }
    if track::is_active() && record.kind.is_event() {
        track::note(&record);
    }
}

/// As [`put`], in a recording: it has neither values nor tracked variables, and leaves nothing out.
#[inline(always)]
pub(crate) unsafe fn put_in_recording(record: Record) {
    if !NEXT.get().is_null() && schedule::running() {
        meets(&record);
        append(record);
    }
}

/// Appends a record to an existing log. Returns false if it is full.
#[inline(always)]
unsafe fn append(record: Record) -> bool {
    if NEXT.get() >= END.get() && !make_room() {
        return false;
    }
    let next = NEXT.get();
    *next = record;
    NEXT.set(next.add(1));
    CHECKSUM.set(CHECKSUM.get().with(&record));
    true
}

/// Returns whether an operation need not be logged: if the plan tracks few variables, operations on other locks and
/// atomics are like accesses of other variables. They are counted, but not logged; their effects on other threads are.
#[inline]
pub(crate) unsafe fn leaves_out(kind: Kind, object: usize) -> bool {
    schedule::flags() & FLAG_SELECTIVE != 0
        && matches!(
            kind,
            Kind::Lock | Kind::Unlock | Kind::AtomicRead | Kind::AtomicWrite | Kind::AtomicUpdate | Kind::Fence
        )
        && !track::has(object)
}

/// Called when the log reaches [`END`]. Each new page would cost a fault, mostly for entering and leaving the kernel:
/// for long logs the kernel prepares many pages at once, half as many as there already are.
#[cold]
unsafe fn make_room() -> bool {
    if ring::is_on() {
        NEXT.set(server::log_area().add(ring::next_piece()));
        END.set(NEXT.get().add(RING_PIECE));
        return true;
    }
    let next = NEXT.get();
    let last = server::log_area().add(LOG_RECORDS);
    if next >= last {
        note(NOTE_LOG_FULL);
        return false;
    }
    let own = next.offset_from(server::log_area()) as usize - FROM.get() as usize;
    let end = next.add((own / 2).clamp(FIRST, MOST_AT_ONCE)).min(last);
    sys::prepare(next as usize, end as usize);
    END.set(end);
    true
}

/// Logs event `index` of the running thread.
pub(crate) unsafe fn event(kind: Kind, index: EventNumber, object: usize, extra: u64, detail: u8) {
    if leaves_out(kind, object) {
        EXPECTED.set(NOTHING);
        return;
    }
    let number = CURRENT.get();
    let t = thread(number);
    let stack = if schedule::flags() & FLAG_STACKS != 0 { stack_of(t) } else { 0 };
    put(Record {
        index,
        code: relative((*t).code),
        object: object as u64,
        extra,
        thread: number,
        stack,
        kind,
        detail,
        ..Record::default()
    });
}

/// Logs an escape in the running thread, at `code`.
pub(crate) unsafe fn escape(what: Escape, code: usize, object: usize, extra: u64) {
    if !what.is_unseen() && !what.is_assumption() {
        note(NOTE_UNCONTROLLED);
    }
    put(Record {
        index: schedule::now(),
        code: relative(code),
        object: object as u64,
        extra,
        thread: CURRENT.get(),
        kind: Kind::Escape,
        detail: what as u8,
        ..Record::default()
    });
}

/// Returns a code address relative to the executable, if it is inside, so that it means the same in every run.
pub(crate) fn relative(code: usize) -> CodeAddress {
    let (start, end) = server::executable();
    CodeAddress(if (start..end).contains(&code) { (code - start) as u64 } else { code as u64 })
}

/// Stores the call stack and the held locks of a thread. Returns 0 if there is no room.
pub(crate) unsafe fn stack_of(t: *mut Thread) -> u32 {
    let header = server::header();
    if header.is_null() || NEXT.get().is_null() {
        return 0;
    }
    let held = (*t).held.named();
    let at = (*header).stack_used as usize;
    if at >= STACK_WORDS - (2 + MAX_FRAMES + MAX_HELD) {
        return 0;
    }
    let words = server::stack_area().add(at);
    let mut frames = 0;
    if (*t).code != 0 {
        *words.add(2) = relative((*t).code).0;
        frames = 1;
    }
    frames_of(t, |code| {
        if frames < MAX_FRAMES {
            *words.add(2 + frames) = relative(code).0;
            frames += 1;
        }
        frames < MAX_FRAMES
    });
    *words = frames as u64;
    *words.add(1) = held.len() as u64;
    for (i, &lock) in held.iter().enumerate() {
        *words.add(2 + frames + i) = lock as u64;
    }
    (*header).stack_used = (at + 2 + frames + held.len()) as u64;
    at as u32
}

/// Passes the return addresses of a thread's running functions, the youngest first, until `wants_more` returns false.
pub(crate) unsafe fn frames_of(t: *const Thread, mut wants_more: impl FnMut(usize) -> bool) {
    let running = (*t).number == CURRENT.get();
    let mut frame = if running { __rh_stack.get() } else { (*t).stack_top };
    let mut below = 0_usize;
    while frame > (*t).stack {
        frame = frame.sub(1);
        let Frame { code, slot } = *frame;
        // A frame left by `longjmp`: its slot is below that of a younger frame, or holds something else by now.
        if (slot as usize) > below && *slot == code {
            below = slot as usize;
            if !wants_more(code) {
                break;
            }
        }
    }
}
