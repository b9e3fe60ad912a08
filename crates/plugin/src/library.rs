//! Functions of the C library and intrinsics that access memory, by name.

use crate::llvm::{Type, Value, llvm};
use crate::operation::{Access, Lanes, Mask};
use crate::sys::core::*;

/// A call of a string function, as `__rh_lib_string` announces it.
#[derive(Clone, Copy)]
pub struct StringCall {
    /// Number of the function: its position in [`STRING_FUNCTIONS`].
    pub which: u32,
    /// First string.
    pub first: Value,
    /// Second string.
    pub second: Option<Value>,
    /// Greatest number of bytes that are read.
    pub length: Option<Value>,
    /// The character that is looked for.
    pub character: Option<Value>,
}

impl StringCall {
    /// Returns a string that is read to its end.
    pub fn whole(text: Value) -> Self {
        Self { which: 0, first: text, second: None, length: None, character: None }
    }
}

/// Positions of the other operands of such a function among its arguments.
#[derive(Clone, Copy)]
enum Others {
    Nothing,
    Text,
    TextUpTo,
    Character,
    CharacterUpTo,
}

/// Names. The order is part of the contract with the runtime.
const STRING_FUNCTIONS: [(&str, Others); 13] = [
    ("strlen", Others::Nothing),
    ("strcpy", Others::Text),
    ("strncpy", Others::TextUpTo),
    ("strcat", Others::Text),
    ("strcmp", Others::Text),
    ("strncmp", Others::TextUpTo),
    ("strchr", Others::Character),
    ("strrchr", Others::Nothing),
    ("strdup", Others::Nothing),
    ("memcmp", Others::TextUpTo),
    ("memchr", Others::CharacterUpTo),
    ("atoi", Others::Nothing),
    ("strncat", Others::TextUpTo),
];

/// Returns the announcement of a call of `function`, if it is a string function called with the arguments that it has
/// in C.
pub fn string_call(call: Value, function: &str) -> Option<StringCall> {
    let function = match function {
        // The optimiser's names for uses of the same memory.
        "bcmp" => "memcmp",
        "stpcpy" => "strcpy",
        // They read the string to its end, whatever their result.
        "puts" | "fputs" | "fputs_unlocked" | "perror" => "strlen",
        "atol" | "atoll" => "atoi",
        // The optimiser turns `atoi` into these.
        "strtol" | "strtoll" | "isoc23_strtol" | "isoc23_strtoll" if is_decimal(call) => "atoi",
        "rindex" => "strrchr",
        "index" => "strchr",
        other => other,
    };
    let which = STRING_FUNCTIONS.iter().position(|(name, _)| *name == function)?;
    let argument = |index: u32| (index < call.argument_count()).then(|| call.operand(index));
    let pointer = |index: u32| argument(index).filter(|value| value.ty().is_ordinary_pointer());
    let number = |index: u32| argument(index).filter(|value| value.ty().is_integer());
    let alone = StringCall { which: which as u32, ..StringCall::whole(pointer(0)?) };
    Some(match STRING_FUNCTIONS[which].1 {
        Others::Nothing => alone,
        Others::Text => StringCall { second: Some(pointer(1)?), ..alone },
        Others::TextUpTo => StringCall { second: Some(pointer(1)?), length: Some(number(2)?), ..alone },
        Others::Character => StringCall { character: Some(number(1)?), ..alone },
        Others::CharacterUpTo => StringCall { character: Some(number(1)?), length: Some(number(2)?), ..alone },
    })
}

/// Returns true if a call of `strtol` reads a decimal number, and does not ask where it ends.
fn is_decimal(call: Value) -> bool {
    call.argument_count() == 3
        && llvm!(LLVMIsNull(call.operand(1).0)) != 0
        && call.operand(2).constant_integer() == Some(10)
}

/// Returns a vector access under a mask: its direction, which lanes, where they are, and the type of the vector.
pub fn masked_access(call: Value, name: &str) -> Option<(Access, Mask, Lanes, Type)> {
    let argument = |index: u32| call.operand(index);
    // LLVM 22 moved the alignment from the arguments to an attribute.
    let mask_after = |address: u32| {
        let next = argument(address + 1);
        Mask::Bits(if next.ty().is_integer() { argument(address + 2) } else { next })
    };
    Some(match name {
        "llvm.masked.load" => (Access::Read, mask_after(0), Lanes::Consecutive(argument(0)), call.ty()),
        "llvm.masked.store" => (Access::Write, mask_after(1), Lanes::Consecutive(argument(1)), argument(0).ty()),
        "llvm.masked.gather" => (Access::Read, mask_after(0), Lanes::Addresses(argument(0)), call.ty()),
        "llvm.masked.scatter" => (Access::Write, mask_after(1), Lanes::Addresses(argument(1)), argument(0).ty()),
        "llvm.masked.expandload" => (Access::Read, Mask::Bits(argument(1)), Lanes::Compressed(argument(0)), call.ty()),
        "llvm.masked.compressstore" => {
            (Access::Write, Mask::Bits(argument(2)), Lanes::Compressed(argument(1)), argument(0).ty())
        }
        _ => return x86_masked_access(call, name),
    })
}

fn x86_masked_access(call: Value, name: &str) -> Option<(Access, Mask, Lanes, Type)> {
    let name = name.strip_prefix("llvm.x86.")?;
    let argument = |index: u32| call.operand(index);
    let is_i1 = |mask: Value| {
        mask.ty().lanes().is_some() && mask.ty().element().is_integer() && { mask.ty().element().integer_bits() == 1 }
    };
    let mask = |value: Value| if is_i1(value) { Mask::Bits(value) } else { Mask::Signs(value) };
    let is = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if is(&["avx.maskload.", "avx2.maskload."]) {
        return Some((Access::Read, mask(argument(1)), Lanes::Consecutive(argument(0)), call.ty()));
    }
    if is(&["avx.maskstore.", "avx2.maskstore."]) {
        return Some((Access::Write, mask(argument(1)), Lanes::Consecutive(argument(0)), argument(2).ty()));
    }
    // (previous value, base, indices, mask, scale)
    if is(&["avx2.gather.", "avx512.mask.gather"]) && argument(3).ty().lanes().is_some() {
        let lanes = Lanes::Indexed { base: argument(1), indices: argument(2), scale: argument(4) };
        return Some((Access::Read, mask(argument(3)), lanes, call.ty()));
    }
    // (base, mask, indices, value, scale)
    if is(&["avx512.mask.scatter"]) && argument(1).ty().lanes().is_some() {
        let lanes = Lanes::Indexed { base: argument(0), indices: argument(2), scale: argument(4) };
        return Some((Access::Write, mask(argument(1)), lanes, argument(3).ty()));
    }
    None
}
