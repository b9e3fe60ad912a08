// What LLVM's C API does not offer: registering the pass, splitting blocks, and names in debug information.
// Everything else is in Rust.

#include "llvm-c/Types.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#if LLVM_VERSION_MAJOR >= 22
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

extern "C" {
// Implemented in Rust; both return true if they changed the module.
bool rh_begin(LLVMModuleRef module);
bool rh_instrument(LLVMModuleRef module);

extern const uint32_t rh_plugin_api = LLVM_PLUGIN_API_VERSION;
extern const uint32_t rh_llvm_major = LLVM_VERSION_MAJOR;
}

namespace {

struct Step : PassInfoMixin<Step> {
  bool (*run_step)(LLVMModuleRef);
  explicit Step(bool (*step)(LLVMModuleRef)) : run_step(step) {}
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &) {
    return run_step(wrap(&module)) ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  // Functions of an -O0 build are `optnone` unless the wrapper says otherwise; the pass must run anyway.
  static bool isRequired() { return true; }
};

// At -O0 every local variable lives in memory: without promotion each of its accesses would look like an event.
//
// A variable that is used before it has a value keeps one value anyway, as in memory. LLVM's own pass would give it
// another one at each use: `if (x) create(); if (x) join();` could then create and not join.
struct PromoteLocals : PassInfoMixin<PromoteLocals> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    auto &dominators = analyses.getResult<DominatorTreeAnalysis>(function);
    auto &assumptions = analyses.getResult<AssumptionAnalysis>(function);
    bool changed = false;
    for (;;) {
      SmallVector<AllocaInst *> locals;
      for (Instruction &instruction : function.getEntryBlock())
        if (auto *local = dyn_cast<AllocaInst>(&instruction); local && isAllocaPromotable(local))
          locals.push_back(local);
      if (locals.empty())
        break;
      SmallVector<Instruction *> first_values;
      for (AllocaInst *local : locals) {
        IRBuilder<> builder(local->getParent(), std::next(local->getIterator()));
        auto *value = cast<Instruction>(builder.CreateFreeze(UndefValue::get(local->getAllocatedType())));
        builder.CreateStore(value, local);
        first_values.push_back(value);
      }
      PromoteMemToReg(locals, dominators, &assumptions);
      for (Instruction *value : first_values)
        if (value->use_empty())
          value->eraseFromParent();
      changed = true;
    }
    if (!changed)
      return PreservedAnalyses::all();
    PreservedAnalyses preserved;
    preserved.preserveSet<CFGAnalyses>();
    return preserved;
  }
};

void add_instrumentation(ModulePassManager &passes, OptimizationLevel level) {
  if (level == OptimizationLevel::O0)
    passes.addPass(createModuleToFunctionPassAdaptor(PromoteLocals()));
  passes.addPass(Step(rh_instrument));
}

// Debug records do not count as uses.
void replace_in_debug_records(Instruction &value, PHINode &with) {
  SmallVector<DbgVariableRecord *, 4> records;
#if LLVM_VERSION_MAJOR >= 22
  findDbgUsers(&value, records);
#else
  SmallVector<DbgVariableIntrinsic *, 4> intrinsics;
  findDbgUsers(intrinsics, &value, &records);
#endif
  for (DbgVariableRecord *record : records)
    if (record->getParent() != value.getParent())
      record->replaceVariableLocationOp(&value, &with);
}

// Sets an option of the optimiser, if it exists and the user has not set it.
void set_option(StringRef name, StringRef value) {
  auto &options = cl::getRegisteredOptions();
  auto found = options.find(name);
  if (found != options.end() && found->second->getNumOccurrences() == 0)
    found->second->addOccurrence(0, name, value);
}

struct Text {
  const char *data;
  size_t length;
};
Text text(StringRef string) { return {string.data(), string.size()}; }

} // namespace

