//! Emits the hooks that a [`Plan`](crate::plan::Plan) asks for.

use std::ffi::CStr;

use rustc_hash::FxHashMap;

use crate::frame;
use crate::kinds::Kinds;
use crate::library::StringCall;
use crate::llvm::{Block, Metadata, Module, Type, Value, duplicate_without_hooks, llvm, split_before};
use crate::operation::{Access, Atomic, Lanes, Length, Mask, Operation};
use crate::plan::{Announcement, FunctionPlan, Plan};
use crate::reach::Told;
use crate::sys::core::*;
use crate::sys::debuginfo::*;
use crate::sys::prelude::*;
use crate::sys::{LLVMIntPredicate, LLVMTypeKind};

/// LLVM's number of the calling convention that leaves nearly all registers alone.
const PRESERVE_MOST: u32 = 14;
/// Code that is not traced is this many times as likely as traced code.
const LIKELY: u64 = (1 << 20) - 1;
pub(crate) const UNNAMED: *const std::ffi::c_char = c"".as_ptr();

/// Types that are used repeatedly.
pub struct Types {
    /// `void`.
    pub void: Type,
    /// `i8`.
    pub i8: Type,
    /// `i32`.
    pub i32: Type,
    /// `i64`.
    pub i64: Type,
    /// `ptr`.
    pub ptr: Type,
}

/// Writes hooks into one module.
pub struct Emitter<'a> {
    pub(crate) module: Module,
    pub(crate) kinds: &'a Kinds,
    pub(crate) types: Types,
    /// The array with one byte for each number.
    pub(crate) sites: Value,
    pub(crate) builder: LLVMBuilderRef,
    hooks: FxHashMap<&'static CStr, (Value, Type)>,
    tracing: Value,
    /// Events until the next one that the runtime has to see.
    pub(crate) budget: Value,
    /// The memory that an execution tracks, if it tracks only few variables.
    pub(crate) look_from: Value,
    /// Its size; the largest number in all other executions.
    pub(crate) look_bytes: Value,
    pub(crate) stack: Value,
    weights: LLVMValueRef,
    pub(crate) told: Told,
    /// Where the arguments of modelled calls are.
    pub(crate) arguments: FxHashMap<Value, Value>,
    pub(crate) models: FxHashMap<&'static str, Value>,
    /// Location of the hook that is being emitted.
    location: Option<Metadata>,
}

impl Drop for Emitter<'_> {
    fn drop(&mut self) {
        llvm!(LLVMDisposeBuilder(self.builder));
    }
}

impl<'a> Emitter<'a> {
    /// Declares the runtime's symbols, and the array of sites.
    pub fn new(module: Module, kinds: &'a Kinds, plan: &Plan) -> Self {
        let context = module.context();
        let types = Types {
            void: Type(llvm!(LLVMVoidTypeInContext(context))),
            i8: Type(llvm!(LLVMInt8TypeInContext(context))),
            i32: Type(llvm!(LLVMInt32TypeInContext(context))),
            i64: Type(llvm!(LLVMInt64TypeInContext(context))),
            ptr: Type(llvm!(LLVMPointerTypeInContext(context, 0))),
        };
        let sites = crate::registration::add_sites(module, plan);
        let external = |name: &CStr, ty: Type| {
            let global = module.global(name).unwrap_or_else(|| module.add_global(ty, name));
            if module.is_for_executable() {
                global.set_dso_local();
            }
            global
        };
        let tracing = external(c"__rh_tracing", types.i8);
        let budget = external(c"RH_BUDGET", types.i64);
        let [look_from, look_bytes] = [c"__rh_look_from", c"__rh_look_bytes"].map(|name| external(name, types.i64));
        let stack = external(c"__rh_stack", types.ptr);
        let weights = branch_weights(context, &types);
        let builder = llvm!(LLVMCreateBuilderInContext(context));
        let hooks = FxHashMap::default();
        let told = Told::new(module, plan);
        let location = None;
        Self {
            module,
            kinds,
            types,
            sites,
            builder,
            hooks,
            tracing,
            budget,
            look_from,
            look_bytes,
            stack,
            weights,
            told,
            arguments: FxHashMap::default(),
            models: FxHashMap::default(),
            location,
        }
    }

