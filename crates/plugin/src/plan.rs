//! Decides, before anything is changed, which hooks each function gets and which numbers its instructions have.
//!
//! Numbers follow the order of the module, so the same source compiled in the same way has the same numbers.

use std::ffi::CStr;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::calls::ModelledCall;
use crate::copies::{self, CopiedLoop};
use crate::kinds::Kinds;
use crate::llvm::{FUNCTION, Module, Value, llvm};
use crate::loops;
use crate::memory::Memory;
use crate::operation::{Operation, Scanner};
use crate::printing::{self, Written};
use crate::reach::{self, Lookout, Reached};
use crate::regions;
use crate::scopes::Scopes;
use crate::sys::LLVMLinkage;
use crate::sys::core::*;

/// The operations to announce before one instruction.
pub struct Announcement {
    /// The instruction that has the number.
    pub instruction: Value,
    /// Its number.
    pub site: u32,
    /// What to announce.
    pub operations: Vec<Operation>,
}

/// The hooks of one function.
pub struct FunctionPlan {
    /// The function.
    pub function: Value,
    /// Number of its entry, where it is announced.
    pub entry_site: Option<u32>,
    /// True if it has a frame on the shadow call stack.
    pub has_frame: bool,
    /// Its instructions that are announced.
    pub announcements: Vec<Announcement>,
    /// Runs of announcements that are skipped together if none of them is tracked.
    pub regions: Vec<Range<usize>>,
    /// Loops that are copied for executions that do not track most of their accesses.
    pub copied: Vec<CopiedLoop>,
    /// Where the iterations of loops without announcements are counted.
    pub rounds: Vec<Value>,
    /// Code that it reaches and that is not seen.
    pub reached: Vec<Reached>,
    /// Calls whose result gives the amount that they have written.
    pub written: Vec<Written>,
    /// The lifetimes of its local variables that others may know.
    pub scopes: Scopes,
    /// Calls that are announced again when they have returned, with their numbers.
    pub returning: Vec<(ModelledCall, u32)>,
}

/// The hooks of the module.
pub struct Plan {
    /// The functions that get anything.
    pub functions: Vec<FunctionPlan>,
    /// The number of site numbers.
    pub site_count: u32,
    sites: FxHashMap<Value, u32>,
    shortcuts: bool,
}

/// A module with this variable is part of RaceHunter, and irrelevant to claims.
const SUPPORT: &CStr = c"__racehunter_support";

impl Plan {
    /// Analyses every function. With `shortcuts`, also finds what executions that track few accesses can skip.
    pub fn new(module: Module, kinds: &Kinds, shortcuts: bool) -> Self {
        let mut scanner = Scanner::new(module, kinds);
        let mut lookout = Lookout::new(kinds, module.global(SUPPORT).is_some());
        let mut memory = Memory::trusting(kinds);
        let mut plan = Self { functions: Vec::new(), site_count: 0, sites: FxHashMap::default(), shortcuts };
        // Resolvers run before the hooks can be reached.
        let resolvers: FxHashSet<Value> = module.resolvers().collect();
        for function in module.functions() {
            if is_instrumentable(function, kinds) && !resolvers.contains(&function) {
                let scopes = match kinds.function_has(function, kinds.sanitize_thread) && !lookout.is_support {
                    true => Scopes::find(function, module, &mut memory),
                    false => Scopes::default(),
                };
                plan.add_function(function, kinds, &mut scanner, &mut lookout, scopes);
            }
        }
        plan
    }

    /// Returns the number of an instruction, or of a function's entry.
    pub fn site(&self, value: Value) -> Option<u32> {
        self.sites.get(&value).copied()
    }

