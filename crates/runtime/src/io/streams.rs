//! Streams of the C library on pipes, sockets and terminals.

use super::{changed, channels, log_event};
use crate::schedule::point;
use crate::sync::{interpose, real};
use racehunter_event::{File, FileOperation};

interpose! {
    fclose => close_at, "rsi";
}

/// Where `FILE` has its descriptor.
const DESCRIPTOR: usize = 112;

unsafe fn descriptor(stream: usize) -> i32 {
    *((stream + DESCRIPTOR) as *const i32)
}

pub(super) unsafe extern "C" fn close_at(stream: usize, code: usize) -> i32 {
    let close: extern "C" fn(usize) -> i32 = core::mem::transmute(real::close_stream());
    let fd = descriptor(stream);
    let Some(d) = channels::of(fd) else {
        channels::forget(fd);
        return close(stream);
    };
    let n = point(code);
    channels::tell(d.channel);
    let result = close(stream);
    channels::forget(fd);
    log_event(n, File { descriptor: fd, kind: d.kind, operation: FileOperation::Close }, d.channel, result >= 0);
    changed(d.channel);
    result
}