    /// Emits everything that one function gets.
    pub fn function(&mut self, plan: &FunctionPlan) {
        plan.function.hoist_static_allocas();
        let exits = frame::Exits::find(plan.function, self.kinds);
        let frame = plan.has_frame.then(|| frame::enter(self, plan.function));
        if let Some(frame) = frame {
            frame::heal(self, frame, &exits);
        }
        if let Some(site) = plan.entry_site {
            self.location = self.function_location(plan.function);
            let first = frame::first_instruction(plan.function, frame);
            self.announce_entry(first, site);
        }
        self.location = self.function_location(plan.function);
        let copies: Vec<_> = plan.copied.iter().map(|copied| self.copy_loop(copied, &plan.announcements)).collect();
        let befores: Vec<Option<Value>> =
            plan.regions.iter().map(|region| plan.announcements[region.start].instruction.previous()).collect();
        for announcement in &plan.announcements {
            // No code may come between a tail call that must stay one and its return.
            let at = frame::before_tail_call(announcement.instruction);
            self.locate(plan.function, announcement.instruction);
            let site = self.site(announcement.site);
            for operation in &announcement.operations {
                self.announce(at, site, operation);
            }
        }
        for (modelled, site) in &plan.returning {
            self.locate(plan.function, modelled.call);
            let site = self.site(*site);
            self.ends(site, modelled);
        }
        for written in &plan.written {
            self.locate(plan.function, written.call);
            self.wrote(written);
        }
        self.scopes(plan);
        self.reach(plan);
        // Only now: hooks refer to values of the original program, and shortcuts change where these come from.
        for (region, before) in plan.regions.iter().zip(befores) {
            let announcements = &plan.announcements[region.clone()];
            self.locate(plan.function, announcements[0].instruction);
            self.offer_shortcut(announcements, before);
        }
        for &end in &plan.rounds {
            self.locate(plan.function, end);
            self.count_round(frame::before_tail_call(end));
        }
        self.location = self.function_location(plan.function);
        self.join_copies(copies, &plan.announcements);
        self.location = None;
        if let Some(frame) = frame {
            frame::leave(self, frame, &exits);
        }
    }

    /// Sets the instruction to which the emitted code belongs.
    pub(crate) fn locate(&mut self, function: Value, instruction: Value) {
        self.location = instruction.location().or_else(|| self.function_location(function));
    }

    /// Adds a copy without hooks to a region that has its hooks. The copy runs if no event of the region is tracked: it
    /// only counts them. `before` is the instruction before the region in its block.
    fn offer_shortcut(&mut self, region: &[Announcement], before: Option<Value>) {
        let (first, last) = (region[0].instruction, region[region.len() - 1].instruction);
        let events = region.iter().map(|announcement| announcement.operations.len() as u64).sum();
        let start = match before {
            Some(before) => before.next(),
            None => first.block().instructions().next(),
        };
        let (head, announced) = self.split(start.expect("the region is behind"));
        // A single access need not be copied: only its hook is skipped.
        let end = if region.len() == 1 { first } else { last.next().expect("an access does not end a block") };
        let behind = split_before(end);
        let shortcut = if region.len() == 1 {
            let counted = self.append_block(behind);
            self.at_end(counted);
            self.go_to(behind);
            counted
        } else {
            duplicate_without_hooks(announced)
        };
        self.at_end(head);
        let budget = self.unless_noticed(region[0].site, events, shortcut, announced);
        self.before(shortcut.instructions().next().expect("a block has an instruction"));
        let left = self.subtract(budget, events);
        self.store(left, self.budget);
    }

    /// Branches to `shortcut` if the region that begins at `site` is clear and none of its events needs attention, and
    /// otherwise to `announced`. Returns the budget, for the first case.
    fn unless_noticed(&mut self, site: u32, events: u64, shortcut: Block, announced: Block) -> Value {
        let clear = self.append_block(announced);
        let is_clear = self.are_clear(&[site]);
        self.branch(is_clear, clear, announced);
        self.at_end(clear);
        let budget = self.load_number(self.budget);
        let suffices = self.compare(LLVMIntPredicate::LLVMIntUGT, budget, self.i64(events));
        self.likely_branch(suffices, shortcut, announced);
        budget
    }

    fn announce_entry(&mut self, at: Value, site: u32) {
        let site = self.site(site);
        self.traced(at, |emitter| emitter.call(c"__rh_enter", &[site]));
    }

