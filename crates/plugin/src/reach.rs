//! Code that the program reaches and that is not seen: uninstrumented functions, and assembler.
//!
//! The runtime is notified the first time an execution reaches a call of such code. [`racehunter_sight`] lists the
//! functions that hide nothing. Whether a function of another module is instrumented shows only at run time: every
//! instrumented function begins with [`MARK`], and a caller looks for that mark.

use std::ffi::CStr;

use racehunter_sight::{ADDRESS_TAKEN, Effect, MARK, assembler};
use rustc_hash::FxHashMap;

use crate::emit::{Emitter, UNNAMED};
use crate::frame;
use crate::kinds::Kinds;
use crate::llvm::{FUNCTION, Module, Type, Value, llvm};
use crate::memory::Memory;
use crate::plan::{FunctionPlan, Plan, is_elsewhere, is_instrumentable};
use crate::printing::{self, Written};
use crate::sys::core::*;
use crate::sys::{LLVMIntPredicate, LLVMLinkage, LLVMOpcode as Opcode, LLVMValueKind as Kind};

/// How much of a transfer by `read`, `write` and similar functions the runtime checks, in bytes.
const SEEN_OF_TRANSFER: i64 = 4096;

/// Sources of the random values that Rust's standard library draws for itself: the keys of its hash maps, which the
/// runtime reports, and the thread number in a panic message.
const OWN_NUMBERS: [&str; 2] = ["getrandom", "gettid"];

/// Something that is reported before an instruction.
#[derive(Clone)]
pub struct Reached {
    /// The instruction.
    pub at: Value,
    /// What it reaches.
    pub what: What,
}

/// What is not seen.
#[derive(Clone)]
pub enum What {
    /// A function, assembler or builtin: its effect, its name, its address where it has one, and two of its arguments.
    Named(Effect, String, Option<Value>, [Option<Value>; 2]),
    /// A function whose address is taken: its effect, its name, and the address.
    Taken(Effect, String, Value),
    /// Any function that a pointer may point to.
    Through(Value),
}

/// Returns true if a call makes another thread, or the end of this one, call its argument.
fn calls_later(call: Value) -> bool {
    const CALLERS: [&str; 8] = [
        "pthread_create",
        "thrd_create",
        "pthread_key_create",
        "tss_create",
        "atexit",
        "at_quick_exit",
        "on_exit",
        "pthread_atfork",
    ];
    call.callee_function().is_some_and(|callee| CALLERS.contains(&callee.name().as_str()))
}

/// Returns true if an instruction uses memory through a pointer into another address space, such as those of the
/// segment registers. The actual address is unknown.
fn is_elsewhere_in_memory(instruction: Value) -> bool {
    let uses_memory = matches!(
        instruction.opcode(),
        Some(
            Opcode::LLVMLoad
                | Opcode::LLVMStore
                | Opcode::LLVMAtomicRMW
                | Opcode::LLVMAtomicCmpXchg
                | Opcode::LLVMCall
                | Opcode::LLVMInvoke
        )
    );
    uses_memory && instruction.operands().any(|operand| operand.ty().is_foreign_pointer())
}

/// Finds code that is not seen.
pub struct Lookout<'a> {
    /// The module belongs to RaceHunter itself.
    pub is_support: bool,
    /// The module is trusted as a whole.
    in_whole: bool,
    kinds: &'a Kinds,
    memory: Memory<'a>,
}

impl<'a> Lookout<'a> {
    /// Returns a lookout for one module.
    pub fn new(kinds: &'a Kinds, is_support: bool) -> Self {
        Self { is_support, in_whole: crate::asked(crate::QUIET), kinds, memory: Memory::trusting(kinds) }
    }

    /// Returns what one instruction hides. `understood`: its effects on memory are announced.
    pub fn look(&mut self, instruction: Value, understood: bool) -> Vec<Reached> {
        let mut found = Vec::new();
        if self.is_support {
            return found;
        }
        self.taken(instruction, &mut found);
        if is_elsewhere_in_memory(instruction) {
            let name = "memory of another segment".to_owned();
            let what = What::Named(Effect::Memory, name, None, [None, None]);
            found.push(Reached { at: instruction, what });
        }
        if let Some(Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr) = instruction.opcode() {
            let called = self.called(instruction, understood);
            found.extend(called.into_iter().map(|what| Reached { at: instruction, what }));
        }
        found
    }

