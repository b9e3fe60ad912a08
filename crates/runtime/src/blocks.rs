//! Blocks that the program declares to be atomic (`racehunter.h`). They are not events and no thread waits for them:
//! they are logged for the predictor.

use crate::thread::CURRENT;
use crate::{log, schedule};
use racehunter_abi::{Kind, Record};

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
