//! What functions of the C library do to memory of the program, by the models of [`racehunter_sight::models`].
//!
//! The compiler plugin passes the model and the arguments of a call, before it and, if something depends on its result,
//! after it has returned. Accesses that are known before are announced like any access of the program. For those that
//! are known only afterwards, the memory is a scheduling point before the call, without the detector; when the call has
//! returned, the detector learns what was touched.

mod formats;
mod hidden;
mod nodes;
mod routines;

use crate::atomics::atomic_update;
use crate::memory::log_taken;
use crate::schedule::spin;
use crate::signals::cancel;
use crate::sync::files;
use crate::{free, hooks, io, schedule};
use core::ffi::{CStr, c_char};
use racehunter_abi::Kind;
use racehunter_sight::models::{self, Condition, Direction, Length, Part, Place, Touch};

unsafe extern "C" {
    fn strlen(text: *const u8) -> usize;
    fn strnlen(text: *const u8, most: usize) -> usize;
}

/// A call of a function with a model.
pub(crate) struct Call {
    /// The number of arguments, then the arguments. Those that are not numbers or pointers are zero.
    arguments: *const usize,
    /// The returned value.
    result: isize,
    has_returned: bool,
    site: *mut u8,
    code: usize,
    frame: usize,
}

/// Handles a model before its call.
pub(crate) unsafe extern "C" fn before(
    model: *const c_char,
    arguments: *const usize,
    site: *mut u8,
    code: usize,
    frame: usize,
) {
    Call { arguments, result: 0, has_returned: false, site, code, frame }.apply(model);
}

/// Handles a model after its call has returned.
pub(crate) unsafe extern "C" fn after(
    model: *const c_char,
    arguments: *const usize,
    site: *mut u8,
    result: isize,
    code: usize,
) {
    if schedule::running() && !free::is_on() {
        Call { arguments, result, has_returned: true, site, code, frame: 0 }.apply(model);
    }
}

impl Call {
    unsafe fn apply(&self, model: *const c_char) {
        let text = CStr::from_ptr(model).to_str().unwrap_or("");
        for part in models::parts(text) {
            match part {
                Part::Touch(touch) => self.touch(&touch),
                Part::Routine(name, number) => self.routine(name, number),
                Part::Partly => {}
            }
        }
    }

    unsafe fn argument(&self, at: u8) -> usize {
        if usize::from(at) < *self.arguments { *self.arguments.add(usize::from(at) + 1) } else { 0 }
    }

    unsafe fn touch(&self, touch: &Touch<'_>) {
        if self.has_returned != touch.is_after {
            if touch.is_after
                && let Some(address) = self.place(&touch.place)
            {
                self.approach(address, touch.direction != Direction::Read);
            }
            return;
        }
        let happens = !touch.is_after
            || match touch.condition {
                Condition::Always => true,
                Condition::Something => self.result != 0,
                Condition::Zero => self.result == 0,
                Condition::Success => self.result >= 0,
                Condition::Positive => self.result > 0,
            };
        let Some(address) = self.place(&touch.place).filter(|_| happens) else { return };
        if matches!(touch.place, Place::Stream(_) | Place::Variable("stdin" | "stdout" | "stderr"))
            && !self.has_returned
        {
            cancel::note_at(self.code);
        }
        if matches!(touch.place, Place::Hidden(_)) && touch.direction != Direction::Read {
            // A loop around such a call does not return to the same state.
            spin::moves_on();
        }
        let len = self.length(touch.length, address);
        let direction = match touch.place {
            // Functions without a lock of their own, within a section of the program under the stream's lock.
            Place::Stream(_) if touch.direction == Direction::Modify && len != 0 && files::is_held(address) => {
                Direction::Read
            }
            _ => touch.direction,
        };
        match direction {
            Direction::Read => self.reads(address, len),
            Direction::Write => self.writes(address, len),
            Direction::Modify => {
                if !matches!(touch.place, Place::Hidden(_)) {
                    self.reads(address, len);
                }
                self.writes(address, len);
            }
            Direction::Locked => atomic_update(address, self.site, len.min(8) as u32, self.code, self.frame),
        }
    }