    fn called(&mut self, call: Value, understood: bool) -> Vec<What> {
        let callee = call.callee();
        if !llvm!(LLVMIsAInlineAsm(callee.0)).is_null() {
            return assembled(callee, understood).into_iter().collect();
        }
        let Some(function) = call.callee_function() else { return vec![What::Through(callee)] };
        if let Some(name) = function.intrinsic_name() {
            return self.intrinsic(call, function, &name).into_iter().collect();
        }
        if is_seen(function, self.kinds) {
            return Vec::new();
        }
        let name = function.name();
        let known = racehunter_sight::of(&name);
        let argument = |position: u8| {
            let position = u32::from(position);
            (position < call.argument_count()).then(|| call.operand(position))
        };
        let mut found = Vec::new();
        if self.hides_memory(call, &name, understood) {
            found.push(What::Named(Effect::Memory, name.clone(), Some(function), [None, None]));
        }
        let arguments = match known.effect {
            Effect::None => return found,
            Effect::HiddenState if racehunter_sight::is_modelled(&name) && understood => return found,
            Effect::Random if is_only_signalled(call) || self.is_own_number(&name) => return found,
            // A Rust thread maps and protects a stack for its own handlers.
            Effect::Setting if self.in_whole => return found,
            // If two threads make a key for the same purpose at the same time, one of the keys is deleted before
            // anything is kept under it.
            Effect::KernelState if self.in_whole && name == "pthread_key_delete" => return found,
            effect if effect.is_about_files() => [argument(known.file), argument(known.mode)],
            effect if effect.is_about_descriptors() => [argument(0), None],
            _ => [None, None],
        };
        found.push(What::Named(known.effect, name, Some(function), arguments));
        found
    }

    /// Returns true if a function gives numbers to a library that uses them internally.
    fn is_own_number(&self, name: &str) -> bool {
        self.in_whole && OWN_NUMBERS.contains(&name)
    }

    /// Returns true if a call of a known function touches memory that other threads can reach and that is not
    /// announced.
    fn hides_memory(&mut self, call: Value, name: &str, understood: bool) -> bool {
        let touches = racehunter_sight::of(name).touches;
        if touches.is_empty() || understood {
            return is_transfer(name) && !understood && !self.is_small_transfer(call);
        }
        if let Some(hides) = printing::hides(call, name, |pointer| self.is_quiet(pointer)) {
            return hides;
        }
        (0..call.argument_count()).any(|at| touches.contains(at) && !self.is_quiet(call.operand(at)))
    }

    /// Returns true if the runtime sees everything that such a call transfers, or if no other thread can see it.
    fn is_small_transfer(&mut self, call: Value) -> bool {
        is_short_transfer(call) || self.is_quiet(call.operand(1))
    }

    /// Returns true if no other thread can see what happens behind a pointer, or nothing can happen there.
    fn is_quiet(&mut self, value: Value) -> bool {
        !value.ty().is_ordinary_pointer()
            || llvm!(LLVMIsNull(value.0)) != 0
            || value.kind() == Kind::LLVMFunctionValueKind
            || self.memory.is_private(value)
            || self.memory.is_constant(value)
    }

    /// Functions whose address the instruction uses other than to call them: the receiver of the address may call
    /// them.
    fn taken(&mut self, instruction: Value, found: &mut Vec<Reached>) {
        let is_call = instruction.is_call();
        let last = instruction.operand_count().saturating_sub(1);
        for (index, operand) in (0..).zip(instruction.operands()) {
            if is_call && index == last || operand.kind() != Kind::LLVMFunctionValueKind || is_seen(operand, self.kinds)
            {
                continue;
            }
            let name = operand.name();
            let known = racehunter_sight::of(&name);
            let touches = is_call && !known.touches.is_empty() && calls_later(instruction);
            let effect = if touches { Effect::Memory } else { known.effect };
            // Only the unwinder reads the table of exceptions.
            let is_harmless = effect == Effect::None || effect.is_about_files() || self.is_own_number(&name);
            if is_harmless || operand.intrinsic_name().is_some() {
                continue;
            }
            let at = match instruction.opcode() {
                Some(Opcode::LLVMPHI) => instruction.block().terminator(),
                Some(Opcode::LLVMLandingPad) => None,
                _ => Some(instruction),
            };
            let what = What::Taken(effect, name, operand);
            found.extend(at.map(|at| Reached { at, what }));
        }
    }

