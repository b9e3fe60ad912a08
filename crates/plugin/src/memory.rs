//! Memory that can never be part of a race: locals that no other thread can know, and constants.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::kinds::Kinds;
use crate::llvm::{Value, llvm};
use crate::sys::core::*;
use crate::sys::{LLVMLinkage, LLVMOpcode as Opcode, LLVMValueKind as Kind};

/// Answers for one module, cached.
pub struct Memory<'a> {
    kinds: &'a Kinds,
    captured: FxHashMap<Value, bool>,
    /// True if C library functions are trusted not to keep pointers that they have no reason to keep.
    is_trusting: bool,
}

impl<'a> Memory<'a> {
    /// Creates an empty cache.
    pub fn new(kinds: &'a Kinds) -> Self {
        Self { kinds, captured: FxHashMap::default(), is_trusting: false }
    }

    /// As `new`, but trusts functions by their names. This is not for announcements, where too many do no harm, but for
    /// gaps, each of which costs a claim.
    pub fn trusting(kinds: &'a Kinds) -> Self {
        Self { is_trusting: true, ..Self::new(kinds) }
    }

    /// Returns true if an access through this address needs no hook because no other thread can reach the memory, or
    /// because it is not part of the program (counters of coverage and profiling).
    pub fn is_private(&mut self, address: Value) -> bool {
        let base = base_of(address);
        match base.kind() {
            Kind::LLVMInstructionValueKind if base.opcode() == Some(Opcode::LLVMAlloca) => !self.is_captured(base),
            // A structure passed by value is a local of the callee.
            Kind::LLVMArgumentValueKind if self.is_by_value(base) => !self.is_captured(base),
            Kind::LLVMGlobalVariableValueKind => is_counter(base),
            _ => false,
        }
    }

    /// Returns true if the memory at this address never changes.
    pub fn is_constant(&self, address: Value) -> bool {
        let base = base_of(address);
        match base.kind() {
            // Another module may change what is constant only in this one.
            Kind::LLVMGlobalVariableValueKind => llvm!(LLVMIsGlobalConstant(base.0)) != 0 && !base.is_declaration(),
            // Virtual tables are constant.
            Kind::LLVMInstructionValueKind => {
                base.opcode() == Some(Opcode::LLVMLoad) && self.kinds.is_vtable_access(base)
            }
            _ => false,
        }
    }

    fn is_by_value(&self, argument: Value) -> bool {
        let function = Value(llvm!(LLVMGetParamParent(argument.0)));
        let position = function.parameters().position(|parameter| parameter == argument);
        position.is_some_and(|index| function.has_attribute(index as u32 + 1, self.kinds.by_value))
    }

    fn is_captured(&mut self, local: Value) -> bool {
        if let Some(&known) = self.captured.get(&local) {
            return known;
        }
        let captured = self.find_capture(local);
        self.captured.insert(local, captured);
        captured
    }

    /// Follows all uses of a local's address; anything but an access through it may pass the address on.
    fn find_capture(&self, local: Value) -> bool {
        let mut seen = FxHashSet::from_iter([local]);
        let mut pending = vec![local];
        while let Some(pointer) = pending.pop() {
            for (user, operand) in pointer.uses() {
                let derives = match user.opcode() {
                    Some(Opcode::LLVMLoad | Opcode::LLVMICmp) => false,
                    // The address is the last operand of a store, the first of the other atomic operations.
                    Some(Opcode::LLVMStore) if operand == 1 => false,
                    Some(Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg) if operand == 0 => false,
                    Some(Opcode::LLVMGetElementPtr) if operand == 0 => true,
                    Some(Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast | Opcode::LLVMPHI | Opcode::LLVMSelect) => {
                        true
                    }
                    Some(Opcode::LLVMCall | Opcode::LLVMInvoke) if self.keeps_secret(user, operand) => false,
                    // The result may be the same pointer, or point into the same memory.
                    Some(Opcode::LLVMCall | Opcode::LLVMInvoke) if self.is_trusting && forgets(user, operand) => {
                        user.ty().is_ordinary_pointer()
                    }
                    _ => return true,
                };
                if derives && seen.insert(user) {
                    pending.push(user);
                }
            }
        }
        false
    }

    /// Returns true if a call does not keep this argument after it returns.
    fn keeps_secret(&self, call: Value, operand: u32) -> bool {
        if operand >= call.argument_count() {
            return false;
        }
        if let Some(name) = call.callee_function().and_then(Value::intrinsic_name) {
            let prefixes =
                ["llvm.lifetime.", "llvm.memcpy", "llvm.memmove", "llvm.memset", "llvm.masked.", "llvm.invariant."];
            if prefixes.iter().any(|prefix| name.starts_with(prefix)) {
                return true;
            }
        }
        self.kinds.is_argument_forgotten(call, operand)
    }
}

/// Returns true for variables that the compiler adds to count executed code.
fn is_counter(variable: Value) -> bool {
    let is_own =
        matches!(llvm!(LLVMGetLinkage(variable.0)), LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage);
    variable.section().starts_with("__llvm_prf") || is_own && variable.name().starts_with("__llvm_gcov_ctr")
}

/// Returns true if a call goes to a known function that does not keep the argument.
fn forgets(call: Value, operand: u32) -> bool {
    use racehunter_sight::Effect;
    if operand >= call.argument_count() {
        return false;
    }
    let Some(name) = call.callee_function().filter(|callee| callee.is_declaration()).map(Value::name) else {
        return false;
    };
    let effect = racehunter_sight::of(&name).effect;
    let keeps = [
        "pthread_setspecific",
        "tss_set",
        "sigaltstack",
        "pthread_attr_setstack",
        "timer_create",
        "on_exit",
        "__cxa_throw",
        "__cxa_atexit",
        "__cxa_thread_atexit",
        "__cxa_thread_atexit_impl",
        "makecontext",
        "sigqueue",
        "pthread_sigqueue",
        "aio_read",
        "aio_write",
        "lio_listio",
        "sem_open",
        "dlopen",
        "qsort_r",
        "fdopen",
    ];
    match name.as_str() {
        "pthread_create" | "thrd_create" => operand == 0,
        name if name.contains("_M_start_thread") || keeps.contains(&name) => false,
        _ => effect == Effect::None || effect.is_about_files(),
    }
}

/// Returns the object that an address points into, as long as only offsets were added.
fn base_of(mut address: Value) -> Value {
    // Long enough for every real chain; the bound guards against cycles in unreachable code.
    for _ in 0..64 {
        let opcode = match address.kind() {
            Kind::LLVMConstantExprValueKind => Some(llvm!(LLVMGetConstOpcode(address.0))),
            _ => address.opcode(),
        };
        match opcode {
            Some(Opcode::LLVMGetElementPtr | Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast) => {
                address = address.operand(0);
            }
            _ => break,
        }
    }
    address
}
