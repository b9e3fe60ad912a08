//! A thin layer over LLVM's C API: copyable handles with methods instead of functions with raw pointers.
//!
//! These methods are safe to call although they are not marked unsafe: the handles come from the module that the host
//! compiler passes to the plugin, and are used only while its pass runs, on one thread. The plugin deletes only
//! branches that it created itself, and does not keep their handles. LLVM's C API casts without checking in release
//! builds, so each method is called only for the kind of value that its documentation names.
//!
//! Rust binds functions when the plugin is loaded, before the host's version is checked. This module therefore calls
//! only functions that exist in all versions; the others go through the shim, whose functions are bound when they are
//! called.

use std::ffi::{CStr, c_char, c_uint, c_void};

use crate::sys::core::*;
use crate::sys::debuginfo::*;
use crate::sys::prelude::*;
use crate::sys::target::*;
use crate::sys::{LLVMAtomicOrdering, LLVMOpcode, LLVMTailCallKind, LLVMTypeKind, LLVMValueKind};

/// Calls a function of the C API or of the shim. One safety argument serves all: see the module documentation.
macro_rules! llvm {
    ($($call:tt)*) => {{
        // SAFETY: the handles are live and of the kind that the callee expects (see the documentation of `llvm`).
        unsafe { $($call)* }
    }};
}
pub(crate) use llvm;

/// A string that belongs to LLVM.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text {
    data: *const u8,
    length: usize,
}

impl Text {
    fn to_owned(self) -> String {
        if self.data.is_null() {
            return String::new();
        }
        // SAFETY: LLVM returned the pair as a string that lives as long as the module.
        let bytes = unsafe { std::slice::from_raw_parts(self.data, self.length) };
        String::from_utf8_lossy(bytes).into_owned()
    }
}

/// The shim calls this for each variable of a function.
pub type VariableVisitor = extern "C" fn(*mut c_void, LLVMValueRef, LLVMValueRef, LLVMMetadataRef, bool);

/// The shim calls this for each loop of a function.
type LoopVisitor = extern "C" fn(*mut c_void, *const LLVMBasicBlockRef, usize);

unsafe extern "C" {
    fn rh_split_before(instruction: LLVMValueRef) -> LLVMBasicBlockRef;
    fn rh_duplicate_without_hooks(block: LLVMBasicBlockRef) -> LLVMBasicBlockRef;
    fn rh_each_innermost_loop(function: LLVMValueRef, context: *mut c_void, visit: LoopVisitor);
    fn rh_copy_loop(blocks: *const LLVMBasicBlockRef, count: usize) -> *mut c_void;
    fn rh_counterpart(copy: *mut c_void, value: LLVMValueRef) -> LLVMValueRef;
    fn rh_enter_copy(copy: *mut c_void, from: LLVMBasicBlockRef);
    fn rh_leave_copy(copy: *mut c_void, from: LLVMBasicBlockRef);
    fn rh_join_copies(copies: *const *mut c_void, count: usize);
    fn rh_promote(local: LLVMValueRef);
    fn rh_case_value(instruction: LLVMValueRef, successor: c_uint) -> LLVMValueRef;
    fn rh_hoist_static_allocas(function: LLVMValueRef);
    fn rh_append_constructor(module: LLVMModuleRef, function: LLVMValueRef, priority: i32);
    fn rh_set_prologue(function: LLVMValueRef, data: LLVMValueRef);
    fn rh_has_prologue(function: LLVMValueRef) -> bool;
    fn rh_append_to_used(module: LLVMModuleRef, global: LLVMValueRef);
    fn rh_set_dso_local(global: LLVMValueRef);
    fn rh_is_for_executable(module: LLVMModuleRef) -> bool;
    fn rh_scope_function(scope: LLVMMetadataRef, linkage: bool) -> Text;
    fn rh_variable_name(variable: LLVMMetadataRef) -> Text;
    fn rh_variable_type(variable: LLVMMetadataRef) -> Text;
    fn rh_each_variable(function: LLVMValueRef, context: *mut c_void, visit: VariableVisitor);
}