    fn intrinsic(&mut self, call: Value, function: Value, name: &str) -> Option<What> {
        const VARYING: [&str; 6] = ["rdrand", "rdseed", "rdtsc", "rdpmc", "cyclecounter", "steadycounter"];
        // They touch memory only in ways that are announced, that belong to the stack, or that no program can see.
        const KNOWN: [&str; 31] = [
            "llvm.memcpy",
            "llvm.memmove",
            "llvm.memset",
            "llvm.masked.",
            "llvm.lifetime.",
            "llvm.dbg.",
            "llvm.invariant.",
            "llvm.va_",
            "llvm.stack",
            "llvm.prefetch",
            "llvm.assume",
            "llvm.experimental.noalias",
            "llvm.eh.",
            "llvm.sideeffect",
            "llvm.trap",
            "llvm.debugtrap",
            "llvm.ubsantrap",
            "llvm.launder.",
            "llvm.strip.",
            "llvm.donothing",
            "llvm.x86.sse2.pause",
            "llvm.x86.sse2.mfence",
            "llvm.x86.sse2.lfence",
            "llvm.x86.sse.sfence",
            "llvm.threadlocal.",
            "llvm.instrprof.",
            "llvm.pseudoprobe",
            "llvm.clear_cache",
            "llvm.x86.sse2.clflush",
            "llvm.x86.clflushopt",
            "llvm.x86.clwb",
        ];
        if VARYING.iter().any(|varying| name.contains(varying)) {
            return Some(What::Named(Effect::Random, name.to_owned(), None, [None, None]));
        }
        let is_masked = crate::library::masked_access(call, name).is_some();
        if is_masked || KNOWN.iter().any(|known| name.starts_with(known)) || !self.kinds.may_touch_memory(function) {
            return None;
        }
        let is_loud = (0..call.argument_count()).any(|at| !self.is_quiet(call.operand(at)));
        is_loud.then(|| What::Named(Effect::Memory, name.to_owned(), None, [None, None]))
    }
}

/// Describes inline assembler that hides something.
fn assembled(assembler_value: Value, understood: bool) -> Option<What> {
    let (text, constraints) = assembler_value.assembler();
    let mut accesses = 0;
    let is_known = assembler::uses(&text, &constraints, |_, _| accesses += 1);
    // In an execution, nothing comes between the instructions of one piece of assembler; on the processor, other
    // threads could.
    if assembler::is_harmless(&text, &constraints) || understood && is_known && accesses <= 1 {
        return None;
    }
    let effect = if assembler::is_varying(&text) { Effect::Random } else { Effect::Assembler };
    Some(What::Named(effect, assembler::name(&text).to_owned(), None, [None, None]))
}

/// Returns true if the module contains the code of a function, and the function is instrumented or reports itself.
pub fn is_seen(function: Value, kinds: &Kinds) -> bool {
    !function.is_declaration() && !is_elsewhere(function) && is_instrumentable(function, kinds)
}

/// Returns true for functions whose data the runtime checks itself, up to a limit: the second argument is the memory,
/// the third its length.
pub fn is_transfer(name: &str) -> bool {
    matches!(name, "read" | "write" | "recv" | "send" | "recvfrom" | "sendto")
}

/// Returns true if the runtime checks everything that such a call transfers.
pub fn is_short_transfer(call: Value) -> bool {
    let is_short = |length: Value| length.constant_integer().is_some_and(|length| length <= SEEN_OF_TRANSFER);
    call.argument_count() < 3 || is_short(call.operand(2))
}

