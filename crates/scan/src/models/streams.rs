//! The standard streams of C++, which synchronise themselves: what functions do to their other arguments.
//!
//! The program contains the code of these functions, since they are templates. It is analysed like any other, unless the
//! stream can only be a standard one: these may be used by several threads at the same time, and they are objects of the
//! library, about which nothing is known. Functions that change how a stream prints are among these functions too.

use super::{Arguments, MemoryEffect, Model};

/// The standard streams that `char` is written to.
pub const STREAMS: [&str; 3] = ["_ZSt4cout", "_ZSt4cerr", "_ZSt4clog"];

/// Stands after the name of a function that is called for a standard stream.
const MARK: &str = " (standard stream)";

/// Functions that use nothing but the stream.
const PLAIN: [&str; 22] = [
    "_ZNSolsEi",
    "_ZNSolsEj",
    "_ZNSolsEl",
    "_ZNSolsEm",
    "_ZNSolsEx",
    "_ZNSolsEy",
    "_ZNSolsEs",
    "_ZNSolsEt",
    "_ZNSolsEb",
    "_ZNSolsEd",
    "_ZNSolsEe",
    "_ZNSolsEf",
    "_ZNSolsEPKv",
    "_ZNSo3putEc",
    "_ZNSo5flushEv",
    "_ZSt4endlIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_",
    "_ZSt5flushIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_",
    "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_c",
    "_ZStlsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_St5_Setw",
    "_ZStlsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_St13_Setprecision",
    "_ZStlsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_St8_SetfillIS3_E",
    "_ZStlsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_S3_",
];

/// Functions that also read the memory of their second argument.
const READING: [&str; 3] = [
    "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
    "_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l",
    "_ZNSo5writeEPKcl",
];

/// Returns the name by which a function is called for a standard stream, if it is known.
pub fn standard(name: &str) -> Option<String> {
    (PLAIN.contains(&name) || READING.contains(&name)).then(|| format!("{name}{MARK}"))
}

/// Returns the model of a function that is called for a standard stream. All of them return the stream.
pub(super) fn of(name: &str) -> Option<Model> {
    let name = name.strip_suffix(MARK)?;
    let reads = Arguments::Some(if READING.contains(&name) { vec![1] } else { Vec::new() });
    Some(Model::Access(Box::new(MemoryEffect { reads, returns: Some(0), ..MemoryEffect::default() })))
}
