//! The operations of an instruction that must be announced to the runtime, before anything is emitted.

use crate::calls::{self, ModelledCall, Sight};
use crate::kinds::Kinds;
use crate::lanes;
use crate::library;
use crate::llvm::{Module, Value, llvm};
use crate::memory::Memory;
use crate::printing;
use crate::standard;
use crate::sys::core::*;
use crate::sys::{LLVMAtomicOrdering as Ordering, LLVMOpcode as Opcode};
use racehunter_sight::assembler;

/// Bytes of a `va_list`.
const LIST_OF_ARGUMENTS: u64 = 24;

/// Direction of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// The memory is read.
    Read,
    /// The memory is written.
    Write,
}

/// Which atomic hook announces an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Atomic {
    /// Load.
    Load,
    /// Store.
    Store,
    /// Read-modify-write.
    Update,
}

/// The length of a range.
#[derive(Clone, Copy)]
pub enum Length {
    /// A constant.
    Bytes(u64),
    /// A computed integer.
    Computed(Value),
}

/// Which lanes of a vector operation take part.
#[derive(Clone, Copy)]
pub enum Mask {
    /// A vector of `i1`.
    Bits(Value),
    /// A vector of `i1`; lanes take part whose bit is clear.
    ClearBits(Value),
    /// The sign bit of each element.
    Signs(Value),
}

/// The location of the lanes of a vector operation.
#[derive(Clone, Copy)]
pub enum Lanes {
    /// One after the other, from this address on.
    Consecutive(Value),
    /// Each has its own address.
    Addresses(Value),
    /// At `base + index * scale`, an index for each.
    Indexed {
        /// Start.
        base: Value,
        /// A vector of integers.
        indices: Value,
        /// A constant.
        scale: Value,
    },
    /// As `Consecutive`, but without gaps for the lanes that do not take part.
    Compressed(Value),
}

/// An operation to announce before an instruction.
#[derive(Clone, Copy)]
pub enum Operation {
    /// Plain access of 1, 2, 4 or 8 bytes.
    Plain(Access, Value, u64),
    /// Plain access of any other size.
    Range(Access, Value, Length),
    /// Access of the lanes of a vector that a mask selects; `bytes` is the size of a lane.
    Masked {
        /// Read or write.
        access: Access,
        /// The selected lanes.
        mask: Mask,
        /// The number of lanes.
        count: u32,
        /// Their location.
        lanes: Lanes,
        /// Size of each.
        bytes: u64,
    },
    /// Load of an object's vtable pointer.
    VirtualTableRead(Value),
    /// Store of a vtable pointer: address and new value.
    VirtualTableUpdate(Value, Value),
    /// Atomic operation other than compare-exchange: kind, address, size and order.
    Atomic(Atomic, Value, u32),
    /// Compare-exchange: address, size and orders, expected value.
    CompareExchange(Value, u32, Value),
    /// Fence with its order.
    Fence(u32),
    /// Call of a string function of the C library.
    LibraryString(library::StringCall),
    /// Call of another function of the C library.
    Library(ModelledCall),
    /// Conditional branch or switch with the value it depends on (tracing only).
    Branch(Value),
    /// Call of code that is not instrumented, or not known (tracing only).
    Call(Value),
    /// End of the function (tracing only).
    Leave,
}

impl Operation {
    /// Returns the address of a plain access.
    pub fn address(&self) -> Option<Value> {
        match *self {
            Self::Plain(_, address, _)
            | Self::Range(_, address, _)
            | Self::VirtualTableRead(address)
            | Self::VirtualTableUpdate(address, _) => Some(address),
            _ => None,
        }
    }

    /// Returns true if it is announced only while tracing, and is not an event.
    pub fn is_trace(&self) -> bool {
        matches!(self, Self::Branch(_) | Self::Call(_) | Self::Leave)
    }
}