/// Returns true if a call asks for the number of a process or thread only to send it a signal.
fn is_only_signalled(call: Value) -> bool {
    let sends = |user: Value| {
        let name = user.is_call().then(|| user.callee_function()).flatten().map(Value::name);
        name.is_some_and(|name| matches!(name.as_str(), "kill" | "tgkill" | "sigqueue" | "killpg"))
    };
    let is_asked = call.callee_function().is_some_and(|callee| matches!(callee.name().as_str(), "getpid" | "gettid"));
    is_asked && call.uses().all(|(user, _)| sends(user))
}

/// Returns the report for a function whose memory accesses are not announced.
pub fn blind(function: Value) -> Reached {
    let at = frame::first_instruction(function, None);
    Reached { at, what: What::Named(Effect::Uninstrumented, function.name(), None, [None, None]) }
}

/// Marks the functions of a module as instrumented.
pub fn mark(module: Module, kinds: &Kinds) {
    let i64 = llvm!(LLVMInt64TypeInContext(module.context()));
    let mark = Value(llvm!(LLVMConstInt(i64, MARK, 0)));
    for function in module.functions().filter(|&function| is_seen(function, kinds)) {
        function.set_prologue(mark);
    }
}

/// Notifies the runtime that the program cancels threads: more of its calls are then scheduling points.
pub fn note_cancellation(module: Module) {
    const NAME: &CStr = c"__rh_cancels";
    if llvm!(LLVMGetNamedFunction(module.0, c"pthread_cancel".as_ptr())).is_null() {
        return;
    }
    let ty = Type(llvm!(LLVMInt8TypeInContext(module.context())));
    let mark = module.add_global(ty, NAME);
    llvm!(LLVMSetInitializer(mark.0, LLVMConstNull(ty.0)));
    llvm!(LLVMSetLinkage(mark.0, LLVMLinkage::LLVMWeakAnyLinkage));
    module.keep(mark);
}

/// Data that the hooks of a module refer to.
#[derive(Default)]
pub struct Told {
    /// One byte per place, which is nonzero once the place has been reported.
    gates: Option<Value>,
    used: u64,
    descriptions: FxHashMap<(u8, String), Value>,
}

impl Told {
    /// Adds the bytes that the places of a plan need.
    pub fn new(module: Module, plan: &Plan) -> Self {
        let count: usize = plan.functions.iter().map(|function| function.reached.len()).sum();
        if count == 0 {
            return Self::default();
        }
        let i8 = llvm!(LLVMInt8TypeInContext(module.context()));
        let ty = Type(llvm!(LLVMArrayType2(i8, count as u64)));
        let gates = module.add_global(ty, c"__rh_gates");
        llvm!(LLVMSetInitializer(gates.0, LLVMConstNull(ty.0)));
        llvm!(LLVMSetLinkage(gates.0, LLVMLinkage::LLVMInternalLinkage));
        Self { gates: Some(gates), used: 0, descriptions: FxHashMap::default() }
    }
}

