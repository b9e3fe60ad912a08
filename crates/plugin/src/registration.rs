//! Data that a module passes to the runtime: its sites, its identity, and its own code.

use crate::emit::Types;
use crate::kinds::Kinds;
use crate::llvm::{Module, Value, llvm};
use crate::plan::Plan;
use crate::reach;
use crate::sys::core::*;
use crate::sys::prelude::*;
use crate::sys::{LLVMLinkage, LLVMVisibility};

/// Constructors of the program start at 101, those of the system earlier: sites are registered before any of them runs.
const PRIORITY: i32 = 1;

/// Name of the array of sites; a module that has it is already instrumented.
pub const SITES: &std::ffi::CStr = c"__rh_sites";

/// Bit of a site's byte: a region, or a loop that is copied, begins here.
const HEAD: u8 = 0x20;
/// Bit of a site's byte: the code is trusted as a whole.
const QUIET: u8 = 8;

/// Adds the array with one byte for each site.
pub fn add_sites(module: Module, plan: &Plan) -> Value {
    let mut bytes = vec![if crate::asked(crate::QUIET) { QUIET } else { 0 }; plan.site_count as usize];
    plan.heads().for_each(|site| bytes[site as usize] |= HEAD);
    let initial = Value(llvm!(LLVMConstStringInContext2(module.context(), bytes.as_ptr().cast(), bytes.len(), 1)));
    let sites = module.add_global(initial.ty(), SITES);
    llvm!(LLVMSetInitializer(sites.0, initial.0));
    llvm!(LLVMSetLinkage(sites.0, LLVMLinkage::LLVMInternalLinkage));
    llvm!(LLVMSetSection(sites.0, c"rh_sites".as_ptr()));
    // LLVM would align large arrays. Sites are numbered through all modules, so there must be no gaps between them.
    llvm!(LLVMSetAlignment(sites.0, 1));
    sites
}

/// Adds the description of the module, and the constructor that registers it with the runtime.
pub fn register(module: Module, kinds: &Kinds, types: &Types, sites: Value, site_count: u32, content_hash: u64) {
    let context = module.context();
    let mut fields = [
        llvm!(LLVMConstInt(types.i64.0, content_hash, 0)),
        sites.0,
        llvm!(LLVMConstInt(types.i32.0, u64::from(site_count), 0)),
        llvm!(LLVMConstInt(types.i32.0, u64::from(racehunter_ir::FORMAT_VERSION), 0)),
    ];
    let value = llvm!(LLVMConstStructInContext(context, fields.as_mut_ptr(), fields.len() as u32, 0));
    let description = module.add_global(Value(value).ty(), c"__rh_module");
    llvm!(LLVMSetInitializer(description.0, value));
    llvm!(LLVMSetGlobalConstant(description.0, 1));
    llvm!(LLVMSetLinkage(description.0, LLVMLinkage::LLVMInternalLinkage));

    let mut parameters = [types.ptr.0];
    let register_type = llvm!(LLVMFunctionType(types.void.0, parameters.as_mut_ptr(), 1, 0));
    let name = c"__rh_register_module";
    let declared = llvm!(LLVMGetNamedFunction(module.0, name.as_ptr()));
    let register = match declared.is_null() {
        true => llvm!(LLVMAddFunction(module.0, name.as_ptr(), register_type)),
        false => declared,
    };

    let constructor_type = llvm!(LLVMFunctionType(types.void.0, std::ptr::null_mut(), 0, 0));
    let constructor = Value(llvm!(LLVMAddFunction(module.0, c"__rh_constructor".as_ptr(), constructor_type)));
    llvm!(LLVMSetLinkage(constructor.0, LLVMLinkage::LLVMInternalLinkage));
    constructor.add_attribute(context, kinds.no_unwind);
    constructor.add_attribute(context, kinds.disable_instrumentation);
    let builder: LLVMBuilderRef = llvm!(LLVMCreateBuilderInContext(context));
    let block = llvm!(LLVMAppendBasicBlockInContext(context, constructor.0, c"".as_ptr()));
    llvm!(LLVMPositionBuilderAtEnd(builder, block));
    let mut arguments = [description.0];
    llvm!(LLVMBuildCall2(builder, register_type, register, arguments.as_mut_ptr(), 1, c"".as_ptr()));
    if let Some((table, count)) = replaceable(module, kinds, types) {
        let mut parameters = [types.ptr.0, types.i64.0];
        let ty = llvm!(LLVMFunctionType(types.void.0, parameters.as_mut_ptr(), 2, 0));
        let register = llvm!(LLVMAddFunction(module.0, c"__rh_register_replaceable".as_ptr(), ty));
        let mut arguments = [table.0, llvm!(LLVMConstInt(types.i64.0, count, 0))];
        llvm!(LLVMBuildCall2(builder, ty, register, arguments.as_mut_ptr(), 2, c"".as_ptr()));
    }
    llvm!(LLVMBuildRetVoid(builder));
    llvm!(LLVMDisposeBuilder(builder));
    module.add_constructor(constructor, PRIORITY);
}

/// Returns the instrumented functions of the module that the linker may replace by those of another object, which need
/// not be instrumented: templates and inline functions, of which each object has a copy, weak functions, and those of
/// shared libraries.
fn replaceable(module: Module, kinds: &Kinds, types: &Types) -> Option<(Value, u64)> {
    let is_replaceable = |function: &Value| match llvm!(LLVMGetLinkage(function.0)) {
        LLVMLinkage::LLVMWeakAnyLinkage
        | LLVMLinkage::LLVMWeakODRLinkage
        | LLVMLinkage::LLVMLinkOnceAnyLinkage
        | LLVMLinkage::LLVMLinkOnceODRLinkage => true,
        LLVMLinkage::LLVMExternalLinkage => {
            !module.is_for_executable()
                && matches!(llvm!(LLVMGetVisibility(function.0)), LLVMVisibility::LLVMDefaultVisibility)
        }
        _ => false,
    };
    let marked = module.functions().filter(|&function| reach::is_seen(function, kinds));
    let mut functions: Vec<LLVMValueRef> = marked.filter(is_replaceable).map(|function| function.0).collect();
    let count = functions.len() as u64;
    if count == 0 {
        return None;
    }
    let value = Value(llvm!(LLVMConstArray2(types.ptr.0, functions.as_mut_ptr(), count)));
    let table = module.add_global(value.ty(), c"__rh_replaceable");
    llvm!(LLVMSetInitializer(table.0, value.0));
    llvm!(LLVMSetGlobalConstant(table.0, 1));
    llvm!(LLVMSetLinkage(table.0, LLVMLinkage::LLVMInternalLinkage));
    Some((table, count))
}

/// Puts the module's exported code into a separate section, and makes the linker keep it.
pub fn embed(module: Module, blob: &[u8]) {
    let context = module.context();
    let value = Value(llvm!(LLVMConstStringInContext2(context, blob.as_ptr().cast(), blob.len(), 1)));
    let global = module.add_global(value.ty(), c"__rh_ir");
    llvm!(LLVMSetInitializer(global.0, value.0));
    llvm!(LLVMSetGlobalConstant(global.0, 1));
    llvm!(LLVMSetLinkage(global.0, LLVMLinkage::LLVMPrivateLinkage));
    let section = std::ffi::CString::new(racehunter_ir::SECTION).expect("the name has no zero byte");
    llvm!(LLVMSetSection(global.0, section.as_ptr()));
    llvm!(LLVMSetAlignment(global.0, racehunter_ir::ALIGNMENT as u32));
    module.keep(global);
}
