//! Blocks that the program says are meant to be atomic (`racehunter.h`). They are no events and nobody waits for them: the
//! log has them for those who predict what could come between.

use crate::thread::CURRENT;
use crate::{log, schedule};
use racehunter_event::{Kind, Record};

#[unsafe(no_mangle)]
unsafe extern "C" fn racehunter_atomic_begin() {
    mark(Kind::Began);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn racehunter_atomic_end() {
    mark(Kind::Ended);
}

unsafe fn mark(kind: Kind) {
    log::put(Record { index: schedule::now(), thread: CURRENT.get(), kind, ..Record::default() });
}