impl Emitter<'_> {
    /// Reports what a function reaches.
    pub fn reach(&mut self, plan: &FunctionPlan) {
        for reached in &plan.reached {
            self.locate(plan.function, reached.at);
            let at = frame::before_tail_call(reached.at);
            match &reached.what {
                What::Named(effect, name, function, arguments) => self.named(at, *effect, name, *function, *arguments),
                What::Taken(effect, name, function) => {
                    let taken = self.i64(ADDRESS_TAKEN as u64);
                    self.named(at, *effect, name, Some(*function), [Some(taken), None]);
                }
                What::Through(pointer) => self.through(at, *pointer),
            }
        }
    }

    fn named(&mut self, at: Value, effect: Effect, name: &str, function: Option<Value>, arguments: [Option<Value>; 2]) {
        let Some(gates) = self.told.gates else { return };
        let gate = self.constant_offset_of(gates, self.told.used);
        self.told.used += 1;
        let description = self.description(effect, name);
        self.before(at);
        let nothing = Value(llvm!(LLVMConstNull(self.types.ptr.0)));
        if at.callee_intrinsic() {
            // The instruction may be in the middle of a region, which must stay one block.
            let zero = self.i64(0);
            self.call(c"__rh_reached", &[description, gate, nothing, zero, zero]);
            return;
        }
        let flag = Value(llvm!(LLVMBuildLoad2(self.builder, self.types.i8.0, gate.0, UNNAMED)));
        let is_told = self.compare(LLVMIntPredicate::LLVMIntNE, flag, Value(llvm!(LLVMConstNull(self.types.i8.0))));
        self.rarely(at, is_told, |emitter| {
            let [first, second] = arguments.map(|argument| match argument {
                Some(value) if value.ty().is_integer() || value.ty().is_ordinary_pointer() => emitter.as_i64(value),
                _ => emitter.i64(0),
            });
            emitter.call(c"__rh_reached", &[description, gate, function.unwrap_or(nothing), first, second]);
        });
    }

    fn through(&mut self, at: Value, pointer: Value) {
        self.before(at);
        let begins = Value(llvm!(LLVMBuildLoad2(self.builder, self.types.i64.0, pointer.0, UNNAMED)));
        llvm!(LLVMSetAlignment(begins.0, 1));
        let is_marked = self.equal(begins, self.i64(MARK));
        self.rarely(at, is_marked, |emitter| emitter.call(c"__rh_reached_through", &[pointer]));
    }

    /// Reports how much a call has written.
    pub fn wrote(&mut self, written: &Written) {
        let Some(next) = written.call.next() else { return };
        self.before(next);
        let (zero, one) = (self.i64(0), self.i64(1));
        let result = llvm!(LLVMBuildIntCast2(self.builder, written.call.0, self.types.i64.0, 1, UNNAMED));
        let length = Value(llvm!(LLVMBuildAdd(self.builder, result, one.0, UNNAMED)));
        let is_error = self.compare(LLVMIntPredicate::LLVMIntSLT, length, one);
        let mut bytes = Value(llvm!(LLVMBuildSelect(self.builder, is_error.0, zero.0, length.0, UNNAMED)));
        if let Some(room) = written.room {
            let room = self.as_i64(room);
            let is_cut = self.compare(LLVMIntPredicate::LLVMIntULT, room, bytes);
            bytes = Value(llvm!(LLVMBuildSelect(self.builder, is_cut.0, room.0, bytes.0, UNNAMED)));
        }
        self.call(c"__rh_wrote", &[written.buffer, bytes]);
    }

    /// Returns the effect and the name, as bytes in a separate section.
    fn description(&mut self, effect: Effect, name: &str) -> Value {
        let key = (effect as u8, name.to_owned());
        if let Some(&known) = self.told.descriptions.get(&key) {
            return known;
        }
        let mut bytes = vec![effect as u8];
        bytes.extend(name.bytes());
        let context = self.module.context();
        let text = Value(llvm!(LLVMConstStringInContext2(context, bytes.as_ptr().cast(), bytes.len(), 0)));
        let global = self.module.add_global(text.ty(), c"__rh_unseen");
        llvm!(LLVMSetInitializer(global.0, text.0));
        llvm!(LLVMSetGlobalConstant(global.0, 1));
        llvm!(LLVMSetLinkage(global.0, LLVMLinkage::LLVMInternalLinkage));
        let section = std::ffi::CString::new(racehunter_sight::SECTION).expect("the name has no zero byte");
        llvm!(LLVMSetSection(global.0, section.as_ptr()));
        llvm!(LLVMSetAlignment(global.0, 1));
        self.told.descriptions.insert(key, global);
        global
    }
}

impl Kinds {
    /// Returns true if an intrinsic may touch memory of the program.
    fn may_touch_memory(&self, intrinsic: Value) -> bool {
        // Two bits for each kind of memory; those of the second concern memory that no program can see.
        const INACCESSIBLE: u64 = 0b1100;
        let attribute = llvm!(LLVMGetEnumAttributeAtIndex(intrinsic.0, FUNCTION, self.memory));
        attribute.is_null() || llvm!(LLVMGetEnumAttributeValue(attribute)) & !INACCESSIBLE != 0
    }
}