/// Finds the operations of instructions.
pub struct Scanner<'a> {
    module: Module,
    kinds: &'a Kinds,
    memory: Memory<'a>,
}

impl<'a> Scanner<'a> {
    /// Returns a scanner for one module.
    pub fn new(module: Module, kinds: &'a Kinds) -> Self {
        Self { module, kinds, memory: Memory::new(kinds) }
    }

    /// Returns the operations of one instruction, in the order in which they are announced. With `sanitized`, the
    /// function asks for plain accesses too; atomic ones, which may synchronise others, are found in every function.
    pub fn operations(&mut self, instruction: Value, sanitized: bool) -> Vec<Operation> {
        if instruction.metadata(self.kinds.no_sanitize).is_some() {
            return Vec::new();
        }
        let mut found = Vec::new();
        match instruction.opcode() {
            Some(Opcode::LLVMLoad) => self.load(instruction, sanitized, &mut found),
            Some(Opcode::LLVMStore) => self.store(instruction, sanitized, &mut found),
            Some(Opcode::LLVMAtomicRMW) => self.update(instruction, &mut found),
            Some(Opcode::LLVMAtomicCmpXchg) => self.compare_exchange(instruction, &mut found),
            Some(Opcode::LLVMFence) if !instruction.is_single_thread() => {
                found.push(Operation::Fence(order(instruction.ordering())));
            }
            Some(Opcode::LLVMCall | Opcode::LLVMInvoke) if sanitized => self.call(instruction, &mut found),
            Some(Opcode::LLVMBr) if sanitized && llvm!(LLVMIsConditional(instruction.0)) != 0 => {
                found.push(Operation::Branch(Value(llvm!(LLVMGetCondition(instruction.0)))));
            }
            Some(Opcode::LLVMSwitch) if sanitized => found.push(Operation::Branch(instruction.operand(0))),
            Some(Opcode::LLVMRet | Opcode::LLVMResume) if sanitized => found.push(Operation::Leave),
            _ => {}
        }
        found
    }

    /// Returns true if everything that a call of a known function does to memory is announced, in a function that asks
    /// for it.
    pub fn understands(&self, call: Value) -> bool {
        let Some(name) = call.is_call().then(|| call.callee_function()).flatten().map(Value::name) else {
            return call.is_call() && !llvm!(LLVMIsAInlineAsm(call.callee().0)).is_null();
        };
        let function = name.trim_start_matches("__").trim_end_matches("_chk");
        let is_block_call = call.argument_count() >= 3 && call.operand(2).ty().is_integer();
        matches!(function, "memcpy" | "memmove" | "memset" | "mempcpy") && is_block_call
            || library::string_call(call, function).is_some()
            || matches!(name.as_str(), "fwrite" | "fwrite_unlocked") && printing::memory(call, &name).is_some()
            || calls::is_covered(call, &name) && !printing::lacks_buffer(call, &name)
    }

    /// Returns true if an instruction would be announced, but is in a function that asks for no plain accesses.
    pub fn is_overlooked(&mut self, instruction: Value) -> bool {
        let announced = self.operations(instruction, false).len();
        let all = self.operations(instruction, true);
        all.iter().filter(|operation| !operation.is_trace()).count() > announced
    }

    fn load(&mut self, load: Value, sanitized: bool, found: &mut Vec<Operation>) {
        let address = load.operand(0);
        let bytes = self.module.store_size(load.ty());
        if load.ordering() != Ordering::LLVMAtomicOrderingNotAtomic {
            if !load.is_single_thread() && self.is_visible(address) {
                found.push(Operation::Atomic(Atomic::Load, address, info(bytes, order(load.ordering()), 0)));
            }
        } else if sanitized
            && load.metadata(self.kinds.invariant_load).is_none()
            && self.is_readable(address)
            && !(bytes == 1 && standard::is_shared_table(load))
        {
            found.push(match self.kinds.is_vtable_access(load) {
                true => Operation::VirtualTableRead(address),
                false => self.partial(load).unwrap_or_else(|| access(Access::Read, address, bytes)),
            });
        }
    }

