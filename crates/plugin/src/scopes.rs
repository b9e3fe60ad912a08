//! The lifetimes of local variables whose address is passed on: another thread may use them too late.
//!
//! The compiler marks where the block of a variable begins and ends. A variable without marks, such as a parameter, lives as
//! long as its function runs.

use rustc_hash::FxHashSet;

use crate::emit::Emitter;
use crate::frame::before_tail_call;
use crate::llvm::{Module, Value, llvm};
use crate::memory::Memory;
use crate::plan::FunctionPlan;
use crate::sys::LLVMOpcode as Opcode;
use crate::sys::core::*;

/// The start or end of a local variable's lifetime.
pub struct Change {
    /// The instruction: a mark of the compiler, or a return.
    at: Value,
    local: Value,
    bytes: u64,
    begins: bool,
}

/// The changes of one function.
#[derive(Default)]
pub struct Scopes(Vec<Change>);

impl Scopes {
    /// Finds these changes, before anything is inserted.
    pub fn find(function: Value, module: Module, memory: &mut Memory) -> Self {
        let (mut changes, mut returns) = (Vec::new(), None);
        let instructions = || function.blocks().flat_map(|block| block.instructions());
        for local in instructions().filter(|instruction| instruction.opcode() == Some(Opcode::LLVMAlloca)) {
            let Some(bytes) = size_of(local, module).filter(|_| !memory.is_private(local)) else { continue };
            let before = changes.len();
            for (user, _) in local.uses() {
                let Some(name) =
                    user.is_call().then(|| user.callee_function()).flatten().and_then(Value::intrinsic_name)
                else {
                    continue;
                };
                if name.starts_with("llvm.lifetime.") {
                    changes.push(Change { at: user, local, bytes, begins: name.starts_with("llvm.lifetime.start") });
                }
            }
            if changes.len() == before {
                let is_return = |instruction: &Value| instruction.opcode() == Some(Opcode::LLVMRet);
                let returns = returns.get_or_insert_with(|| instructions().filter(is_return).collect::<Vec<_>>());
                changes.extend(returns.iter().map(|&at| Change { at, local, bytes, begins: false }));
            }
        }
        Self(changes)
    }

    /// Returns true if nothing changes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the instructions that are announced.
    pub fn instructions(&self) -> FxHashSet<Value> {
        self.0.iter().map(|change| change.at).collect()
    }
}

/// Returns the size of a local variable, if it is known now. Other memory is released with the stack below it.
fn size_of(local: Value, module: Module) -> Option<u64> {
    let count = u64::try_from(local.operand(0).constant_integer()?).ok()?;
    let ty = crate::llvm::Type(llvm!(LLVMGetAllocatedType(local.0)));
    Some(module.stride(ty) * count).filter(|&bytes| bytes > 0)
}

impl Emitter<'_> {
    /// Announces the changes.
    pub(crate) fn scopes(&mut self, plan: &FunctionPlan) {
        for &Change { at, local, bytes, begins } in &plan.scopes.0 {
            self.locate(plan.function, at);
            let bytes = self.i64(bytes);
            if begins {
                self.before(at.next().expect("a mark does not end a block"));
                self.call(c"__rh_scope_begin", &[local, bytes]);
            } else {
                self.before(before_tail_call(at));
                self.call(c"__rh_scope_end", &[local, bytes]);
            }
        }
    }
}
