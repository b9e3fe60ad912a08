//! Loops that are compiled in three versions.
//!
//! Executions that track few accesses spend most of their time in loops where nothing is tracked, or where one access
//! in a thousand is. An innermost loop without calls gets two copies that announce nothing and count events in a
//! register: a *blind* copy, used if none of its sites is selected, and a *watchful* copy, which compares each address
//! with the memory that the plan tracks. At an access to that memory, the watchful copy continues in the middle of the
//! original loop, with its hooks, until the iteration ends.
//!
//! ```text
//!  header:  nothing selected in this process?  or budget <= events of a round?  -- yes -->  the loop, with its hooks
//!               | no                                                                              ^      |
//!           all sites clear?  -- yes -->  blind copy    (back when the budget is low) ------------+      |
//!               | no                                                                              ^      v
//!               +-------------------->  watchful copy  (also when an address is near) ------------+   header
//! ```
//!
//! The copies are made before hooks are emitted, and connected with the loop after everything else.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::emit::{Emitter, UNNAMED};
use crate::llvm::{Block, LoopCopy, Value, innermost_loops, llvm, promote, split_before};
use crate::loops::successors;
use crate::operation::Operation;
use crate::plan::Announcement;
use crate::regions::is_one_event;
use crate::sys::core::*;
use crate::sys::{LLVMIntPredicate, LLVMOpcode as Opcode};

/// Maximum number of instructions of a loop that is copied.
const MOST_INSTRUCTIONS: usize = 400;

/// A loop that gets copies.
pub struct CopiedLoop {
    function: Value,
    /// Its blocks, the header first, each with the events in it.
    blocks: Vec<(Block, Vec<Event>)>,
    /// Its announcements, in order.
    announcements: Vec<usize>,
    /// Sites such that each of the loop's sites comes after one of them, with no site of another loop or region in
    /// between.
    pub heads: Vec<u32>,
    /// Maximum number of events in an iteration.
    most: u64,
}

/// A counted event.
enum Event {
    /// An announcement, by its number.
    Announced(usize),
    /// The end of an iteration in which nothing may have been announced.
    Round,
}

impl CopiedLoop {
    fn header(&self) -> Block {
        self.blocks[0].0
    }

    /// Returns true if an announcement belongs to it.
    pub fn has(&self, announcement: usize) -> bool {
        self.announcements.binary_search(&announcement).is_ok()
    }
}

/// Returns the loops of a function that can be copied.
pub fn find(
    function: Value,
    announcements: &[Announcement],
    rounds: &[Value],
    is_repeatable: &dyn Fn(Value) -> bool,
) -> Vec<CopiedLoop> {
    let mut of_block: FxHashMap<Block, Vec<usize>> = FxHashMap::default();
    for (index, announcement) in announcements.iter().enumerate() {
        of_block.entry(announcement.instruction.block()).or_default().push(index);
    }
    let rounds: FxHashSet<Value> = rounds.iter().copied().collect();
    let candidates = innermost_loops(function);
    candidates
        .iter()
        .filter_map(|blocks| consider(function, blocks, announcements, &of_block, &rounds, is_repeatable))
        .collect()
}

fn consider(
    function: Value,
    blocks: &[Block],
    announcements: &[Announcement],
    of_block: &FxHashMap<Block, Vec<usize>>,
    rounds: &FxHashSet<Value>,
    is_repeatable: &dyn Fn(Value) -> bool,
) -> Option<CopiedLoop> {
    let ends_simply = |block: &Block| {
        let end = block.terminator().and_then(Value::opcode);
        matches!(end, Some(Opcode::LLVMBr | Opcode::LLVMSwitch))
    };
    let mut instructions = blocks.iter().flat_map(|block| block.instructions()).zip(0..);
    if !blocks.iter().all(ends_simply)
        || !instructions.all(|(instruction, count)| count < MOST_INSTRUCTIONS && is_repeatable(instruction))
        || !passes_each_block_once(blocks)
    {
        return None;
    }
    let mut copied = CopiedLoop { function, blocks: Vec::new(), announcements: Vec::new(), heads: Vec::new(), most: 0 };
    for &block in blocks {
        let mut events = Vec::new();
        for &index in of_block.get(&block).into_iter().flatten() {
            let operations = &announcements[index].operations;
            if operations.iter().all(is_one_event) {
                events.push(Event::Announced(index));
                copied.most += operations.len() as u64;
            } else if !operations.iter().all(Operation::is_trace) {
                return None;
            }
            copied.announcements.push(index);
        }
        if block.terminator().is_some_and(|end| rounds.contains(&end)) {
            events.push(Event::Round);
            copied.most += 1;
        }
        copied.blocks.push((block, events));
    }
    copied.announcements.sort_unstable();
    let sites = copied.announcements.iter().map(|&index| announcements[index].site);
    let mut last = None;
    for site in sites {
        if last.is_none_or(|last| last + 1 != site) {
            copied.heads.push(site);
        }
        last = Some(site);
    }
    (copied.most > 0).then_some(copied)
}

