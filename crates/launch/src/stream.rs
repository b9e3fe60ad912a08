//! Takes the records of a streamed log while the program writes them.

use racehunter_abi::RawRecord;
use racehunter_abi::control::{Checksum, Header, RING_PIECE, RING_RECORDS};
use racehunter_log::Record;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// The ring in a region.
pub(crate) struct Stream {
    header: *mut Header,
    ring: *mut RawRecord,
    /// Number of records taken so far.
    consumed: u64,
}

// SAFETY: the region is shared memory, which another process writes at any time. One thread at a time has the stream.
unsafe impl Send for Stream {}

/// What was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Number of records.
    pub(crate) records: u64,
    pub(crate) checksum: Checksum,
    /// The highest event number, and the highest number of a thread + 1.
    pub(crate) events: u64,
    pub(crate) threads: u32,
    /// The program has overwritten the ring or its positions.
    pub(crate) is_damaged: bool,
}

/// How long a wait for records lasts if nothing says that there are any.
const PATIENCE: Duration = Duration::from_millis(20);

impl Stream {
    /// Empties the ring at `ring`, so that an incomplete record can be recognised, and starts a stream.
    ///
    /// # Safety
    ///
    /// Both pointers must stay valid as long as the stream, the second for [`RING_RECORDS`] records. No program may be running.
    pub(crate) unsafe fn begin(header: *mut Header, ring: *mut RawRecord) -> Self {
        // SAFETY: by the contract.
        unsafe {
            ptr::write_bytes(ring, 0, RING_RECORDS);
            (*header).ring = RING_RECORDS as u32;
            (*header).produced = 0;
            (*header).consumed = 0;
        }
        Self { header, ring, consumed: 0 }
    }

    fn produced(&self) -> &AtomicU64 {
        // SAFETY: the header is valid, and the program uses the field in the same way.
        unsafe { AtomicU64::from_ptr(&raw mut (*self.header).produced) }
    }

    /// Takes records until the program has ended, and nothing is left that it has published.
    pub(crate) fn take_all(&mut self, has_ended: &AtomicBool, take: &mut dyn FnMut(&[Record])) -> Taken {
        let mut taken = Taken::default();
        let mut records = Vec::with_capacity(RING_PIECE);
        loop {
            // In this order: what was published before the end is not missed.
            let is_over = has_ended.load(Ordering::Acquire);
            let produced = self.produced().load(Ordering::Acquire);
            if produced == self.consumed && is_over {
                return taken;
            }
            if produced == self.consumed {
                wait(self.produced(), produced);
                continue;
            }
            if produced < self.consumed || produced - self.consumed > RING_RECORDS as u64 {
                taken.is_damaged = true;
            }
            if taken.is_damaged {
                if is_over {
                    return taken;
                }
                // The program must not wait for room for ever.
                self.consumed = produced;
                self.release();
                continue;
            }
            let from = (self.consumed % RING_RECORDS as u64) as usize;
            let count = (produced - self.consumed).min((RING_PIECE - from % RING_PIECE) as u64) as usize;
            records.clear();
            taken.is_damaged |= !self.read(from, count, &mut records);
            self.consumed += count as u64;
            self.release();
            taken.add(&records);
            take(&records);
        }
    }

    /// Takes what a killed program has written and not published, without the last record, which may be incomplete.
    pub(crate) fn take_rest(&mut self, taken: &mut Taken, take: &mut dyn FnMut(&[Record])) {
        let from = (self.consumed % RING_RECORDS as u64) as usize;
        let room = RING_PIECE - from % RING_PIECE;
        // SAFETY: within the ring.
        let is_there = |i: usize| unsafe { ptr::read_volatile(self.ring.add(from + i)) }.is_written();
        let count = (0..room).take_while(|&i| is_there(i)).count().saturating_sub(1);
        let mut records = Vec::new();
        if self.read(from, count, &mut records) {
            taken.add(&records);
            take(&records);
        }
    }

    /// Copies records that are in one piece of the ring, and clears them there. Returns false if any is invalid.
    fn read(&self, from: usize, count: usize, records: &mut Vec<Record>) -> bool {
        // SAFETY: within the ring. The program does not write there before it learns that the records were taken; if it does
        // so by mistake, any bytes are valid.
        unsafe {
            let first = self.ring.add(from);
            let raw = (0..count).map_while(|i| ptr::read_volatile(first.add(i)).checked());
            records.extend(raw);
            ptr::write_bytes(first, 0, count);
        }
        records.len() == count
    }

    /// Tells the program how many records were taken.
    fn release(&self) {
        // SAFETY: as for `produced`.
        let consumed = unsafe { AtomicU64::from_ptr(&raw mut (*self.header).consumed) };
        consumed.store(self.consumed, Ordering::Release);
        futex(consumed, libc::FUTEX_WAKE, 1, ptr::null());
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the header is valid.
        unsafe { (*self.header).ring = 0 };
    }
}

impl Taken {
    fn add(&mut self, records: &[Record]) {
        self.records += records.len() as u64;
        for record in records {
            self.checksum = self.checksum.with(record);
            self.events = self.events.max(record.index.0);
            self.threads = self.threads.max(record.thread.0 + 1);
        }
    }
}

fn wait(word: &AtomicU64, seen: u64) {
    let patience = libc::timespec { tv_sec: 0, tv_nsec: PATIENCE.subsec_nanos().into() };
    futex(word, libc::FUTEX_WAIT, seen as u32, &raw const patience);
}

/// Waits at, or wakes, the lower half of a word. Errors do not matter: that no thread waits, or that the word has changed.
fn futex(word: &AtomicU64, operation: i32, value: u32, patience: *const libc::timespec) {
    // SAFETY: the kernel only reads the word and the time, which are valid.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, value, patience) };
}