    fn announce(&mut self, at: Value, site: Value, operation: &Operation) {
        self.before(at);
        match *operation {
            Operation::Plain(access, address, bytes) => self.call(plain_hook(access, bytes), &[address, site]),
            Operation::Range(access, address, length) => {
                let length = self.length(length);
                self.call(range_hook(access), &[address, length, site]);
            }
            Operation::Masked { access, mask, count, lanes, bytes } => {
                let bits = self.mask_bits(mask, count);
                self.masked(at, site, access, bits, lanes, bytes);
            }
            Operation::VirtualTableRead(address) => self.call(c"__rh_vptr_read", &[address, site]),
            Operation::VirtualTableUpdate(address, value) => {
                self.call(c"__rh_vptr_update", &[address, site, value]);
            }
            Operation::Atomic(kind, address, info) => {
                let hook = match kind {
                    Atomic::Load => c"__rh_atomic_load",
                    Atomic::Store => c"__rh_atomic_store",
                    Atomic::Update => c"__rh_atomic_rmw",
                };
                self.call(hook, &[address, site, self.i32(info)]);
            }
            Operation::CompareExchange(address, info, expected) => {
                let low = self.as_i64(expected);
                if let Some(high) = self.upper_half(expected) {
                    self.call(c"__rh_cmpxchg16", &[address, site, self.i32(info), low, high]);
                } else {
                    self.call(c"__rh_cmpxchg", &[address, site, self.i32(info), low]);
                }
            }
            Operation::Fence(order) => self.call(c"__rh_fence", &[site, self.i32(order)]),
            Operation::LibraryString(string) => self.string(site, string),
            Operation::Library(modelled) => self.begins(site, &modelled),
            Operation::Branch(value) => self.traced(at, |emitter| {
                let value = emitter.as_i64(value);
                emitter.call(c"__rh_branch", &[site, value]);
            }),
            Operation::Call(callee) => self.traced(at, |emitter| emitter.call(c"__rh_call", &[site, callee])),
            Operation::Leave => self.traced(at, |emitter| emitter.call(c"__rh_leave", &[site])),
        }
    }

    fn string(&mut self, site: Value, string: StringCall) {
        let second = match (string.second, string.character) {
            (Some(second), _) => second,
            (None, Some(character)) => {
                let character = self.as_i64(character);
                Value(llvm!(LLVMBuildIntToPtr(self.builder, character.0, self.types.ptr.0, UNNAMED)))
            }
            (None, None) => Value(llvm!(LLVMConstNull(self.types.ptr.0))),
        };
        let length = match string.length {
            Some(length) => self.as_i64(length),
            None => self.i64(u64::MAX),
        };
        let which = self.i32(string.which);
        self.call(c"__rh_lib_string", &[string.first, second, length, site, which]);
    }

    /// Announces each lane whose bit is set. This is a loop over the set bits: usually few lanes are in use, and the
    /// code stays short for any number of lanes.
    fn masked(&mut self, at: Value, site: Value, access: Access, bits: Value, lanes: Lanes, bytes: u64) {
        if let Lanes::Compressed(address) = lanes {
            let count = self.intrinsic(c"llvm.ctpop", &[bits]);
            let length = Value(llvm!(LLVMBuildMul(self.builder, count.0, self.i64(bytes).0, UNNAMED)));
            self.call(range_hook(access), &[address, length, site]);
            return;
        }
        let (head, tail) = self.split(at);
        let lane_block = self.append_block(tail);
        let zero = self.i64(0);
        self.at_end(head);
        let is_empty = self.equal(bits, zero);
        self.branch(is_empty, tail, lane_block);

        self.at_end(lane_block);
        let remaining = Value(llvm!(LLVMBuildPhi(self.builder, self.types.i64.0, UNNAMED)));
        let lane = self.intrinsic(c"llvm.cttz", &[remaining, self.boolean(true)]);
        let address = self.lane_address(lanes, lane, bytes);
        match bytes {
            1 | 2 | 4 | 8 => self.call(plain_hook(access, bytes), &[address, site]),
            _ => self.call(range_hook(access), &[address, self.i64(bytes), site]),
        }
        let minus_one = self.i64(u64::MAX);
        let lower = Value(llvm!(LLVMBuildAdd(self.builder, remaining.0, minus_one.0, UNNAMED)));
        let rest = Value(llvm!(LLVMBuildAnd(self.builder, remaining.0, lower.0, UNNAMED)));
        let is_last = self.equal(rest, zero);
        self.branch(is_last, tail, lane_block);
        let (mut values, mut blocks) = ([bits.0, rest.0], [head.0, lane_block.0]);
        llvm!(LLVMAddIncoming(remaining.0, values.as_mut_ptr(), blocks.as_mut_ptr(), 2));
    }

