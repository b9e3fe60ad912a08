//! Rust's panics. Where the standard library starts to unwind, a hook informs the runtime, so that a report can say how a
//! panic came about. Its panic messages have no backtraces.

use std::ffi::CStr;

use crate::llvm::{Module, Value, llvm};
use crate::sys::core::*;

/// The name of the library function that unwinds.
const RAISE: &CStr = c"_Unwind_RaiseException";
const HOOK: &CStr = c"__rh_panics";
/// The library function that walks the stack, and the function of the runtime that takes its place.
const WALK: &CStr = c"_Unwind_Backtrace";
const NO_WALK: &CStr = c"__rh_no_backtrace";
/// Part of the names of the functions that print the backtrace of a panic, before Rust 1.81 and since. Those that capture one
/// for the program are elsewhere.
const PRINTERS: [&str; 2] = ["sys_common9backtrace", "3sys9backtrace"];

/// Calls the hook before every call that unwinds; returns true if there is any.
pub fn announce(module: Module) -> bool {
    let raise = llvm!(LLVMGetNamedFunction(module.0, RAISE.as_ptr()));
    let Some(raise) = Value::new(raise) else { return false };
    let calls: Vec<Value> = module
        .functions()
        .flat_map(|function| function.blocks())
        .flat_map(|block| block.instructions())
        .filter(|instruction| instruction.is_call() && instruction.callee_function() == Some(raise))
        .collect();
    let context = module.context();
    let ty = llvm!(LLVMFunctionType(LLVMVoidTypeInContext(context), std::ptr::null_mut(), 0, 0));
    for call in &calls {
        let declared = llvm!(LLVMGetNamedFunction(module.0, HOOK.as_ptr()));
        let hook = match declared.is_null() {
            true => llvm!(LLVMAddFunction(module.0, HOOK.as_ptr(), ty)),
            false => declared,
        };
        let builder = llvm!(LLVMCreateBuilderInContext(context));
        llvm!(LLVMPositionBuilderBefore(builder, call.0));
        llvm!(LLVMBuildCall2(builder, ty, hook, std::ptr::null_mut(), 0, c"".as_ptr()));
        llvm!(LLVMDisposeBuilder(builder));
    }
    !calls.is_empty()
}

/// Makes the backtraces of panic messages empty. The standard library prints one for every panic during another panic,
/// whatever `RUST_BACKTRACE` says; reading the debug information for it takes millions of events, and the report has the
/// stack.
pub fn leave_out_backtraces(module: Module) {
    let walk = llvm!(LLVMGetNamedFunction(module.0, WALK.as_ptr()));
    let Some(walk) = Value::new(walk) else { return };
    let calls: Vec<Value> = module
        .functions()
        .filter(|function| PRINTERS.iter().any(|part| function.name().contains(part)))
        .flat_map(|function| function.blocks())
        .flat_map(|block| block.instructions())
        .filter(|instruction| instruction.is_call() && instruction.callee_function() == Some(walk))
        .collect();
    if calls.is_empty() {
        return;
    }
    let no_walk = llvm!(LLVMAddFunction(module.0, NO_WALK.as_ptr(), LLVMGlobalGetValueType(walk.0)));
    for call in calls {
        // The callee is the last operand.
        llvm!(LLVMSetOperand(call.0, call.operand_count() - 1, no_walk));
    }
}
