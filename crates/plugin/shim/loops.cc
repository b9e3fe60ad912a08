// Copies of loops. Rust code decides which loops are copied, and what leads from one copy to another.

#include "llvm-c/Types.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

namespace {

// A loop, and the counterpart of each of its values in a copy.
struct Copy {
  SmallVector<BasicBlock *> blocks;
  // In order, which determines the order of what is added later.
  SmallVector<Instruction *> instructions;
  ValueToValueMapTy values;

  BasicBlock *header() { return blocks.front(); }
};

// Returns the counterpart of a value; a value from outside the loop is its own counterpart.
Value *counterpart(Copy &copy, Value *value) {
  auto found = copy.values.find(value);
  return found == copy.values.end() ? value : static_cast<Value *>(found->second);
}

} // namespace

extern "C" {

// Innermost loops, the header first.
void rh_each_innermost_loop(LLVMValueRef function, void *context,
                            void (*visit)(void *, const LLVMBasicBlockRef *, size_t)) {
  DominatorTree dominators(*cast<Function>(unwrap(function)));
  LoopInfo loops(dominators);
  for (Loop *loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost())
      continue;
    SmallVector<LLVMBasicBlockRef> blocks;
    for (BasicBlock *block : loop->blocks())
      blocks.push_back(wrap(block));
    visit(context, blocks.data(), blocks.size());
  }
}

// Makes a copy that branches to where the loop does, and to which nothing branches yet.
Copy *rh_copy_loop(const LLVMBasicBlockRef *blocks, size_t count) {
  auto *copy = new Copy;
  for (size_t i = 0; i < count; i++)
    copy->blocks.push_back(unwrap(blocks[i]));
  Function *function = copy->header()->getParent();
  SmallVector<BasicBlock *> clones;
  for (BasicBlock *block : copy->blocks) {
    clones.push_back(CloneBasicBlock(block, copy->values, "", function));
    copy->values[block] = clones.back();
    for (Instruction &instruction : *block)
      copy->instructions.push_back(&instruction);
  }
  const RemapFlags flags = RF_NoModuleLevelChanges | RF_IgnoreMissingLocals;
  for (BasicBlock *clone : clones)
    for (Instruction &instruction : *clone) {
      RemapInstruction(&instruction, copy->values, flags);
      RemapDbgRecordRange(function->getParent(), instruction.getDbgRecordRange(), copy->values, flags);
    }
  // The header is entered from elsewhere.
  auto *header = cast<BasicBlock>(counterpart(*copy, copy->header()));
  for (PHINode &phi : header->phis())
    for (unsigned i = phi.getNumIncomingValues(); i-- > 0;)
      if (!is_contained(clones, phi.getIncomingBlock(i)))
        phi.removeIncomingValue(i, false);
  // The successors of the loop are also those of the copy.
  for (auto [block, clone] : zip(copy->blocks, clones))
    for (BasicBlock *next : successors(clone))
      if (!is_contained(clones, next))
        for (PHINode &phi : next->phis())
          phi.addIncoming(counterpart(*copy, phi.getIncomingValueForBlock(block)), clone);
  return copy;
}

// Returns the counterpart of a value, or of a block, in the copy.
LLVMValueRef rh_counterpart(Copy *copy, LLVMValueRef value) { return wrap(counterpart(*copy, unwrap(value))); }

// The copy's header is now entered from `from`, which the loop's header leads to.
void rh_enter_copy(Copy *copy, LLVMBasicBlockRef from) {
  for (PHINode &phi : copy->header()->phis())
    cast<PHINode>(counterpart(*copy, &phi))->addIncoming(&phi, unwrap(from));
}

// The loop's header is now entered from `from`, which the copy's header leads to.
void rh_leave_copy(Copy *copy, LLVMBasicBlockRef from) {
  for (PHINode &phi : copy->header()->phis())
    phi.addIncoming(counterpart(*copy, &phi), unwrap(from));
}

// Makes every use of a value in and after the loop take it from the copy that control came through. Ends the copies.
void rh_join_copies(Copy *const *copies, size_t count) {
  for (Instruction *original : copies[0]->instructions) {
    SmallVector<Use *> uses;
    for (Use &use : original->uses()) {
      auto *user = cast<Instruction>(use.getUser());
      if (user->getParent() != original->getParent() || isa<PHINode>(user))
        uses.push_back(&use);
    }
    SSAUpdater updater;
    updater.Initialize(original->getType(), original->getName());
    updater.AddAvailableValue(original->getParent(), original);
    for (size_t i = 0; i < count; i++) {
      auto *copied = cast<Instruction>(counterpart(*copies[i], original));
      updater.AddAvailableValue(copied->getParent(), copied);
    }
    for (Use *use : uses)
      updater.RewriteUse(*use);
    updater.UpdateDebugValues(original);
  }
  for (size_t i = 0; i < count; i++)
    delete copies[i];
}

// Turns a local variable that is only loaded and stored into values.
void rh_promote(LLVMValueRef local) {
  auto *variable = cast<AllocaInst>(unwrap(local));
  DominatorTree dominators(*variable->getFunction());
  PromoteMemToReg({variable}, dominators);
}
}