/// Returns true if every cycle in the loop passes through its header.
fn passes_each_block_once(blocks: &[Block]) -> bool {
    let mut waiting_for: FxHashMap<Block, usize> = blocks.iter().map(|&block| (block, 0)).collect();
    let inner = |block: Block| successors(block).into_iter().filter(|&next| next != blocks[0]);
    for next in blocks.iter().flat_map(|&block| inner(block)) {
        if let Some(count) = waiting_for.get_mut(&next) {
            *count += 1;
        }
    }
    let mut ready = vec![blocks[0]];
    let mut passed = 0;
    while let Some(block) = ready.pop() {
        passed += 1;
        for next in inner(block) {
            let Some(count) = waiting_for.get_mut(&next) else { continue };
            *count -= 1;
            if *count == 0 {
                ready.push(next);
            }
        }
    }
    passed == blocks.len()
}

/// The copies of one loop, before any branch leads to them.
pub struct Copies<'a> {
    of: &'a CopiedLoop,
    header: Block,
    copies: Vec<Made>,
    /// The number of events until the next one that the runtime has to see, while control is in a copy.
    left: Value,
    /// The instruction before each access in its block.
    befores: FxHashMap<usize, Option<Value>>,
}

struct Made {
    copy: LoopCopy,
    /// Leads into the copy.
    enter: Block,
    /// Leads back to the header.
    leave: Block,
    /// Leads to an announcement in the loop.
    near: Vec<(usize, Block)>,
}

