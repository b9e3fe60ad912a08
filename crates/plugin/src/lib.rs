//! The pass that RaceHunter adds to clang (and rustc).
//!
//! It numbers the instructions whose effect other threads can see, calls a hook of the in-target runtime before each of
//! them, keeps a shadow call stack, and puts the instrumented code, as [`racehunter_ir`], into a section of the object
//! file. It is the only part of the project that uses LLVM, and it does not know what the runtime does with the hooks.
//!
//! The pass runs at the end of the optimiser, just before ThreadSanitizer's own, and then marks every function so that
//! ThreadSanitizer leaves it alone. A program compiled this way sees the same `__has_feature`, attributes and optimiser
//! as with `-fsanitize=thread`, and differs only in the calls. The pass also works on modules that are compiled for
//! link-time optimisation: once, before the link.
//!
//! The plugin contains no LLVM: a small C++ shim registers the pass, and everything else uses the C API of the compiler
//! that loaded it. That compiler must have the LLVM version that the plugin was built for; any other is refused before
//! one of its functions is called.
//!
//! # Rust
//!
//! rustc has no stable switch for `sanitize_thread`. With `RACEHUNTER_RUST=1` in its environment the plugin gives
//! the attribute to every function itself.
//!
//! With `RACEHUNTER_QUIET=1` the plugin marks the module as code that is trusted as a whole, as Rust's standard
//! library is: its memory accesses are announced like all others, but no thread is preempted there. Random values
//! that it draws for itself (the keys of its hash maps, the thread number in a panic message) do not count as gaps.
//!
//! # Atomic sections
//!
//! With `RACEHUNTER_ATOMIC_SECTIONS=1` in its environment, the plugin turns each function whose name begins with
//! `__VERIFIER_atomic_` into a section between `__VERIFIER_atomic_begin` and `__VERIFIER_atomic_end`, as verification
//! tasks define it.
//!
//! # Code that no machine can run
//!
//! With `RACEHUNTER_EXPORT=FILE` in its environment, the plugin also writes the code to that file. An analysis can
//! then read it even if the compiler cannot make an object of it, for example because of assembler that only an
//! optimiser gets right.
//!
//! Start reading at [`plan`], then [`emit`].

#[cfg(all(feature = "llvm19", not(feature = "llvm22")))]
use llvm_sys_19 as sys;
#[cfg(all(feature = "llvm22", not(feature = "llvm19")))]
use llvm_sys_22 as sys;

#[cfg(all(feature = "llvm19", feature = "llvm22"))]
compile_error!("choose one LLVM: --no-default-features --features llvm19, or llvm22");
#[cfg(not(any(feature = "llvm19", feature = "llvm22")))]
compile_error!("choose the LLVM version: --features llvm22 or --features llvm19");

mod calls;
mod copies;
mod directives;
mod emit;
mod export;
mod frame;
mod host;
mod kinds;
mod lanes;
mod library;
mod llvm;
mod loops;
mod memory;
mod operation;
mod panics;
mod plan;
mod printing;
mod reach;
mod regions;
mod registration;
mod scopes;
mod sections;
mod standard;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::emit::Emitter;
use crate::kinds::Kinds;
use crate::llvm::Module;
use crate::plan::Plan;
use crate::sys::prelude::LLVMModuleRef;

/// Returns true if an environment variable asks for something.
fn asked(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| value == "1")
}

/// Marks code that is trusted as a whole: no thread is preempted in it.
const QUIET: &str = "RACEHUNTER_QUIET";

/// Called by the shim before the optimiser starts.
#[unsafe(no_mangle)]
extern "C" fn rh_begin(module: LLVMModuleRef) -> bool {
    guarded(|| {
        let marked = asked("RACEHUNTER_RUST") && mark_functions(Module(module));
        let enclosed = asked("RACEHUNTER_ATOMIC_SECTIONS") && sections::enclose(Module(module));
        marked || enclosed
    })
}

/// Called by the shim after the optimiser.
#[unsafe(no_mangle)]
extern "C" fn rh_instrument(module: LLVMModuleRef) -> bool {
    guarded(|| instrument(Module(module)))
}

/// Stops a panic from unwinding into the compiler: the build fails with its message.
fn guarded(step: impl FnOnce() -> bool) -> bool {
    catch_unwind(AssertUnwindSafe(step)).unwrap_or_else(|_| {
        eprintln!("racehunter: internal error in the compiler plugin; please report it with the source file");
        std::process::exit(70)
    })
}

fn mark_functions(module: Module) -> bool {
    let kinds = Kinds::new(module);
    let mut changed = false;
    for function in module.functions().filter(|function| !function.is_declaration()) {
        function.add_attribute(module.context(), kinds.sanitize_thread);
        changed = true;
    }
    changed
}

fn instrument(module: Module) -> bool {
    // A module may pass here twice, for example in a compiler that optimises again at link time.
    if module.global(registration::SITES).is_some() {
        return false;
    }
    let kinds = Kinds::new(module);
    let plan = Plan::new(module, &kinds, asked("RACEHUNTER_SHORTCUTS"));
    reach::mark(module, &kinds);
    reach::note_cancellation(module);
    if plan.functions.is_empty() {
        return silence_thread_sanitizer(module, &kinds);
    }
    let exported = racehunter_ir::encode(&export::export(module, &kinds, &plan));
    if let Some(file) = std::env::var_os("RACEHUNTER_EXPORT") {
        // The caller notices if it is missing.
        let _ = std::fs::write(file, &exported.bytes);
    }
    let mut emitter = Emitter::new(module, &kinds, &plan);
    for function in &plan.functions {
        emitter.function(function);
    }
    if asked("RACEHUNTER_RUST") {
        panics::announce(module);
        panics::leave_out_backtraces(module);
    }
    withdraw_promises(module, &kinds, &plan);
    registration::register(module, &kinds, &emitter.types, emitter.sites, plan.site_count, exported.id.0);
    registration::embed(module, &exported.bytes);
    silence_thread_sanitizer(module, &kinds);
    true
}

/// Removes attributes that the optimiser inferred from the code without hooks.
fn withdraw_promises(module: Module, kinds: &Kinds, plan: &Plan) {
    for changed in &plan.functions {
        kinds.broken_promises.iter().for_each(|&kind| changed.function.remove_attribute(kind));
    }
    let blocks = module.functions().flat_map(|function| function.blocks());
    for call in blocks.flat_map(|block| block.instructions()).filter(|instruction| instruction.is_call()) {
        // Library functions keep theirs: their code did not change.
        let is_ours = call.callee_function().is_none_or(|callee| !callee.is_declaration());
        if is_ours {
            kinds.broken_promises.iter().for_each(|&kind| call.remove_call_attribute(kind));
        }
    }
}

/// Keeps ThreadSanitizer's pass, which comes next, from adding its own hooks.
fn silence_thread_sanitizer(module: Module, kinds: &Kinds) -> bool {
    let mut changed = false;
    for function in module.functions().filter(|function| !function.is_declaration()) {
        function.add_attribute(module.context(), kinds.disable_instrumentation);
        changed = true;
    }
    changed
}
