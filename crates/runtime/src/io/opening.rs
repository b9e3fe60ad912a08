//! Functions that open a stream. The C library opens the file by a call that is a cancellation point.

use super::{descriptors, elsewhere};
use crate::signals::cancel;
use crate::sync::{interpose_cancellable, real};
use crate::world::paths::HERE;

interpose_cancellable! {
    fopen => open, "rdx";
    fopen64 => open, "rdx";
    freopen => open_again, "rcx";
    freopen64 => open_again, "rcx";
    tmpfile => open_temporary, "rdi";
    tmpfile64 => open_temporary, "rdi";
}

unsafe extern "C" fn open(path: usize, mode: usize, code: usize) -> usize {
    if cancel::acts_at(code) {
        return 0;
    }
    if descriptors::is_fifo(HERE, path) {
        elsewhere::fifo(HERE, path, code);
    }
    let open: extern "C" fn(usize, usize) -> usize = core::mem::transmute(real::open_named_stream());
    open(path, mode)
}

unsafe extern "C" fn open_again(path: usize, mode: usize, stream: usize, code: usize) -> usize {
    if cancel::acts_at(code) {
        return 0;
    }
    let open: extern "C" fn(usize, usize, usize) -> usize = core::mem::transmute(real::reopen_stream());
    open(path, mode, stream)
}

unsafe extern "C" fn open_temporary(code: usize) -> usize {
    if cancel::acts_at(code) {
        return 0;
    }
    let open: extern "C" fn() -> usize = core::mem::transmute(real::open_temporary_stream());
    open()
}