/// The module under compilation.
#[derive(Clone, Copy)]
pub struct Module(pub LLVMModuleRef);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Block(pub LLVMBasicBlockRef);

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Type(pub LLVMTypeRef);

/// A value: an instruction, an argument, a constant, a global.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Value(pub LLVMValueRef);

/// A node of debug information.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Metadata(pub LLVMMetadataRef);

/// Walks a linked list of the C API, which ends with a null pointer.
fn chain<T: Copy>(first: Option<T>, next: impl Fn(T) -> Option<T>) -> impl Iterator<Item = T> {
    std::iter::successors(first, move |&item| next(item))
}

impl Module {
    /// Returns the context that owns the module's types.
    pub fn context(self) -> LLVMContextRef {
        llvm!(LLVMGetModuleContext(self.0))
    }
    /// Sizes and offsets of types.
    pub fn layout(self) -> LLVMTargetDataRef {
        llvm!(LLVMGetModuleDataLayout(self.0))
    }
    /// Returns the functions, declarations included.
    pub fn functions(self) -> impl Iterator<Item = Value> {
        chain(Value::new(llvm!(LLVMGetFirstFunction(self.0))), |f| Value::new(llvm!(LLVMGetNextFunction(f.0))))
    }
    /// Returns the global variables.
    pub fn globals(self) -> impl Iterator<Item = Value> {
        chain(Value::new(llvm!(LLVMGetFirstGlobal(self.0))), |g| Value::new(llvm!(LLVMGetNextGlobal(g.0))))
    }
    /// Returns the aliases.
    pub fn aliases(self) -> impl Iterator<Item = Value> {
        chain(Value::new(llvm!(LLVMGetFirstGlobalAlias(self.0))), |a| Value::new(llvm!(LLVMGetNextGlobalAlias(a.0))))
    }
    /// Returns the functions that choose the implementation of an ifunc. They run before relocations are done.
    pub fn resolvers(self) -> impl Iterator<Item = Value> {
        chain(Value::new(llvm!(LLVMGetFirstGlobalIFunc(self.0))), |i| Value::new(llvm!(LLVMGetNextGlobalIFunc(i.0))))
            .filter_map(|ifunc| Value::new(llvm!(LLVMGetGlobalIFuncResolver(ifunc.0))))
    }
    /// Returns the global variable with this name.
    pub fn global(self, name: &CStr) -> Option<Value> {
        Value::new(llvm!(LLVMGetNamedGlobal(self.0, name.as_ptr())))
    }
    /// Returns the path of the source file, as it was given to the compiler.
    pub fn source(self) -> String {
        let mut length = 0;
        let data = llvm!(LLVMGetSourceFileName(self.0, &mut length));
        Text { data: data.cast(), length }.to_owned()
    }
    /// Adds a global variable without initialiser.
    pub fn add_global(self, ty: Type, name: &CStr) -> Value {
        Value(llvm!(LLVMAddGlobal(self.0, ty.0, name.as_ptr())))
    }
    /// Returns true if the module has assembler outside functions.
    pub fn has_assembler(self) -> bool {
        let mut length = 0;
        llvm!(LLVMGetModuleInlineAsm(self.0, &mut length));
        length > 0
    }
    /// Keeps a global through optimisation and linking.
    pub fn keep(self, global: Value) {
        llvm!(rh_append_to_used(self.0, global.0));
    }
    /// Runs a function when the program starts, in order of priority.
    pub fn add_constructor(self, function: Value, priority: i32) {
        llvm!(rh_append_constructor(self.0, function.0, priority));
    }
    /// Returns true if the code can only become part of an executable, which also contains the runtime.
    pub fn is_for_executable(self) -> bool {
        llvm!(rh_is_for_executable(self.0))
    }
    /// Returns the bytes that a store of this type writes; 0 for types without size.
    pub fn store_size(self, ty: Type) -> u64 {
        if ty.is_sized() { llvm!(LLVMStoreSizeOfType(self.layout(), ty.0)) } else { 0 }
    }
    /// Returns the distance of two neighbours of this type in an array; 0 for types without size.
    pub fn stride(self, ty: Type) -> u64 {
        if ty.is_sized() { llvm!(LLVMABISizeOfType(self.layout(), ty.0)) } else { 0 }
    }
    /// Returns the offset of a field of a structure type.
    pub fn field_offset(self, structure: Type, field: u32) -> u64 {
        llvm!(LLVMOffsetOfElement(self.layout(), structure.0, field))
    }
}