    fn lane_address(&mut self, lanes: Lanes, lane: Value, bytes: u64) -> Value {
        match lanes {
            Lanes::Consecutive(base) | Lanes::Compressed(base) => {
                let offset = Value(llvm!(LLVMBuildMul(self.builder, lane.0, self.i64(bytes).0, UNNAMED)));
                self.offset(base, offset)
            }
            Lanes::Addresses(addresses) => {
                Value(llvm!(LLVMBuildExtractElement(self.builder, addresses.0, lane.0, UNNAMED)))
            }
            Lanes::Indexed { base, indices, scale } => {
                let index = llvm!(LLVMBuildExtractElement(self.builder, indices.0, lane.0, UNNAMED));
                let index = llvm!(LLVMBuildIntCast2(self.builder, index, self.types.i64.0, 1, UNNAMED));
                let scale = llvm!(LLVMBuildIntCast2(self.builder, scale.0, self.types.i64.0, 0, UNNAMED));
                let offset = Value(llvm!(LLVMBuildMul(self.builder, index, scale, UNNAMED)));
                self.offset(base, offset)
            }
        }
    }

    /// Returns the mask as an `i64`, a bit for each of the first `count` lanes.
    fn mask_bits(&mut self, mask: Mask, count: u32) -> Value {
        let context = self.module.context();
        let bits = match mask {
            Mask::Bits(bits) => bits,
            Mask::ClearBits(bits) => Value(llvm!(LLVMBuildNot(self.builder, bits.0, UNNAMED))),
            Mask::Signs(values) => {
                let vector = values.ty();
                let width = (self.module.store_size(vector.element()) * 8) as u32;
                let integers = llvm!(LLVMVectorType(LLVMIntTypeInContext(context, width), LLVMGetVectorSize(vector.0)));
                let values = llvm!(LLVMBuildBitCast(self.builder, values.0, integers, UNNAMED));
                let zero = llvm!(LLVMConstNull(integers));
                Value(llvm!(LLVMBuildICmp(self.builder, LLVMIntPredicate::LLVMIntSLT, values, zero, UNNAMED)))
            }
        };
        let width = bits.ty().lanes().unwrap_or(count);
        let integer = llvm!(LLVMIntTypeInContext(context, width));
        let packed = llvm!(LLVMBuildBitCast(self.builder, bits.0, integer, UNNAMED));
        let wide = llvm!(LLVMBuildIntCast2(self.builder, packed, self.types.i64.0, 0, UNNAMED));
        if count >= width {
            return Value(wide);
        }
        let used = self.i64((1 << count) - 1);
        Value(llvm!(LLVMBuildAnd(self.builder, wide, used.0, UNNAMED)))
    }

    /// Emits `body` so that it runs only while the program is traced.
    fn traced(&mut self, at: Value, body: impl FnOnce(&mut Self)) {
        self.before(at);
        let flag = Value(llvm!(LLVMBuildLoad2(self.builder, self.types.i8.0, self.tracing.0, UNNAMED)));
        let zero = Value(llvm!(LLVMConstNull(self.types.i8.0)));
        let is_off = self.equal(flag, zero);
        self.rarely(at, is_off, body);
    }

    /// Emits `body` so that it runs only if the condition, which almost always holds, does not.
    pub(crate) fn rarely(&mut self, at: Value, condition: Value, body: impl FnOnce(&mut Self)) {
        let (head, tail) = self.split(at);
        let rare = self.append_block(tail);
        self.at_end(head);
        self.likely_branch(condition, tail, rare);
        self.at_end(rare);
        body(self);
        self.go_to(tail);
    }

