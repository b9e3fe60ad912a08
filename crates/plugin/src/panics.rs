//! Where Rust starts to unwind: a hook informs the runtime, so that a report can say how a panic came about.

use std::ffi::CStr;

use crate::llvm::{Module, Value, llvm};
use crate::sys::core::*;

/// The name of the library function that unwinds.
const RAISE: &CStr = c"_Unwind_RaiseException";
const HOOK: &CStr = c"__rh_panics";

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