impl Type {
    /// Returns its kind.
    pub fn kind(self) -> LLVMTypeKind {
        llvm!(LLVMGetTypeKind(self.0))
    }
    /// Returns true if values of the type have a size.
    pub fn is_sized(self) -> bool {
        llvm!(LLVMTypeIsSized(self.0)) != 0
    }
    /// Returns true if it is a pointer of the ordinary address space.
    pub fn is_ordinary_pointer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMPointerTypeKind && llvm!(LLVMGetPointerAddressSpace(self.0)) == 0
    }
    /// Returns true if it is a pointer of another address space.
    pub fn is_foreign_pointer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMPointerTypeKind && llvm!(LLVMGetPointerAddressSpace(self.0)) != 0
    }
    /// Returns true if it is an integer.
    pub fn is_integer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMIntegerTypeKind
    }
    /// Returns the bits of an integer type.
    pub fn integer_bits(self) -> u32 {
        llvm!(LLVMGetIntTypeWidth(self.0))
    }
    /// Returns the element of an array or vector type.
    pub fn element(self) -> Type {
        Type(llvm!(LLVMGetElementType(self.0)))
    }
    /// Returns the lanes of a vector type with a fixed number of them.
    pub fn lanes(self) -> Option<u32> {
        (self.kind() == LLVMTypeKind::LLVMVectorTypeKind).then(|| llvm!(LLVMGetVectorSize(self.0)))
    }
    /// Returns the type of a field of a structure type.
    pub fn field(self, index: u32) -> Type {
        Type(llvm!(LLVMStructGetTypeAtIndex(self.0, index)))
    }
}

impl Block {
    fn new(block: LLVMBasicBlockRef) -> Option<Self> {
        (!block.is_null()).then_some(Self(block))
    }
    /// Returns the instructions, in order.
    pub fn instructions(self) -> impl Iterator<Item = Value> {
        chain(Value::new(llvm!(LLVMGetFirstInstruction(self.0))), Value::next)
    }
    /// Returns its last instruction.
    pub fn terminator(self) -> Option<Value> {
        Value::new(llvm!(LLVMGetBasicBlockTerminator(self.0)))
    }
}