    /// Counts an event that no other thread can notice.
    fn count_round(&mut self, at: Value) {
        self.before(at);
        let budget = self.load_number(self.budget);
        let left = self.subtract(budget, 1);
        self.store(left, self.budget);
        let goes_on = self.compare(LLVMIntPredicate::LLVMIntNE, left, self.i64(0));
        let (head, tail) = self.split(at);
        let ended = self.append_block(tail);
        self.at_end(head);
        self.likely_branch(goes_on, tail, ended);
        self.at_end(ended);
        self.call(c"__rh_round", &[]);
        self.go_to(tail);
    }

    // Helpers for emitting code.

    /// Returns the byte of a site.
    fn site(&self, number: u32) -> Value {
        self.constant_offset_of(self.sites, u64::from(number))
    }

    /// Returns a byte of a global variable.
    pub(crate) fn constant_offset_of(&self, global: Value, bytes: u64) -> Value {
        let mut index = [self.i64(bytes).0];
        Value(llvm!(LLVMConstInBoundsGEP2(self.types.i8.0, global.0, index.as_mut_ptr(), 1)))
    }

    /// Continues emitting before an instruction.
    pub(crate) fn before(&self, instruction: Value) {
        llvm!(LLVMPositionBuilderBefore(self.builder, instruction.0));
        self.set_location();
    }

    /// Continues emitting at the end of a block.
    pub(crate) fn at_end(&self, block: Block) {
        llvm!(LLVMPositionBuilderAtEnd(self.builder, block.0));
        self.set_location();
    }

    fn set_location(&self) {
        let location = self.location.map_or(std::ptr::null_mut(), |location| location.0);
        llvm!(LLVMSetCurrentDebugLocation2(self.builder, location));
    }

    /// Splits the block before `at`; the first half is left without terminator.
    pub(crate) fn split(&self, at: Value) -> (Block, Block) {
        let head = at.block();
        let tail = split_before(at);
        if let Some(branch) = head.terminator() {
            llvm!(LLVMInstructionEraseFromParent(branch.0));
        }
        (head, tail)
    }

    /// Returns a new block of the same function.
    pub(crate) fn append_block(&self, neighbour: Block) -> Block {
        let function = llvm!(LLVMGetBasicBlockParent(neighbour.0));
        Block(llvm!(LLVMAppendBasicBlockInContext(self.module.context(), function, UNNAMED)))
    }

    pub(crate) fn branch(&self, condition: Value, yes: Block, no: Block) -> Value {
        Value(llvm!(LLVMBuildCondBr(self.builder, condition.0, yes.0, no.0)))
    }

    /// Emits a branch whose second target is hardly ever taken.
    pub(crate) fn likely_branch(&self, condition: Value, yes: Block, no: Block) {
        let branch = self.branch(condition, yes, no);
        llvm!(LLVMSetMetadata(branch.0, self.kinds.profile, self.weights));
    }

    pub(crate) fn go_to(&self, block: Block) {
        llvm!(LLVMBuildBr(self.builder, block.0));
    }

    pub(crate) fn equal(&self, left: Value, right: Value) -> Value {
        self.compare(LLVMIntPredicate::LLVMIntEQ, left, right)
    }

    pub(crate) fn compare(&self, predicate: LLVMIntPredicate, left: Value, right: Value) -> Value {
        Value(llvm!(LLVMBuildICmp(self.builder, predicate, left.0, right.0, UNNAMED)))
    }

    /// Returns an `i64` minus a constant.
    pub(crate) fn subtract(&self, from: Value, number: u64) -> Value {
        Value(llvm!(LLVMBuildSub(self.builder, from.0, self.i64(number).0, UNNAMED)))
    }

    /// Returns a value that is true if nothing that begins at any of these sites is tracked.
    pub(crate) fn are_clear(&self, heads: &[u32]) -> Value {
        let flags =
            |&site: &u32| Value(llvm!(LLVMBuildLoad2(self.builder, self.types.i8.0, self.site(site).0, UNNAMED)));
        let all = heads.iter().map(flags).reduce(|a, b| Value(llvm!(LLVMBuildAnd(self.builder, a.0, b.0, UNNAMED))));
        let zero = Value(llvm!(LLVMConstNull(self.types.i8.0)));
        self.compare(LLVMIntPredicate::LLVMIntSLT, all.expect("there is a site"), zero)
    }

    /// Returns a variable of the function for an `i64`.
    pub(crate) fn local(&self, function: Value) -> Value {
        let entry = Block(llvm!(LLVMGetEntryBasicBlock(function.0)));
        self.before(entry.instructions().next().expect("a block has a terminator"));
        Value(llvm!(LLVMBuildAlloca(self.builder, self.types.i64.0, UNNAMED)))
    }

