//! LLVM attributes and metadata that the plugin needs, looked up once per module.

use crate::llvm::{FUNCTION, Module, Value, attribute_kind, llvm, metadata_kind};
use crate::sys::core::*;

/// Numbers that the host compiler gave to names.
pub struct Kinds {
    /// `sanitize_thread`: the user wants this function's accesses to be seen.
    pub sanitize_thread: u32,
    /// `disable_sanitizer_instrumentation`: leave the function alone.
    pub disable_instrumentation: u32,
    /// `naked`: the function has no prologue; nothing may be added.
    pub naked: u32,
    /// `returns_twice`: `setjmp` and similar functions.
    pub returns_twice: u32,
    /// `byval`: the callee gets a copy.
    pub by_value: u32,
    /// `elementtype`.
    pub element_type: u32,
    /// `noreturn`.
    pub no_return: u32,
    /// `nounwind`.
    pub no_unwind: u32,
    /// `nonlazybind`.
    pub no_lazy_bind: u32,
    /// `nomerge`.
    pub no_merge: u32,
    /// `nocapture` (LLVM 19) or `captures` (LLVM 22).
    captures: u32,
    /// Attributes that no longer hold once a function calls hooks: a later optimiser, at link time, would drop or move
    /// calls because of them.
    pub broken_promises: [u32; 3],
    /// Attributes of functions whose calls must not be copied.
    pub single_copy: [u32; 2],
    /// `!prof`.
    pub profile: u32,
    /// `!invariant.load`: the memory does not change.
    pub invariant_load: u32,
    /// `!nosanitize`: code that another instrumentation inserted.
    pub no_sanitize: u32,
    /// `memory`: which memory a function may touch.
    pub memory: u32,
    tbaa: u32,
}

impl Kinds {
    /// Looks them up in the host.
    pub fn new(module: Module) -> Self {
        let context = module.context();
        Self {
            sanitize_thread: attribute_kind("sanitize_thread"),
            disable_instrumentation: attribute_kind("disable_sanitizer_instrumentation"),
            naked: attribute_kind("naked"),
            returns_twice: attribute_kind("returns_twice"),
            by_value: attribute_kind("byval"),
            element_type: attribute_kind("elementtype"),
            no_return: attribute_kind("noreturn"),
            no_unwind: attribute_kind("nounwind"),
            no_lazy_bind: attribute_kind("nonlazybind"),
            no_merge: attribute_kind("nomerge"),
            captures: attribute_kind(if cfg!(feature = "llvm19") { "nocapture" } else { "captures" }),
            broken_promises: ["memory", "nosync", "speculatable"].map(attribute_kind),
            single_copy: ["convergent", "noduplicate"].map(attribute_kind),
            profile: metadata_kind(context, "prof"),
            invariant_load: metadata_kind(context, "invariant.load"),
            no_sanitize: metadata_kind(context, "nosanitize"),
            memory: attribute_kind("memory"),
            tbaa: metadata_kind(context, "tbaa"),
        }
    }

    /// Returns true if a function has an attribute.
    pub fn function_has(&self, function: Value, kind: u32) -> bool {
        function.has_attribute(FUNCTION, kind)
    }

    /// Returns true if a call, or its callee, has an attribute.
    pub fn call_has(&self, call: Value, kind: u32) -> bool {
        call.call_attribute(FUNCTION, kind).is_some()
    }

    /// Returns true if the callee keeps no pointer to the memory of this argument.
    pub fn is_argument_forgotten(&self, call: Value, argument: u32) -> bool {
        let Some(attribute) = call.call_attribute(argument + 1, self.captures) else { return false };
        if cfg!(feature = "llvm19") {
            return true;
        }
        // Four bits for the return value, four for everything else; the upper two of each concern provenance. A callee
        // that only uses the address itself cannot pass the memory on.
        const PROVENANCE: u64 = 0xcc;
        llvm!(LLVMGetEnumAttributeValue(attribute)) & PROVENANCE == 0
    }

    /// Returns true if a load or store is of an object's pointer to its virtual table, by its type-based alias
    /// information.
    pub fn is_vtable_access(&self, access: Value) -> bool {
        // The access tag is (base type, access type, offset); a type's first operand is its name.
        access
            .metadata(self.tbaa)
            .and_then(|tag| node_operand(tag, 1))
            .and_then(|access_type| node_operand(access_type, 0))
            .is_some_and(|name| is_string(name, "vtable pointer"))
    }
}

fn node_operand(node: Value, index: usize) -> Option<Value> {
    if llvm!(LLVMIsAMDNode(node.0)).is_null() {
        return None;
    }
    let mut operands = vec![std::ptr::null_mut(); llvm!(LLVMGetMDNodeNumOperands(node.0)) as usize];
    llvm!(LLVMGetMDNodeOperands(node.0, operands.as_mut_ptr()));
    operands.get(index).and_then(|&operand| Value::new(operand))
}

fn is_string(node: Value, expected: &str) -> bool {
    let mut length = 0;
    let data = llvm!(LLVMGetMDString(node.0, &mut length));
    if data.is_null() {
        return false;
    }
    // SAFETY: LLVM returned the pair as the text of a metadata string.
    let text = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length as usize) };
    text == expected.as_bytes()
}