    /// Returns a load of a vector of which the program uses only some lanes. The others are loaded because one load is
    /// cheaper: the program does not read them, and other threads may write them.
    fn partial(&self, load: Value) -> Option<Operation> {
        let (address, vector) = (load.operand(0), load.ty());
        let count = vector.lanes().filter(|&count| count <= 64)?;
        let mask = lanes::used(load, count)?;
        let bytes = self.module.store_size(vector.element());
        Some(Operation::Masked { access: Access::Read, mask, count, lanes: Lanes::Consecutive(address), bytes })
    }

    fn store(&mut self, store: Value, sanitized: bool, found: &mut Vec<Operation>) {
        let (value, address) = (store.operand(0), store.operand(1));
        let bytes = self.module.store_size(value.ty());
        if store.ordering() != Ordering::LLVMAtomicOrderingNotAtomic {
            if !store.is_single_thread() && self.is_visible(address) {
                found.push(Operation::Atomic(Atomic::Store, address, info(bytes, order(store.ordering()), 0)));
            }
        } else if sanitized && self.is_visible(address) && !(bytes == 1 && standard::is_shared_table(store)) {
            let is_pointer = value.ty().is_ordinary_pointer();
            found.push(match is_pointer && self.kinds.is_vtable_access(store) {
                true => Operation::VirtualTableUpdate(address, value),
                false => access(Access::Write, address, bytes),
            });
        }
    }

    fn update(&mut self, update: Value, found: &mut Vec<Operation>) {
        let address = update.operand(0);
        if !update.is_single_thread() && self.is_visible(address) {
            let bytes = self.module.store_size(update.operand(1).ty());
            let order = match update.ordering() {
                Ordering::LLVMAtomicOrderingMonotonic if standard::gives_back_lock_bit(update) => {
                    order(Ordering::LLVMAtomicOrderingRelease)
                }
                ordering => order(ordering),
            };
            found.push(Operation::Atomic(Atomic::Update, address, info(bytes, order, 0)));
        }
    }

    fn compare_exchange(&mut self, exchange: Value, found: &mut Vec<Operation>) {
        let (address, expected) = (exchange.operand(0), exchange.operand(1));
        if exchange.is_single_thread() || !self.is_visible(address) {
            return;
        }
        let success = order(llvm!(LLVMGetCmpXchgSuccessOrdering(exchange.0)));
        let failure = order(llvm!(LLVMGetCmpXchgFailureOrdering(exchange.0)));
        let weak = if llvm!(LLVMGetWeak(exchange.0)) != 0 { WEAK_EXCHANGE } else { 0 };
        let info = info(self.module.store_size(expected.ty()), success, failure) | weak;
        found.push(Operation::CompareExchange(address, info, expected));
    }

    fn call(&mut self, call: Value, found: &mut Vec<Operation>) {
        let callee = call.callee_function();
        if let Some(name) = callee.and_then(Value::intrinsic_name) {
            self.intrinsic(call, &name, found);
            return;
        }
        if !llvm!(LLVMIsAInlineAsm(call.callee().0)).is_null() {
            self.assembler(call, found);
            return;
        }
        for argument in 0..call.argument_count() {
            if let Some(attribute) = call.call_attribute(argument + 1, self.kinds.by_value) {
                let ty = crate::llvm::Type(llvm!(LLVMGetTypeAttributeValue(attribute)));
                let bytes = Length::Bytes(self.module.stride(ty));
                self.range(Access::Read, call.operand(argument), bytes, found);
            }
        }
        // Functions that this module defines are instrumented themselves.
        if callee.is_none_or(Value::is_declaration) {
            if let Some(name) = callee.map(Value::name) {
                if name.starts_with("__rh_") || name.starts_with("__tsan_") {
                    return;
                }
                self.library_call(call, &name, found);
            }
            found.push(Operation::Call(call.callee()));
        }
    }

