//! The memory that the C library's printing functions read and write.

use crate::directives::{Use, directives};
use crate::library::StringCall;
use crate::llvm::{Value, llvm};
use crate::operation::{Access, Length};
use crate::sys::LLVMOpcode as Opcode;
use crate::sys::core::*;

/// A range of memory that a call touches.
pub type Touched = (Access, Value, Length);

/// Returns strings that the call reads to their end: those of `%s`, if the format is known and limits no length.
pub fn strings(call: Value, function: &str) -> Vec<StringCall> {
    let Some(format) = format_position(function).filter(|&at| at < call.argument_count()) else { return Vec::new() };
    let Some(text) = constant_text(call.operand(format)) else { return Vec::new() };
    let arguments = (format + 1)..call.argument_count();
    directives(&text)
        .0
        .into_iter()
        .zip(arguments)
        .filter(|&(use_, at)| use_ == Use::String && call.operand(at).ty().is_ordinary_pointer())
        .map(|(_, at)| StringCall::whole(call.operand(at)))
        .collect()
}

/// Returns whether a call of a printing function touches memory beyond what [`strings`] and [`memory`] announce;
/// nothing for other functions. `is_quiet` returns true for a pointer if no other thread can see what happens there.
pub fn hides(call: Value, function: &str, mut is_quiet: impl FnMut(Value) -> bool) -> Option<bool> {
    let (format, is_list) = match format_position(function) {
        Some(at) => (at, false),
        None => (list_format_position(function)?, true),
    };
    if format >= call.argument_count() {
        return Some(true);
    }
    if is_buffer_first(function) && written(call).is_none() && !is_quiet(call.operand(0)) {
        return Some(true);
    }
    let mut any_loud = |from: u32| (from..call.argument_count()).any(|at| !is_quiet(call.operand(at)));
    let Some(text) = constant_text(call.operand(format)) else { return Some(is_list || any_loud(format)) };
    let (uses, is_whole) = directives(&text);
    if is_list {
        return Some(!is_whole || uses.iter().any(|use_| *use_ != Use::Value));
    }
    let first = format + 1;
    let rest = first + uses.len() as u32;
    if (!is_whole || rest > call.argument_count()) && any_loud(first) {
        return Some(true);
    }
    let mut others = uses.iter().zip(first..).filter(|(use_, _)| **use_ == Use::Memory);
    Some(others.any(|(_, at)| at < call.argument_count() && !is_quiet(call.operand(at))))
}

/// Returns true if a call writes a string that [`written`] does not describe.
pub fn lacks_buffer(call: Value, function: &str) -> bool {
    is_buffer_first(function) && written(call).is_none()
}

/// A call that has written a string, and returns its length.
#[derive(Clone, Copy)]
pub struct Written {
    /// The call.
    pub call: Value,
    /// Where the string is.
    pub buffer: Value,
    /// Size of the buffer, if the call gives it.
    pub room: Option<Value>,
}

/// Returns what a call of `sprintf` or a similar function writes.
pub fn written(call: Value) -> Option<Written> {
    // Code after an `invoke` can be reached in other ways.
    if call.opcode() != Some(Opcode::LLVMCall) || call.is_must_tail() {
        return None;
    }
    let name = call.callee_function().filter(|callee| callee.is_declaration())?.name();
    let has_room = match name.as_str() {
        "sprintf" | "vsprintf" | "__sprintf_chk" | "__vsprintf_chk" => false,
        "snprintf" | "vsnprintf" | "__snprintf_chk" | "__vsnprintf_chk" => true,
        _ => return None,
    };
    let is_usual = call.argument_count() >= 2 && call.ty().is_integer() && call.operand(0).ty().is_ordinary_pointer();
    let room = has_room.then(|| call.operand(1));
    (is_usual && room.is_none_or(|room| room.ty().is_integer())).then(|| Written {
        call,
        buffer: call.operand(0),
        room,
    })
}

/// Returns memory of a known size that the call certainly touches.
pub fn memory(call: Value, function: &str) -> Option<Touched> {
    let argument = |index: u32| (index < call.argument_count()).then(|| call.operand(index));
    match function {
        "fwrite" | "fwrite_unlocked" => {
            let (size, count) = (argument(1)?, argument(2)?);
            let length = match (size.constant_integer(), count.constant_integer()) {
                (Some(1), _) => Length::Computed(count),
                (_, Some(1)) => Length::Computed(size),
                (Some(size), Some(count)) => Length::Bytes(u64::try_from(size.checked_mul(count)?).ok()?),
                _ => return None,
            };
            Some((Access::Read, argument(0)?, length))
        }
        // The length is not known in advance, but at least the end of the string is written.
        "sprintf" | "vsprintf" | "__sprintf_chk" | "__vsprintf_chk" => {
            Some((Access::Write, argument(0)?, Length::Bytes(1)))
        }
        "snprintf" | "vsnprintf" | "__snprintf_chk" | "__vsnprintf_chk" => {
            let has_room = argument(1)?.constant_integer()? > 0;
            has_room.then_some((Access::Write, argument(0)?, Length::Bytes(1)))
        }
        _ => None,
    }
}

/// Returns which argument is the format.
fn format_position(function: &str) -> Option<u32> {
    Some(match function {
        "printf" => 0,
        "fprintf" | "sprintf" | "dprintf" | "syslog" | "__printf_chk" => 1,
        "snprintf" | "__fprintf_chk" | "__dprintf_chk" | "__syslog_chk" => 2,
        "__sprintf_chk" => 3,
        "__snprintf_chk" => 4,
        _ => return None,
    })
}

/// Returns the same for functions that take their arguments as a list.
fn list_format_position(function: &str) -> Option<u32> {
    Some(match function {
        "vprintf" => 0,
        "vfprintf" | "vsprintf" | "vdprintf" | "__vprintf_chk" => 1,
        "vsnprintf" | "__vfprintf_chk" => 2,
        "__vsprintf_chk" => 3,
        "__vsnprintf_chk" => 4,
        _ => return None,
    })
}

/// Returns true if the first argument is the buffer for the text.
fn is_buffer_first(function: &str) -> bool {
    function.contains("sprintf") || function.contains("snprintf")
}

/// Returns the text of a constant string.
fn constant_text(pointer: Value) -> Option<Vec<u8>> {
    let global = Value::new(llvm!(LLVMIsAGlobalVariable(pointer.0)))?;
    if llvm!(LLVMIsGlobalConstant(global.0)) == 0 {
        return None;
    }
    let initialiser = Value::new(llvm!(LLVMGetInitializer(global.0)))?;
    if llvm!(LLVMIsNull(initialiser.0)) != 0 {
        // LLVM has no data for a constant that is all zeroes.
        return Some(Vec::new());
    }
    if llvm!(LLVMIsConstantString(initialiser.0)) == 0 {
        return None;
    }
    let mut len = 0;
    let text = llvm!(LLVMGetAsString(initialiser.0, &raw mut len));
    // SAFETY: LLVM keeps the text as long as the constant.
    let text = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), len) };
    Some(text.split(|&byte| byte == 0).next().unwrap_or_default().to_vec())
}