    fn add_function(
        &mut self,
        function: Value,
        kinds: &Kinds,
        scanner: &mut Scanner,
        lookout: &mut Lookout,
        scopes: Scopes,
    ) {
        let sanitized = kinds.function_has(function, kinds.sanitize_thread);
        let (mut has_events, mut has_calls) = (false, false);
        let (mut found, mut reached, mut written, mut is_blind) = (Vec::new(), Vec::new(), Vec::new(), false);
        for instruction in function.blocks().flat_map(|block| block.instructions()) {
            let operations = scanner.operations(instruction, sanitized);
            has_calls |= is_real_call(instruction);
            reached.extend(lookout.look(instruction, sanitized && scanner.understands(instruction)));
            if sanitized {
                written.extend(printing::written(instruction).filter(|written| scanner.is_visible(written.buffer)));
            }
            is_blind |= !sanitized && !lookout.is_support && scanner.is_overlooked(instruction);
            has_events |= operations.iter().any(|operation| !operation.is_trace());
            if !operations.is_empty() {
                found.push((instruction, operations));
            }
        }
        if is_blind {
            reached.insert(0, reach::blind(function));
        }
        let has_frame = has_events || has_calls || !scopes.is_empty();
        let tells =
            |(_, operations): &&(Value, Vec<Operation>)| operations.iter().any(|operation| !operation.is_trace());
        let announced = found.iter().filter(tells).map(|(instruction, _)| instruction.block()).collect();
        let rounds = if sanitized { loops::rounds(function, &announced) } else { Vec::new() };
        // A function that only returns has nothing to announce.
        let has_branches = found.iter().any(|(_, operations)| matches!(operations[..], [Operation::Branch(_)]));
        if !has_frame && !has_branches && rounds.is_empty() && reached.is_empty() {
            return;
        }
        let entry_site = sanitized.then(|| self.number(function));
        let announcements: Vec<Announcement> = found
            .into_iter()
            .map(|(instruction, operations)| Announcement { instruction, site: self.number(instruction), operations })
            .collect();
        let returning = announcements
            .iter()
            .flat_map(|announcement| {
                announcement.operations.iter().map(move |operation| (operation, announcement.site))
            })
            .filter_map(|(operation, site)| match operation {
                Operation::Library(modelled) if modelled.has_end() => Some((*modelled, site)),
                _ => None,
            })
            .collect();
        let (mut regions, mut copied) = (Vec::new(), Vec::new());
        if self.shortcuts {
            let single = scopes.instructions();
            let is_repeatable =
                |instruction: Value| !single.contains(&instruction) && regions::is_repeatable(instruction, kinds);
            copied = copies::find(function, &announcements, &rounds, &is_repeatable);
            regions = regions::find(&announcements, &copied, &is_repeatable);
        }
        self.functions.push(FunctionPlan {
            function,
            entry_site,
            has_frame,
            announcements,
            regions,
            copied,
            rounds,
            reached,
            written,
            scopes,
            returning,
        });
    }

    /// Returns the sites at which regions, and loops that are copied, begin.
    pub fn heads(&self) -> impl Iterator<Item = u32> {
        self.functions.iter().flat_map(|function| {
            let regions = function.regions.iter().map(|region| function.announcements[region.start].site);
            regions.chain(function.copied.iter().flat_map(|copied| copied.heads.iter().copied()))
        })
    }

    fn number(&mut self, value: Value) -> u32 {
        let site = self.site_count;
        self.site_count += 1;
        self.sites.insert(value, site);
        site
    }
}

/// Returns true if hooks can be added to a function.
pub fn is_instrumentable(function: Value, kinds: &Kinds) -> bool {
    !function.is_declaration()
        && !is_elsewhere(function)
        && !function.has_attribute(FUNCTION, kinds.naked)
        && !function.has_attribute(FUNCTION, kinds.disable_instrumentation)
}

/// Returns true if the function is here only for the optimiser, and its code is in another module.
pub fn is_elsewhere(function: Value) -> bool {
    llvm!(LLVMGetLinkage(function.0)) == LLVMLinkage::LLVMAvailableExternallyLinkage
}

/// Returns true if the instruction transfers control to another function.
fn is_real_call(instruction: Value) -> bool {
    instruction.is_call()
        && instruction.callee_function().is_none_or(|callee| llvm!(LLVMGetIntrinsicID(callee.0)) == 0)
        && llvm!(LLVMIsAInlineAsm(instruction.callee().0)).is_null()
}