impl Value {
    /// Returns a handle, unless the pointer is null.
    pub fn new(value: LLVMValueRef) -> Option<Self> {
        (!value.is_null()).then_some(Self(value))
    }
    /// Returns its kind.
    pub fn kind(self) -> LLVMValueKind {
        llvm!(LLVMGetValueKind(self.0))
    }
    /// Returns its type.
    pub fn ty(self) -> Type {
        Type(llvm!(LLVMTypeOf(self.0)))
    }
    /// Returns the name of a global.
    pub fn name(self) -> String {
        let mut length = 0;
        let data = llvm!(LLVMGetValueName2(self.0, &mut length));
        Text { data: data.cast(), length }.to_owned()
    }
    /// Returns the section that the source asks for, of a function or variable; empty when it asks for none.
    pub fn section(self) -> String {
        let data = llvm!(LLVMGetSection(self.0));
        if data.is_null() {
            return String::new();
        }
        // SAFETY: LLVM returns a string that ends with a zero byte and lives as long as the module.
        unsafe { CStr::from_ptr(data) }.to_string_lossy().into_owned()
    }
    /// Opcode, if it is an instruction.
    pub fn opcode(self) -> Option<LLVMOpcode> {
        // Not by `kind`, which calls some rare constants instructions.
        (!llvm!(LLVMIsAInstruction(self.0)).is_null()).then(|| llvm!(LLVMGetInstructionOpcode(self.0)))
    }
    /// Returns the number of operands of an instruction or constant.
    pub fn operand_count(self) -> u32 {
        llvm!(LLVMGetNumOperands(self.0)).unsigned_abs()
    }
    /// Returns an operand of an instruction or constant.
    pub fn operand(self, index: u32) -> Value {
        Value(llvm!(LLVMGetOperand(self.0, index)))
    }
    /// Returns all operands.
    pub fn operands(self) -> impl Iterator<Item = Value> {
        (0..self.operand_count()).map(move |index| self.operand(index))
    }
    /// Returns the instructions and constants that use the value, each with the index of the operand.
    pub fn uses(self) -> impl Iterator<Item = (Value, u32)> {
        let first = llvm!(LLVMGetFirstUse(self.0));
        let uses = chain((!first.is_null()).then_some(first), |one| {
            let next = llvm!(LLVMGetNextUse(one));
            (!next.is_null()).then_some(next)
        });
        uses.flat_map(move |one| {
            let user = Value(llvm!(LLVMGetUser(one)));
            // A user that uses the value twice is visited twice, with all its operands each time.
            (0..user.operand_count()).filter(move |&index| user.operand(index) == self).map(move |index| (user, index))
        })
    }
    /// Returns the instruction after this one in its block.
    pub fn next(self) -> Option<Value> {
        Value::new(llvm!(LLVMGetNextInstruction(self.0)))
    }
    /// Returns the instruction before this one in its block.
    pub fn previous(self) -> Option<Value> {
        Value::new(llvm!(LLVMGetPreviousInstruction(self.0)))
    }
    /// Returns the block of an instruction.
    pub fn block(self) -> Block {
        Block(llvm!(LLVMGetInstructionParent(self.0)))
    }
    /// Debug location of an instruction.
    pub fn location(self) -> Option<Metadata> {
        Metadata::new(llvm!(LLVMInstructionGetDebugLoc(self.0)))
    }
    /// Returns the metadata of an instruction, by kind.
    pub fn metadata(self, kind: u32) -> Option<Value> {
        Value::new(llvm!(LLVMGetMetadata(self.0, kind)))
    }
    /// Returns the value of an integer constant of at most 64 bits, sign-extended.
    pub fn constant_integer(self) -> Option<i64> {
        let is_small = self.kind() == LLVMValueKind::LLVMConstantIntValueKind && self.ty().integer_bits() <= 64;
        is_small.then(|| llvm!(LLVMConstIntGetSExtValue(self.0)))
    }

    // Functions.

    /// Adds bytes to a function without a prologue that are executed before everything else.
    pub fn set_prologue(self, data: Value) {
        if !llvm!(rh_has_prologue(self.0)) {
            llvm!(rh_set_prologue(self.0, data.0));
        }
    }
    /// Instructions and constraints of inline assembler.
    pub fn assembler(self) -> (String, String) {
        let mut length = 0;
        let data = llvm!(LLVMGetInlineAsmAsmString(self.0, &mut length));
        let text = Text { data: data.cast(), length }.to_owned();
        let data = llvm!(LLVMGetInlineAsmConstraintString(self.0, &mut length));
        (text, Text { data: data.cast(), length }.to_owned())
    }

    /// Returns true if inline assembler can touch memory: it has instructions, and declares it or has operands in
    /// memory.
    pub fn assembler_touches_memory(self) -> bool {
        let (text, constraints) = self.assembler();
        text.trim() != "" && (constraints.contains("{memory}") || constraints.contains('*'))
    }

