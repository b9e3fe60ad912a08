//! Places in the C++ library that are races by the letter of the memory model, but are not the user's bugs.
//!
//! They are in headers, so they are compiled with the user's code. They are recognised by the function names in debug
//! information, which the wrappers always request.

use crate::llvm::Value;

/// `std::ctype<char>::narrow(char, char)` caches its results in a table of bytes. Several threads may fill it in, all
/// with the same values.
const NARROW: &str = "_ZNKSt5ctypeIcE6narrowEcc";

/// Returns true if this access of one byte belongs to a table that several threads fill in with the same values.
pub fn is_shared_table(access: Value) -> bool {
    access.location().is_some_and(|location| location.scope().scope_function(true) == NARROW)
}

/// Returns true if this relaxed update releases the lock bit of an `std::atomic<std::shared_ptr>`. Up to version 13 the
/// library does this without release order after a load: the processor keeps the order, but the memory model does not
/// guarantee it.
pub fn gives_back_lock_bit(update: Value) -> bool {
    let mut location = update.location();
    while let Some(inner) = location {
        if is_unlock(&inner.scope().scope_function(true)) {
            return true;
        }
        location = inner.inlined_at();
    }
    false
}

fn is_unlock(function: &str) -> bool {
    function.contains("St10_Sp_atomicI")
        && (function.contains("_Atomic_count6unlock") || function.contains("_Atomic_count14_M_wait_unlock"))
}
