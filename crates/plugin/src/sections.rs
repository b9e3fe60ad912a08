//! Functions that are atomic by their name.

use std::ffi::CStr;

use crate::llvm::{Module, Value, llvm};
use crate::sys::LLVMOpcode as Opcode;
use crate::sys::core::*;

const PREFIX: &str = "__VERIFIER_atomic_";
const BEGIN: &CStr = c"__VERIFIER_atomic_begin";
const END: &CStr = c"__VERIFIER_atomic_end";

/// Begins a section where such a function is entered, and ends it where it returns; returns true if there is any such
/// function.
pub fn enclose(module: Module) -> bool {
    let is_atomic = |function: &Value| {
        let name = function.name();
        !function.is_declaration()
            && name.starts_with(PREFIX)
            && ![BEGIN, END].iter().any(|own| own.to_bytes() == name.as_bytes())
    };
    let functions: Vec<Value> = module.functions().filter(is_atomic).collect();
    for function in &functions {
        let Some(first) = function.blocks().next().and_then(|entry| entry.instructions().next()) else { continue };
        let ends: Vec<Value> = (function.blocks().flat_map(|block| block.instructions()))
            .filter(|instruction| instruction.opcode() == Some(Opcode::LLVMRet))
            .collect();
        call_before(module, first, BEGIN);
        ends.into_iter().for_each(|end| call_before(module, end, END));
    }
    !functions.is_empty()
}

/// Adds a call of a function without arguments or result.
fn call_before(module: Module, instruction: Value, name: &CStr) {
    let context = module.context();
    let ty = llvm!(LLVMFunctionType(LLVMVoidTypeInContext(context), std::ptr::null_mut(), 0, 0));
    let declared = llvm!(LLVMGetNamedFunction(module.0, name.as_ptr()));
    let callee = match declared.is_null() {
        true => llvm!(LLVMAddFunction(module.0, name.as_ptr(), ty)),
        false => declared,
    };
    let builder = llvm!(LLVMCreateBuilderInContext(context));
    llvm!(LLVMPositionBuilderBefore(builder, instruction.0));
    llvm!(LLVMBuildCall2(builder, ty, callee, std::ptr::null_mut(), 0, c"".as_ptr()));
    llvm!(LLVMDisposeBuilder(builder));
}