    /// Returns true if a function, variable or alias is only declared.
    pub fn is_declaration(self) -> bool {
        llvm!(LLVMIsDeclaration(self.0)) != 0
    }
    /// Returns the blocks of a function.
    pub fn blocks(self) -> impl Iterator<Item = Block> {
        chain(Block::new(llvm!(LLVMGetFirstBasicBlock(self.0))), |b| Block::new(llvm!(LLVMGetNextBasicBlock(b.0))))
    }
    /// Returns the parameters of a function.
    pub fn parameters(self) -> impl Iterator<Item = Value> {
        (0..llvm!(LLVMCountParams(self.0))).map(move |index| Value(llvm!(LLVMGetParam(self.0, index))))
    }
    /// Returns true if a function has an attribute, by kind.
    pub fn has_attribute(self, index: c_uint, kind: u32) -> bool {
        !llvm!(LLVMGetEnumAttributeAtIndex(self.0, index, kind)).is_null()
    }
    /// Gives a function an attribute.
    pub fn add_attribute(self, context: LLVMContextRef, kind: u32) {
        llvm!(LLVMAddAttributeAtIndex(self.0, FUNCTION, LLVMCreateEnumAttribute(context, kind, 0)));
    }
    /// Removes an attribute from a function.
    pub fn remove_attribute(self, kind: u32) {
        llvm!(LLVMRemoveEnumAttributeAtIndex(self.0, FUNCTION, kind));
    }
    /// Removes an attribute from a call.
    pub fn remove_call_attribute(self, kind: u32) {
        llvm!(LLVMRemoveCallSiteEnumAttribute(self.0, FUNCTION, kind));
    }
    /// Debug information of a function.
    pub fn subprogram(self) -> Option<Metadata> {
        Metadata::new(llvm!(LLVMGetSubprogram(self.0)))
    }
    /// Moves allocas of constant size to the top of the function, so that its entry block can be split.
    pub fn hoist_static_allocas(self) {
        llvm!(rh_hoist_static_allocas(self.0));
    }
    /// Calls `visit` for each value that debug information names.
    pub fn each_variable(self, context: *mut c_void, visit: VariableVisitor) {
        llvm!(rh_each_variable(self.0, context, visit));
    }
    /// Promises that the symbol is in the same executable or library.
    pub fn set_dso_local(self) {
        llvm!(rh_set_dso_local(self.0));
    }

    // Calls and invokes.

    /// Returns true if it is a call or an invoke.
    pub fn is_call(self) -> bool {
        matches!(self.opcode(), Some(LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke))
    }
    /// Returns the callee of a call.
    pub fn callee(self) -> Value {
        Value(llvm!(LLVMGetCalledValue(self.0)))
    }
    /// Returns the called function, if it is known.
    pub fn callee_function(self) -> Option<Value> {
        let callee = self.callee();
        (callee.kind() == LLVMValueKind::LLVMFunctionValueKind).then_some(callee)
    }
    /// Returns true if it is a call of an intrinsic.
    pub fn callee_intrinsic(self) -> bool {
        self.is_call() && self.callee_function().is_some_and(|callee| llvm!(LLVMGetIntrinsicID(callee.0)) != 0)
    }
    /// Returns the number of arguments of a call.
    pub fn argument_count(self) -> u32 {
        llvm!(LLVMGetNumArgOperands(self.0))
    }
    /// Returns the name of an intrinsic, without its type suffixes.
    pub fn intrinsic_name(self) -> Option<String> {
        let id = llvm!(LLVMGetIntrinsicID(self.0));
        (id != 0).then(|| {
            let mut length = 0;
            let data = llvm!(LLVMIntrinsicGetName(id, &mut length));
            Text { data: data.cast(), length }.to_owned()
        })
    }
    /// Returns an attribute of a call or of one of its arguments, from the call itself or from the callee.
    pub fn call_attribute(self, index: c_uint, kind: u32) -> Option<LLVMAttributeRef> {
        let own = llvm!(LLVMGetCallSiteEnumAttribute(self.0, index, kind));
        let attribute = match self.callee_function() {
            Some(callee) if own.is_null() => llvm!(LLVMGetEnumAttributeAtIndex(callee.0, index, kind)),
            _ => own,
        };
        (!attribute.is_null()).then_some(attribute)
    }
    /// Returns true if a call must be a tail call, so that the return follows it.
    pub fn is_must_tail(self) -> bool {
        self.opcode() == Some(LLVMOpcode::LLVMCall)
            && llvm!(LLVMGetTailCallKind(self.0)) == LLVMTailCallKind::LLVMTailCallKindMustTail
    }

