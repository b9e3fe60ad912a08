//! Executions that end because an assumption of the program does not hold.
//!
//! In verification tasks, `if (!condition) abort();` means that only executions with this condition matter. A thread
//! that is about to abort may delay that for as long as it likes, so in executions it waits for ever instead. In an
//! atomic section, this would keep all other threads out of theirs. But if the thread has written nothing in the
//! section yet, it might as well not have entered it: it then leaves the section, and the others continue.

use racehunter_ir::{Instruction, Operand, Operation};
use racehunter_scan::Program;
use racehunter_scan::cfg::blocks::{Blocks, range};
use racehunter_scan::program::{Entity, FunctionId};

const BEGIN: &str = "__VERIFIER_atomic_begin";
const END: &str = "__VERIFIER_atomic_end";

/// Functions that end the program if an assumption does not hold, or on an error.
pub const ENDS: [&str; 2] = ["abort", "__assert_fail"];
/// Their counterparts in tasks.
const TASK_ENDS: [&str; 3] = ["__VERIFIER_assume", "__VERIFIER_error", "reach_error"];
/// Functions that do nothing to memory.
const HARMLESS: [&str; 3] = ["__VERIFIER_nondet_", "llvm.lifetime.", "llvm.dbg."];

/// What a function does, including the functions it calls.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Does {
    writes: bool,
    ends: bool,
}

/// Where control is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
    /// Outside any section.
    Outside,
    /// In a section in which nothing was written.
    Clean,
    /// In a section in which something may have been written.
    Written,
}

/// Returns true if no thread aborts in an atomic section after it may have written something there.
pub fn leave_sections_clean(program: &Program) -> bool {
    let mut does = vec![Does::default(); program.functions().count()];
    loop {
        let before = does.clone();
        for function in program.functions() {
            does[function.0 as usize] = all(program, function, &does);
        }
        if does == before {
            break;
        }
    }
    program.functions().all(|function| is_clean(program, function, &does))
}

fn all(program: &Program, function: FunctionId, does: &[Does]) -> Does {
    let (code, module) = program.function(function);
    let mut found = Does::default();
    for instruction in &code.instructions {
        let one = effect(program, module, instruction, does);
        found = Does { writes: found.writes | one.writes, ends: found.ends | one.ends };
    }
    found
}

/// Returns the called function, if there is only one and its name is known.
fn callee(program: &Program, module: usize, instruction: &Instruction) -> Option<Entity> {
    let is_call = matches!(instruction.operation, Operation::Call | Operation::Invoke { .. });
    match instruction.operands.first() {
        Some(Operand::Symbol(symbol, 0)) if is_call => Some(program.entity(module, *symbol).0.clone()),
        _ => None,
    }
}

fn name(program: &Program, callee: &Entity) -> String {
    match callee {
        Entity::Function(function) => program.function_name(*function).to_owned(),
        Entity::Outside(name) => name.clone(),
        Entity::Variable(_) => String::new(),
    }
}

fn effect(program: &Program, module: usize, instruction: &Instruction, does: &[Does]) -> Does {
    let (nothing, anything) = (Does::default(), Does { writes: true, ends: true });
    match instruction.operation {
        Operation::Call | Operation::Invoke { .. } => match callee(program, module, instruction) {
            Some(Entity::Function(function)) => does[function.0 as usize],
            Some(Entity::Outside(name)) if HARMLESS.iter().any(|prefix| name.starts_with(prefix)) => nothing,
            Some(Entity::Outside(name)) if [BEGIN, END].contains(&&*name) => nothing,
            Some(Entity::Outside(name)) if ENDS.contains(&&*name) || TASK_ENDS.contains(&&*name) => {
                Does { writes: false, ends: true }
            }
            _ => anything,
        },
        Operation::Store { .. }
        | Operation::Update { .. }
        | Operation::CompareExchange { .. }
        | Operation::VariableArgument
        | Operation::Other(_) => Does { writes: true, ends: false },
        _ => nothing,
    }
}

/// Follows control through a function.
fn is_clean(program: &Program, function: FunctionId, does: &[Does]) -> bool {
    let (code, module) = program.function(function);
    let blocks = Blocks::of(code);
    let mut entries: Vec<Option<Section>> = vec![None; code.blocks.len()];
    let mut work: Vec<(u32, Section)> = vec![(0, Section::Outside)];
    while let Some((block, mut section)) = work.pop() {
        let Some(entry) = entries.get_mut(block as usize) else { continue };
        if entry.is_some_and(|known| known >= section) {
            continue;
        }
        *entry = Some(section);
        let (first, end) = range(code, block as usize);
        for instruction in &code.instructions[first..end] {
            let called = callee(program, module, instruction).map(|callee| name(program, &callee)).unwrap_or_default();
            match &*called {
                // Nested sections are not distinguished.
                BEGIN if section != Section::Outside => return false,
                BEGIN => section = Section::Clean,
                END => section = Section::Outside,
                _ if section == Section::Outside => {}
                _ => {
                    let does = effect(program, module, instruction, does);
                    if does.ends && (does.writes || section == Section::Written) {
                        return false;
                    }
                    if does.writes {
                        section = Section::Written;
                    }
                }
            }
            // A section that continues in the caller is not followed.
            if instruction.operation == Operation::Return && section != Section::Outside {
                return false;
            }
        }
        work.extend(blocks.successors[block as usize].iter().map(|&next| (next, section)));
    }
    true
}