    /// Returns the same for another type.
    pub(crate) fn local_of(&self, function: Value, ty: Type) -> Value {
        let entry = Block(llvm!(LLVMGetEntryBasicBlock(function.0)));
        self.before(entry.instructions().next().expect("a block has a terminator"));
        Value(llvm!(LLVMBuildAlloca(self.builder, ty.0, UNNAMED)))
    }

    /// Loads an `i64`.
    pub(crate) fn load_number(&self, from: Value) -> Value {
        Value(llvm!(LLVMBuildLoad2(self.builder, self.types.i64.0, from.0, UNNAMED)))
    }

    fn i32(&self, value: u32) -> Value {
        Value(llvm!(LLVMConstInt(self.types.i32.0, u64::from(value), 0)))
    }

    pub(crate) fn i64(&self, value: u64) -> Value {
        Value(llvm!(LLVMConstInt(self.types.i64.0, value, 0)))
    }

    fn boolean(&self, value: bool) -> Value {
        let ty = llvm!(LLVMInt1TypeInContext(self.module.context()));
        Value(llvm!(LLVMConstInt(ty, u64::from(value), 0)))
    }

    fn length(&self, length: Length) -> Value {
        match length {
            Length::Bytes(bytes) => self.i64(bytes),
            Length::Computed(value) => self.as_i64(value),
        }
    }

    /// Converts an integer or pointer to `i64`: wider ones lose their upper bits, narrower ones are zero-extended.
    pub(crate) fn as_i64(&self, value: Value) -> Value {
        let ty = value.ty();
        if ty == self.types.i64 {
            value
        } else if ty.kind() == LLVMTypeKind::LLVMPointerTypeKind {
            Value(llvm!(LLVMBuildPtrToInt(self.builder, value.0, self.types.i64.0, UNNAMED)))
        } else {
            Value(llvm!(LLVMBuildIntCast2(self.builder, value.0, self.types.i64.0, 0, UNNAMED)))
        }
    }

    /// Returns the bits of a wide integer that [`Self::as_i64`] leaves out.
    fn upper_half(&self, value: Value) -> Option<Value> {
        let ty = value.ty();
        if !ty.is_integer() || ty.integer_bits() <= 64 {
            return None;
        }
        let shift = llvm!(LLVMConstInt(ty.0, 64, 0));
        Some(self.as_i64(Value(llvm!(LLVMBuildLShr(self.builder, value.0, shift, UNNAMED)))))
    }

    /// Returns a pointer plus an offset.
    fn offset(&self, base: Value, offset: Value) -> Value {
        let mut index = [offset.0];
        Value(llvm!(LLVMBuildGEP2(self.builder, self.types.i8.0, base.0, index.as_mut_ptr(), 1, UNNAMED)))
    }

    /// Returns a pointer plus a constant offset in the same object.
    pub(crate) fn constant_offset(&self, base: Value, bytes: u64) -> Value {
        let mut index = [self.i64(bytes).0];
        Value(llvm!(LLVMBuildInBoundsGEP2(self.builder, self.types.i8.0, base.0, index.as_mut_ptr(), 1, UNNAMED)))
    }

    /// Loads a pointer.
    pub(crate) fn load_pointer(&self, from: Value) -> Value {
        Value(llvm!(LLVMBuildLoad2(self.builder, self.types.ptr.0, from.0, UNNAMED)))
    }

    /// Stores a value.
    pub(crate) fn store(&self, value: Value, to: Value) -> Value {
        Value(llvm!(LLVMBuildStore(self.builder, value.0, to.0)))
    }

    /// Calls an intrinsic that is overloaded by the type of its first argument, or not at all.
    pub(crate) fn intrinsic(&self, name: &CStr, arguments: &[Value]) -> Value {
        let id = llvm!(LLVMLookupIntrinsicID(name.as_ptr(), name.to_bytes().len()));
        let is_overloaded = llvm!(LLVMIntrinsicIsOverloaded(id)) != 0;
        let mut overloads = match (is_overloaded, arguments.first()) {
            (true, Some(argument)) => vec![argument.ty().0],
            (true, None) => vec![self.types.ptr.0],
            (false, _) => Vec::new(),
        };
        let (context, count) = (self.module.context(), overloads.len());
        let function = llvm!(LLVMGetIntrinsicDeclaration(self.module.0, id, overloads.as_mut_ptr(), count));
        let ty = llvm!(LLVMIntrinsicGetType(context, id, overloads.as_mut_ptr(), count));
        let mut raw: Vec<LLVMValueRef> = arguments.iter().map(|argument| argument.0).collect();
        Value(llvm!(LLVMBuildCall2(self.builder, ty, function, raw.as_mut_ptr(), raw.len() as u32, UNNAMED)))
    }