    // Memory operations.

    /// Memory order of a load, store, fence or read-modify-write.
    pub fn ordering(self) -> LLVMAtomicOrdering {
        llvm!(LLVMGetOrdering(self.0))
    }
    /// Returns true if a load, store, or other memory operation is volatile.
    pub fn is_volatile(self) -> bool {
        llvm!(LLVMGetVolatile(self.0)) != 0
    }
    /// Returns true if an atomic operation is ordered only against signal handlers of its own thread.
    pub fn is_single_thread(self) -> bool {
        llvm!(LLVMIsAtomicSingleThread(self.0)) != 0
    }
    /// Returns the value that selects a successor of a switch, other than the first, which is the default.
    pub fn case_value(self, successor: u32) -> Value {
        Value(llvm!(rh_case_value(self.0, successor)))
    }
    /// Returns the type that a GEP computes with.
    pub fn source_element_type(self) -> Type {
        Type(llvm!(LLVMGetGEPSourceElementType(self.0)))
    }
}

impl Metadata {
    /// Returns a handle, unless the pointer is null.
    pub fn new(metadata: LLVMMetadataRef) -> Option<Self> {
        (!metadata.is_null()).then_some(Self(metadata))
    }
    /// Returns the line of a location.
    pub fn line(self) -> u32 {
        llvm!(LLVMDILocationGetLine(self.0))
    }
    /// Returns the column of a location.
    pub fn column(self) -> u32 {
        llvm!(LLVMDILocationGetColumn(self.0))
    }
    /// Returns the scope of a location.
    pub fn scope(self) -> Metadata {
        Metadata(llvm!(LLVMDILocationGetScope(self.0)))
    }
    /// Returns where the code of a location was inlined.
    pub fn inlined_at(self) -> Option<Metadata> {
        Metadata::new(llvm!(LLVMDILocationGetInlinedAt(self.0)))
    }
    /// Returns the line at which a subprogram begins.
    pub fn subprogram_line(self) -> u32 {
        llvm!(LLVMDISubprogramGetLine(self.0))
    }
    /// Returns the name of the function that a scope belongs to; `linkage` asks for its symbol.
    pub fn scope_function(self, linkage: bool) -> String {
        llvm!(rh_scope_function(self.0, linkage)).to_owned()
    }
    /// Returns the path of the file of a scope: directory and name.
    pub fn scope_file(self) -> Option<(String, String)> {
        Self::file_path(llvm!(LLVMDIScopeGetFile(self.0)))
    }
    /// Returns the path of the file of a variable: directory and name.
    pub fn variable_file(self) -> Option<(String, String)> {
        Self::file_path(llvm!(LLVMDIVariableGetFile(self.0)))
    }
    fn file_path(file: LLVMMetadataRef) -> Option<(String, String)> {
        if file.is_null() {
            return None;
        }
        let (mut directory, mut name): (c_uint, c_uint) = (0, 0);
        let directory_data: *const c_char = llvm!(LLVMDIFileGetDirectory(file, &mut directory));
        let name_data: *const c_char = llvm!(LLVMDIFileGetFilename(file, &mut name));
        let text = |data: *const c_char, length: c_uint| Text { data: data.cast(), length: length as usize }.to_owned();
        Some((text(directory_data, directory), text(name_data, name)))
    }
    /// Returns the name of a variable.
    pub fn variable_name(self) -> String {
        llvm!(rh_variable_name(self.0)).to_owned()
    }
    /// Returns the name of a variable's type, or of the type that it points to.
    pub fn variable_type(self) -> String {
        llvm!(rh_variable_type(self.0)).to_owned()
    }
    /// Returns the line of a variable's declaration.
    pub fn variable_line(self) -> u32 {
        llvm!(LLVMDIVariableGetLine(self.0))
    }
}