    /// Collects what inline assembler does to its operands. The processor orders single loads and stores like acquire
    /// and release. An instruction that reads and writes without a lock is an ordinary access: other accesses can come
    /// between its halves.
    fn assembler(&mut self, call: Value, found: &mut Vec<Operation>) {
        let (text, constraints) = call.callee().assembler();
        let mut uses = Vec::new();
        assembler::uses(&text, &constraints, |operand, how| uses.push((operand, how)));
        let orders = constraints.contains("{memory}");
        for (operand, how) in uses {
            let Some(at) = assembler::argument(&constraints, operand.constraint) else { continue };
            let address = call.operand(at);
            let declared = || {
                let attribute = call.call_attribute(at + 1, self.kinds.element_type)?;
                Some(self.module.store_size(crate::llvm::Type(llvm!(LLVMGetTypeAttributeValue(attribute)))))
            };
            let bytes = operand.bytes.map(u64::from).or_else(declared).unwrap_or(4);
            if !address.ty().is_ordinary_pointer() || !self.is_visible(address) {
                continue;
            }
            let with = |order: u32| info(bytes, if orders { order } else { 0 }, 0);
            match how {
                assembler::Use::Load => found.push(Operation::Atomic(Atomic::Load, address, with(2))),
                assembler::Use::Store => found.push(Operation::Atomic(Atomic::Store, address, with(3))),
                assembler::Use::Update => found.push(Operation::Atomic(Atomic::Update, address, info(bytes, 5, 0))),
                assembler::Use::Change => {
                    found.push(access(Access::Read, address, bytes));
                    found.push(access(Access::Write, address, bytes));
                }
            }
        }
    }

    fn library_call(&mut self, call: Value, name: &str, found: &mut Vec<Operation>) {
        let argument = |index: u32| call.operand(index);
        let is_block_call = |arguments: u32| call.argument_count() >= arguments && call.operand(2).ty().is_integer();
        match name.trim_start_matches("__").trim_end_matches("_chk") {
            "memcpy" | "memmove" | "mempcpy" if is_block_call(3) => {
                self.range(Access::Read, argument(1), Length::Computed(argument(2)), found);
                self.range(Access::Write, argument(0), Length::Computed(argument(2)), found);
            }
            "memset" if is_block_call(3) => {
                self.range(Access::Write, argument(0), Length::Computed(argument(2)), found);
            }
            function => {
                let strings = library::string_call(call, function).into_iter().chain(printing::strings(call, name));
                for string in strings {
                    if self.is_readable(string.first) || string.second.is_some_and(|second| self.is_readable(second)) {
                        found.push(Operation::LibraryString(string));
                    }
                }
                if let Some((access, address, length)) = printing::memory(call, name) {
                    self.range(access, address, length, found);
                }
                let is_announced = !self.needs_model(call, name, function);
                found.extend(calls::modelled(call, name, is_announced, self).map(Operation::Library));
            }
        }
    }

    /// Returns true if nothing else announces what a call does to memory.
    fn needs_model(&mut self, call: Value, name: &str, function: &str) -> bool {
        if library::string_call(call, function).is_some()
            || printing::memory(call, name).is_some_and(|_| name.starts_with("fwrite"))
        {
            return false;
        }
        if crate::reach::is_transfer(name) && crate::reach::is_short_transfer(call) {
            return false;
        }
        printing::hides(call, name, |pointer| !self.is_readable(pointer)).unwrap_or(true)
    }