    /// Returns a constant `i32` 0, which some intrinsics take as the number of a frame.
    pub(crate) fn zero(&self) -> Value {
        self.i32(0)
    }

    /// Calls a hook.
    pub(crate) fn call(&mut self, name: &'static CStr, arguments: &[Value]) {
        let (hook, ty) = self.hook(name, arguments);
        let mut raw: Vec<LLVMValueRef> = arguments.iter().map(|argument| argument.0).collect();
        let call = llvm!(LLVMBuildCall2(self.builder, ty.0, hook.0, raw.as_mut_ptr(), raw.len() as u32, UNNAMED));
        llvm!(LLVMSetInstructionCallConv(call, PRESERVE_MOST));
    }

    fn hook(&mut self, name: &'static CStr, arguments: &[Value]) -> (Value, Type) {
        if let Some(&known) = self.hooks.get(name) {
            return known;
        }
        let mut parameters: Vec<LLVMTypeRef> = arguments.iter().map(|argument| argument.ty().0).collect();
        let count = parameters.len() as u32;
        let ty = llvm!(LLVMFunctionType(self.types.void.0, parameters.as_mut_ptr(), count, 0));
        let declared = llvm!(LLVMGetNamedFunction(self.module.0, name.as_ptr()));
        let hook = Value(match declared.is_null() {
            true => llvm!(LLVMAddFunction(self.module.0, name.as_ptr(), ty)),
            false => declared,
        });
        llvm!(LLVMSetFunctionCallConv(hook.0, PRESERVE_MOST));
        // Calls that differ only in their site must stay separate: each has its own line.
        for attribute in [self.kinds.no_unwind, self.kinds.no_lazy_bind, self.kinds.no_merge] {
            hook.add_attribute(self.module.context(), attribute);
        }
        if self.module.is_for_executable() {
            hook.set_dso_local();
        }
        self.hooks.insert(name, (hook, Type(ty)));
        (hook, Type(ty))
    }

    /// Returns a location for generated code: the function's own line.
    fn function_location(&self, function: Value) -> Option<Metadata> {
        let subprogram = function.subprogram()?;
        let (context, line) = (self.module.context(), subprogram.subprogram_line());
        Metadata::new(llvm!(LLVMDIBuilderCreateDebugLocation(context, line, 0, subprogram.0, std::ptr::null_mut())))
    }
}

fn plain_hook(access: Access, bytes: u64) -> &'static CStr {
    match (access, bytes) {
        (Access::Read, 1) => c"__rh_read1",
        (Access::Read, 2) => c"__rh_read2",
        (Access::Read, 4) => c"__rh_read4",
        (Access::Read, _) => c"__rh_read8",
        (Access::Write, 1) => c"__rh_write1",
        (Access::Write, 2) => c"__rh_write2",
        (Access::Write, 4) => c"__rh_write4",
        (Access::Write, _) => c"__rh_write8",
    }
}

fn range_hook(access: Access) -> &'static CStr {
    match access {
        Access::Read => c"__rh_read_range",
        Access::Write => c"__rh_write_range",
    }
}

/// Returns the metadata for a branch whose second target is hardly ever taken.
fn branch_weights(context: LLVMContextRef, types: &Types) -> LLVMValueRef {
    let name = "branch_weights";
    let weight = |value: u64| llvm!(LLVMValueAsMetadata(LLVMConstInt(types.i32.0, value, 0)));
    let mut operands =
        [llvm!(LLVMMDStringInContext2(context, name.as_ptr().cast(), name.len())), weight(LIKELY), weight(1)];
    let node = llvm!(LLVMMDNodeInContext2(context, operands.as_mut_ptr(), operands.len()));
    llvm!(LLVMMetadataAsValue(context, node))
}