    unsafe fn place(&self, place: &Place<'_>) -> Option<usize> {
        let address = match *place {
            Place::Argument(at) | Place::Stream(at) => self.argument(at),
            Place::Behind(at) => match self.argument(at) {
                0 => 0,
                pointer => *(pointer as *const usize),
            },
            Place::Result if self.has_returned => self.result as usize,
            Place::Result => 0,
            Place::Hidden(name) => hidden::address(name)?,
            Place::Variable(name) => hidden::variable(name),
        };
        (address != 0).then_some(address)
    }

    unsafe fn length(&self, length: Length, address: usize) -> usize {
        if io::is_in_first_page(address) {
            // The function refuses it, or crashes.
            return 0;
        }
        let result = self.result.max(0) as usize;
        match length {
            Length::Bytes(bytes) => bytes as usize,
            Length::Text(1, None) => strlen(address as *const u8) + 1,
            Length::Text(1, Some(most)) => {
                let most = self.argument(most);
                (strnlen(address as *const u8, most) + 1).min(most)
            }
            Length::Text(_, most) => {
                let most = most.map_or(usize::MAX, |most| self.argument(most));
                (wide_len(address, most) + 1).min(most) * 4
            }
            Length::As(1, other) => strlen(self.argument(other) as *const u8) + 1,
            Length::As(_, other) => (wide_len(self.argument(other), usize::MAX) + 1) * 4,
            Length::Product(first, second, factor) => {
                let second = second.map_or(1, |second| self.argument(second));
                self.argument(first).wrapping_mul(second).wrapping_mul(factor as usize)
            }
            Length::Even(count) => self.argument(count) & !1,
            Length::Pages(bytes) => self.argument(bytes).div_ceil(4096),
            Length::Descriptors(count) => (self.argument(count) as u32 as usize).min(1024).div_ceil(64) * 8,
            Length::Result(other, factor) => {
                result.wrapping_mul(other.map_or(1, |other| self.argument(other))) * factor as usize
            }
            Length::ResultUpTo(most) => result.min(self.argument(most)),
            Length::ResultAndOne(unit, most) => {
                (result + 1).min(most.map_or(usize::MAX, |most| self.argument(most))) * usize::from(unit)
            }
            Length::Pointed(at) => match self.argument(at) {
                0 => 0,
                pointer => *(pointer as *const u32) as usize,
            },
            Length::UpToResult(unit, _) if self.result != 0 => {
                (self.result as usize).wrapping_sub(address).wrapping_add(unit.into())
            }
            Length::UpToResult(unit, Some(count)) => self.argument(count).wrapping_mul(unit.into()),
            Length::UpToResult(1, None) => strlen(address as *const u8) + 1,
            Length::UpToResult(_, None) => (wide_len(address, usize::MAX) + 1) * 4,
        }
    }

    /// Makes a scheduling point of memory whose use is known only afterwards.
    unsafe fn approach(&self, address: usize, writes: bool) {
        if address != 0 && !self.has_returned && !free::is_on() {
            let kind = if writes { Kind::Write } else { Kind::Read };
            hooks::approach(address, 1, self.site, kind, self.code);
        }
    }

    unsafe fn reads(&self, address: usize, len: usize) {
        self.accesses(address, len, if len <= 8 { Kind::Read } else { Kind::ReadRange });
    }

    unsafe fn writes(&self, address: usize, len: usize) {
        self.accesses(address, len, if len <= 8 { Kind::Write } else { Kind::WriteRange });
    }

    unsafe fn accesses(&self, address: usize, len: usize, kind: Kind) {
        // Lengths that no object has are mistakes of the program, which the call itself will show.
        if len == 0 || len > isize::MAX as usize || address == 0 {
            return;
        }
        if self.has_returned {
            if matches!(kind, Kind::Read | Kind::ReadRange) {
                log_taken(address, len);
            }
            hooks::happened(address, len, self.site, kind, self.code);
        } else {
            hooks::announced(address, len, self.site, kind, self.code, self.frame);
        }
    }
}

/// Returns the number of wide characters before the end of a string.
unsafe fn wide_len(text: usize, most: usize) -> usize {
    let text = text as *const u32;
    let mut len = 0;
    while len < most && *text.add(len) != 0 {
        len += 1;
    }
    len
}