    fn intrinsic(&mut self, call: Value, name: &str, found: &mut Vec<Operation>) {
        if name.starts_with("llvm.memcpy") || name.starts_with("llvm.memmove") {
            self.range(Access::Read, call.operand(1), Length::Computed(call.operand(2)), found);
            self.range(Access::Write, call.operand(0), Length::Computed(call.operand(2)), found);
        } else if name.starts_with("llvm.memset") && !name.contains("pattern") {
            self.range(Access::Write, call.operand(0), Length::Computed(call.operand(2)), found);
        } else if name.starts_with("llvm.va_copy") {
            self.range(Access::Read, call.operand(1), Length::Bytes(LIST_OF_ARGUMENTS), found);
            self.range(Access::Write, call.operand(0), Length::Bytes(LIST_OF_ARGUMENTS), found);
        } else if name.starts_with("llvm.va_start") {
            self.range(Access::Write, call.operand(0), Length::Bytes(LIST_OF_ARGUMENTS), found);
        } else if let Some((access, mask, lanes, vector)) = library::masked_access(call, name) {
            let (Some(count), false) = (vector.lanes(), self.hides(access, &lanes)) else { return };
            let count = match lanes {
                Lanes::Indexed { indices, .. } => count.min(indices.ty().lanes().unwrap_or(count)),
                _ => count,
            };
            // One bit per lane must fit into the 64-bit mask of the loop that announces them.
            if count <= 64 {
                let bytes = self.module.store_size(vector.element());
                found.push(Operation::Masked { access, mask, count, lanes, bytes });
            }
        }
    }

    fn range(&mut self, access: Access, address: Value, length: Length, found: &mut Vec<Operation>) {
        let is_empty = match length {
            Length::Bytes(bytes) => bytes == 0,
            Length::Computed(value) => value.constant_integer() == Some(0),
        };
        let is_relevant = match access {
            Access::Read => self.is_readable(address),
            Access::Write => self.is_visible(address),
        };
        if !is_empty && is_relevant {
            found.push(Operation::Range(access, address, length));
        }
    }

    fn hides(&mut self, access: Access, lanes: &Lanes) -> bool {
        match *lanes {
            Lanes::Addresses(_) => false,
            Lanes::Consecutive(base) | Lanes::Compressed(base) | Lanes::Indexed { base, .. } => match access {
                Access::Read => !self.is_readable(base),
                Access::Write => !self.is_visible(base),
            },
        }
    }

    /// Returns true if another thread may see what happens at this address.
    pub fn is_visible(&mut self, address: Value) -> bool {
        address.ty().is_ordinary_pointer() && !self.memory.is_private(address)
    }

    /// Returns true if a read at this address may see what another thread wrote.
    fn is_readable(&mut self, address: Value) -> bool {
        self.is_visible(address) && !self.memory.is_constant(address)
    }
}

impl Sight for Scanner<'_> {
    fn is_visible(&mut self, address: Value) -> bool {
        Scanner::is_visible(self, address)
    }

    fn is_readable(&mut self, address: Value) -> bool {
        Scanner::is_readable(self, address)
    }
}

fn access(access: Access, address: Value, bytes: u64) -> Operation {
    match bytes {
        1 | 2 | 4 | 8 => Operation::Plain(access, address, bytes),
        _ => Operation::Range(access, address, Length::Bytes(bytes)),
    }
}

/// Returns an LLVM memory order as C11 numbers it.
pub fn order(ordering: Ordering) -> u32 {
    match ordering {
        Ordering::LLVMAtomicOrderingNotAtomic
        | Ordering::LLVMAtomicOrderingUnordered
        | Ordering::LLVMAtomicOrderingMonotonic => 0,
        Ordering::LLVMAtomicOrderingAcquire => 2,
        Ordering::LLVMAtomicOrderingRelease => 3,
        Ordering::LLVMAtomicOrderingAcquireRelease => 4,
        Ordering::LLVMAtomicOrderingSequentiallyConsistent => 5,
    }
}

/// In the description of a compare-exchange: it may fail although the value is the expected one.
const WEAK_EXCHANGE: u32 = 1 << 24;

fn info(bytes: u64, success: u32, failure: u32) -> u32 {
    (bytes as u32 & 0xff) | success << 8 | failure << 16
}