impl Emitter<'_> {
    /// Makes the copies of a loop that has no hooks yet.
    pub fn copy_loop<'a>(&mut self, of: &'a CopiedLoop, announcements: &[Announcement]) -> Copies<'a> {
        let blocks: Vec<Block> = of.blocks.iter().map(|&(block, _)| block).collect();
        let left = self.local(of.function);
        let watchfulness: &[bool] = if of.heads.is_empty() { &[false] } else { &[false, true] };
        // Copy the loop as often as needed before changing any copy.
        let copies: Vec<LoopCopy> = watchfulness.iter().map(|_| LoopCopy::of(&blocks)).collect();
        let copies = copies.into_iter().zip(watchfulness);
        let copies = copies.map(|(copy, &watchful)| self.count_in(copy, of, announcements, left, watchful)).collect();
        let before = |index: usize| (index, announcements[index].instruction.previous());
        let befores = of.announcements.iter().map(|&index| before(index)).collect();
        Copies { of, header: blocks[0], copies, left, befores }
    }

    /// Makes a copy count events and, if it is watchful, compare the addresses of accesses.
    fn count_in(
        &mut self,
        copy: LoopCopy,
        of: &CopiedLoop,
        announcements: &[Announcement],
        left: Value,
        watchful: bool,
    ) -> Made {
        let header = copy.block(of.header());
        let (enter, leave) = (self.append_block(header), self.append_block(header));
        self.at_end(enter);
        let [from, bytes] = [self.look_from, self.look_bytes].map(|variable| self.load_number(variable));
        self.go_to(header);
        let mut near = Vec::new();
        for (block, events) in &of.blocks {
            let (original, block) = (*block, copy.block(*block));
            let first = block.instructions().find(|at| at.opcode() != Some(Opcode::LLVMPHI));
            let mut at = first.expect("a block has a terminator");
            if original == of.header() {
                let (head, round) = self.split(at);
                self.at_end(head);
                let budget = self.load_number(left);
                let goes_on = self.compare(LLVMIntPredicate::LLVMIntUGT, budget, self.i64(of.most));
                self.likely_branch(goes_on, round, leave);
                at = round.instructions().next().expect("a block has a terminator");
            }
            let counted = events.iter().map(|event| event.count(announcements)).sum();
            if counted == 0 {
                continue;
            }
            self.before(at);
            let budget = self.load_number(left);
            let rest = self.subtract(budget, counted);
            self.store(rest, left);
            self.store(rest, self.budget);
            let mut passed = 0;
            for event in events {
                if let (true, &Event::Announced(index)) = (watchful, event) {
                    let announcement = &announcements[index];
                    self.locate(of.function, announcement.instruction);
                    let access = copy.counterpart(announcement.instruction);
                    let addresses = announcement.operations.iter().filter_map(Operation::address);
                    let addresses = addresses.map(|address| copy.counterpart(address)).collect::<Vec<_>>();
                    let exit = self.unless_near(access, &addresses, [from, bytes]);
                    let exact = self.subtract(budget, passed);
                    self.store(exact, self.budget);
                    near.push((index, exit));
                }
                passed += event.count(announcements);
            }
        }
        Made { copy, enter, leave, near }
    }

    /// Branches to a new block if one of the addresses is near, and otherwise to `access`. The next code is emitted
    /// into the new block.
    fn unless_near(&mut self, access: Value, addresses: &[Value], [from, bytes]: [Value; 2]) -> Block {
        self.before(access);
        let is_near = addresses.iter().map(|&address| {
            let address = self.as_i64(address);
            let distance = Value(llvm!(LLVMBuildSub(self.builder, address.0, from.0, UNNAMED)));
            self.compare(LLVMIntPredicate::LLVMIntUGE, distance, bytes)
        });
        let all_far = is_near.reduce(|a, b| Value(llvm!(LLVMBuildAnd(self.builder, a.0, b.0, UNNAMED))));
        let all_far = all_far.expect("an access has an address");
        let (head, far) = self.split(access);
        let near = self.append_block(far);
        self.at_end(head);
        self.likely_branch(all_far, far, near);
        self.at_end(near);
        near
    }

    /// Connects loops, which have their hooks by now, with their copies.
    pub fn join_copies(&mut self, of_loops: Vec<Copies<'_>>, announcements: &[Announcement]) {
        for copies in &of_loops {
            self.connect(copies, announcements);
        }
        // Only when the control flow is final.
        for copies in of_loops {
            LoopCopy::join(copies.copies.into_iter().map(|made| made.copy).collect());
            promote(copies.left);
        }
    }

    fn connect(&mut self, copies: &Copies<'_>, announcements: &[Announcement]) {
        let Copies { of, header, copies, left, befores } = copies;
        // Before blocks are split.
        let first_hooks: FxHashMap<usize, Value> = befores
            .iter()
            .map(|(&index, before)| {
                let first = || announcements[index].instruction.block().instructions().next();
                (index, before.map_or_else(first, Value::next).expect("an announcement comes before its instruction"))
            })
            .collect();
        let after_phis = header.instructions().find(|at| at.opcode() != Some(Opcode::LLVMPHI));
        let (_, whole) = self.split(after_phis.expect("a block has a terminator"));
        let mut entries: FxHashMap<usize, Block> = FxHashMap::default();
        for made in copies {
            for &(index, near) in &made.near {
                let entry = *entries.entry(index).or_insert_with(|| split_before(first_hooks[&index]));
                self.at_end(near);
                self.go_to(entry);
            }
            self.at_end(made.leave);
            self.go_to(*header);
            made.copy.enter(made.enter);
            made.copy.leave(made.leave);
        }
        self.choose(*header, whole, of, *left, copies);
    }

    /// Decides at the header which copy runs the next iterations.
    fn choose(&mut self, header: Block, whole: Block, of: &CopiedLoop, left: Value, copies: &[Made]) {
        self.at_end(header);
        if !of.heads.is_empty() {
            let selective = self.append_block(whole);
            let bytes = self.load_number(self.look_bytes);
            let everything = self.equal(bytes, self.i64(u64::MAX));
            self.branch(everything, whole, selective);
            self.at_end(selective);
        }
        let budget = self.load_number(self.budget);
        let suffices = self.compare(LLVMIntPredicate::LLVMIntUGT, budget, self.i64(of.most));
        let enough = self.append_block(whole);
        self.likely_branch(suffices, enough, whole);
        self.at_end(enough);
        self.store(budget, left);
        let [blind, watchful @ ..] = copies else { unreachable!("a loop has copies") };
        match watchful {
            [watchful] => {
                let is_clear = self.are_clear(&of.heads);
                self.branch(is_clear, blind.enter, watchful.enter);
            }
            _ => self.go_to(blind.enter),
        }
    }
}

impl Event {
    fn count(&self, announcements: &[Announcement]) -> u64 {
        match *self {
            Self::Announced(index) => announcements[index].operations.len() as u64,
            Self::Round => 1,
        }
    }
}