extern "C" {

void rh_register(PassBuilder &builder) {
  // Loads that the program does not make, of memory that other threads may write: the value is dropped, but to the
  // detector such a load is a race. The same holds in functions that are to be sanitized, except for these two.
  set_option("disable-licm-promotion", "true");
  set_option("enable-early-exit-vectorization", "false");
  builder.registerPipelineStartEPCallback(
      [](ModulePassManager &passes, OptimizationLevel) { passes.addPass(Step(rh_begin)); });
  // Clang registers its sanitizers at the same point, after its plugins.
#if LLVM_VERSION_MAJOR >= 20
  builder.registerOptimizerLastEPCallback(
      [](ModulePassManager &passes, OptimizationLevel level, ThinOrFullLTOPhase phase) {
        if (phase != ThinOrFullLTOPhase::ThinLTOPostLink && phase != ThinOrFullLTOPhase::FullLTOPostLink)
          add_instrumentation(passes, level);
      });
#else
  builder.registerOptimizerLastEPCallback(add_instrumentation);
#endif
}

// Returns the block that begins with `instruction`; the one before it ends with a branch to it.
LLVMBasicBlockRef rh_split_before(LLVMValueRef instruction) {
  auto *at = cast<Instruction>(unwrap(instruction));
  return wrap(at->getParent()->splitBasicBlock(at->getIterator()));
}

// Adds a second path to the only successor of a block, through a copy of it without its calls, which are hooks. Later code
// takes the block's values from either of them.
LLVMBasicBlockRef rh_duplicate_without_hooks(LLVMBasicBlockRef original) {
  BasicBlock *block = unwrap(original);
  Module *module = block->getModule();
  ValueToValueMapTy values;
  BasicBlock *copy = CloneBasicBlock(block, values, "", block->getParent());
  const RemapFlags flags = RF_NoModuleLevelChanges | RF_IgnoreMissingLocals;
  for (Instruction &instruction : make_early_inc_range(*copy)) {
    RemapInstruction(&instruction, values, flags);
    RemapDbgRecordRange(module, instruction.getDbgRecordRange(), values, flags);
    auto *call = dyn_cast<CallInst>(&instruction);
    if (call && !isa<IntrinsicInst>(call))
      call->eraseFromParent();
  }
  BasicBlock *join = block->getSingleSuccessor();
  for (Instruction &instruction : *block) {
    if (!instruction.isUsedOutsideOfBlock(block))
      continue;
    PHINode *either = PHINode::Create(instruction.getType(), 2, "", join->begin());
    instruction.replaceUsesOutsideBlock(either, block);
    replace_in_debug_records(instruction, *either);
    either->addIncoming(&instruction, block);
    either->addIncoming(values[&instruction], copy);
  }
  return wrap(copy);
}

// Returns the value that selects a successor of a switch other than the first, which is the default. LLVM 19 keeps it among the
// operands, LLVM 22 does not.
LLVMValueRef rh_case_value(LLVMValueRef instruction, unsigned successor) {
  auto *branch = cast<SwitchInst>(unwrap(instruction));
  return wrap((branch->case_begin() + (successor - 1))->getCaseValue());
}

// Static allocas must stay in the entry block when it is split.
void rh_hoist_static_allocas(LLVMValueRef function) {
  BasicBlock &entry = cast<Function>(unwrap(function))->getEntryBlock();
  auto first = entry.getFirstNonPHIOrDbgOrAlloca();
  if (first == entry.end())
    return;
  for (auto at = first; at != entry.end();) {
    auto *alloca = dyn_cast<AllocaInst>(&*at++);
    if (alloca && alloca->isStaticAlloca())
      alloca->moveBefore(entry, first);
  }
}

void rh_append_constructor(LLVMModuleRef module, LLVMValueRef function, int priority) {
  appendToGlobalCtors(*unwrap(module), cast<Function>(unwrap(function)), priority);
}

// Bytes that are executed before everything else in the function.
void rh_set_prologue(LLVMValueRef function, LLVMValueRef data) {
  cast<Function>(unwrap(function))->setPrologueData(cast<Constant>(unwrap(data)));
}

bool rh_has_prologue(LLVMValueRef function) { return cast<Function>(unwrap(function))->hasPrologueData(); }

void rh_append_to_used(LLVMModuleRef module, LLVMValueRef global) {
  appendToUsed(*unwrap(module), {cast<GlobalValue>(unwrap(global))});
}

void rh_set_dso_local(LLVMValueRef global) { cast<GlobalValue>(unwrap(global))->setDSOLocal(true); }

// Returns true if the module can only become part of an executable, never of a shared library.
bool rh_is_for_executable(LLVMModuleRef module) {
  return unwrap(module)->getPICLevel() == PICLevel::NotPIC || unwrap(module)->getPIELevel() != PIELevel::Default;
}

Text rh_scope_function(LLVMMetadataRef scope, bool linkage) {
  auto *local = dyn_cast_or_null<DILocalScope>(unwrap(scope));
  auto *function = local ? local->getSubprogram() : nullptr;
  if (!function)
    return {nullptr, 0};
  return text(linkage && !function->getLinkageName().empty() ? function->getLinkageName() : function->getName());
}

Text rh_variable_name(LLVMMetadataRef variable) { return text(cast<DIVariable>(unwrap(variable))->getName()); }

Text rh_variable_type(LLVMMetadataRef variable) {
  const DIType *type = cast<DIVariable>(unwrap(variable))->getType();
  // Pointers and qualifiers have no name, but the type behind them does.
  while (type && type->getName().empty() && isa<DIDerivedType>(type))
    type = cast<DIDerivedType>(type)->getBaseType();
  return type ? text(type->getName()) : Text{nullptr, 0};
}

// Every use of a value as a variable of the source: (context, instruction it precedes, value, variable, by address).
void rh_each_variable(LLVMValueRef function, void *context,
                      void (*visit)(void *, LLVMValueRef, LLVMValueRef, LLVMMetadataRef, bool)) {
  for (BasicBlock &block : *cast<Function>(unwrap(function)))
    for (Instruction &instruction : block)
      for (DbgVariableRecord &record : filterDbgVars(instruction.getDbgRecordRange())) {
        if (record.isKillLocation() || record.hasArgList())
          continue;
        if (Value *value = record.getVariableLocationOp(0))
          visit(context, wrap(&instruction), wrap(value), wrap(record.getVariable()), record.isDbgDeclare());
      }
}
}