/// Index of the attributes of a function itself.
pub const FUNCTION: c_uint = crate::sys::LLVMAttributeFunctionIndex;

/// Returns the number of an attribute in this version of LLVM; 0 if it has none of that name.
pub fn attribute_kind(name: &str) -> u32 {
    llvm!(LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()))
}

/// Returns the number of a kind of metadata.
pub fn metadata_kind(context: LLVMContextRef, name: &str) -> u32 {
    llvm!(LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as c_uint))
}

/// Returns the block that begins with `instruction`, after splitting its block there.
pub fn split_before(instruction: Value) -> Block {
    Block(llvm!(rh_split_before(instruction.0)))
}

/// Returns a copy of a block with the same successors, but without its calls, all of which are hooks. Later code gets
/// its values from either of them.
pub fn duplicate_without_hooks(block: Block) -> Block {
    Block(llvm!(rh_duplicate_without_hooks(block.0)))
}

/// Returns the blocks of each innermost loop of a function, the header first.
pub fn innermost_loops(function: Value) -> Vec<Vec<Block>> {
    extern "C" fn visit(context: *mut c_void, blocks: *const LLVMBasicBlockRef, count: usize) {
        // SAFETY: the shim passes on the context that it was given, and the blocks of one loop.
        let (loops, blocks) =
            unsafe { (&mut *context.cast::<Vec<Vec<Block>>>(), std::slice::from_raw_parts(blocks, count)) };
        loops.push(blocks.iter().map(|&block| Block(block)).collect());
    }
    let mut loops: Vec<Vec<Block>> = Vec::new();
    llvm!(rh_each_innermost_loop(function.0, (&raw mut loops).cast(), visit));
    loops
}

/// A copy of a loop.
pub struct LoopCopy(*mut c_void);

impl LoopCopy {
    /// Copies a loop, given all its blocks, the header first. The copy branches to the same places as the loop; no
    /// branch leads to it.
    pub fn of(blocks: &[Block]) -> Self {
        Self(llvm!(rh_copy_loop(blocks.as_ptr().cast(), blocks.len())))
    }

    /// Returns the counterpart in the copy of a value of the loop. Other values map to themselves.
    pub fn counterpart(&self, value: Value) -> Value {
        Value(llvm!(rh_counterpart(self.0, value.0)))
    }

    /// Returns the counterpart in the copy of a block of the loop.
    pub fn block(&self, block: Block) -> Block {
        let copied = self.counterpart(Value(llvm!(LLVMBasicBlockAsValue(block.0))));
        Block(llvm!(LLVMValueAsBasicBlock(copied.0)))
    }

    /// Makes control pass from the loop's header, through `from`, to the copy's header.
    pub fn enter(&self, from: Block) {
        llvm!(rh_enter_copy(self.0, from.0));
    }

    /// Makes control pass from the copy's header, through `from`, to the loop's header.
    pub fn leave(&self, from: Block) {
        llvm!(rh_leave_copy(self.0, from.0));
    }

    /// Adds phis, so that each value comes from the copy that control came from. The arguments must be all copies of
    /// one loop.
    pub fn join(copies: Vec<Self>) {
        let copies: Vec<*mut c_void> = copies.into_iter().map(|copy| copy.0).collect();
        llvm!(rh_join_copies(copies.as_ptr(), copies.len()));
    }
}

/// Turns a local variable that is only loaded and stored into values.
pub fn promote(local: Value) {
    llvm!(rh_promote(local.0));
}
