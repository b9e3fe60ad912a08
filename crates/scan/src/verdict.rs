//! The analysis as a whole, and what it says.

use crate::address::{Base, BaseId};
use crate::again::Again;
use crate::backend::Backend;
use crate::beliefs::Beliefs;
use crate::cells::Cells;
use crate::closed;
use crate::crews::Crews;
use crate::effects::Effects;
use crate::escape::escaped;
use crate::flow::Follower;
use crate::models::Models;
use crate::objects;
use crate::parallel;
use crate::points_to::{InstanceId, PointsTo};
use crate::program::{Place, Program};
use crate::races::{Access, Candidate, Candidates, Common, accesses, candidates};
use crate::ranges::LazyRanges;
use crate::threads::Family;
use crate::unwinding::Unwinding;
use racehunter_ir::{InstructionId, Operand, Operation};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Something that could not be modelled. A program that has any is not called free of races.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// What it is.
    pub what: String,
    /// Where it is, if it is at one place.
    pub place: Option<Place>,
}

/// All gaps that were met.
#[derive(Clone, Debug, Default)]
pub struct Gaps(BTreeSet<Gap>);

impl Gaps {
    /// Notes a gap at an instruction.
    pub fn add(&mut self, points_to: &PointsTo<'_>, id: InstanceId, at: u32, what: &str) {
        let place = points_to.program.place(points_to.instances[id.0 as usize].function, at);
        self.0.insert(Gap { what: what.to_owned(), place: Some(place) });
    }
}

/// One side of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// Where.
    pub place: Place,
    /// Whether it writes.
    pub write: bool,
    /// Whether it is atomic.
    pub atomic: bool,
    /// The function that its thread begins with.
    pub thread: String,
    /// Functions from the thread's first to the one of the access.
    pub stack: Vec<String>,
    /// Where each of them calls the next, and, last, the access.
    pub calls: Vec<Place>,
    /// Locks that are held.
    pub locks: Vec<String>,
    /// Others that may be held.
    pub may_hold: Vec<String>,
    /// Whether it is an instruction of the program, and not a library that accesses memory.
    pub is_instruction: bool,
    /// The number that executions know the instruction by, if they hear of it.
    pub site: Option<u32>,
}

/// Two accesses that may be a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// What they touch.
    pub what: String,
    /// Both.
    pub sides: [Side; 2],
    /// Why they may happen at the same time.
    pub parallel: String,
    /// Whether nothing that is known speaks against it.
    pub sure: bool,
    /// How many pairs there are about the same memory, this one included.
    pub alike: usize,
    /// Number of that memory, in no particular order.
    pub memory: usize,
    /// The element of an array that one of them touches, where the other may touch any.
    pub element: Option<i64>,
}

/// What the analysis found out.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Pairs that nothing keeps apart, the most convincing first; if there are very many, not all of them.
    pub pairs: Vec<Pair>,
    /// How many there are; a million may be more.
    pub suspected: usize,
    /// How many pieces of memory they are about: variables, fields, arrays, what is allocated at a place.
    pub memory: usize,
    /// What could not be modelled.
    pub gaps: Vec<Gap>,
    /// Threads, by the places that create them, the main thread included.
    pub threads: usize,
    /// Functions, by the ways to call them.
    pub instances: usize,
    /// Whether functions were looked at once in each thread only, because there are too many ways to call them.
    pub merged: bool,
    /// Whether ways to the same point were told apart.
    pub by_ways: bool,
    /// Why executions do not show all that it can do; nothing if they do, once all schedules were run.
    pub open: Option<String>,
    /// Whether it waits for conditions, so that there can be wake-ups for no reason.
    pub waits: bool,
}

impl Report {
    /// Whether the program is proved to have no race.
    pub fn is_race_free(&self) -> bool {
        self.pairs.is_empty() && self.gaps.is_empty()
    }
}

/// Ways to a point that are told apart, when it does not work without.
const MOST_WAYS: usize = 8;

/// The same, when values in memory tell them apart too.
const MOST_WAYS_BY_CELLS: usize = 16;

/// Instructions that are followed, again and again, before that is given up.
const MOST_STEPS: u64 = 5_000_000;

/// Whether the linker gives a variable of this name an address, which may be that of another one.
fn is_made_by_the_linker(name: &str) -> bool {
    const MADE: [&str; 10] = [
        "end",
        "_end",
        "edata",
        "_edata",
        "etext",
        "_etext",
        "__bss_start",
        "__data_start",
        "data_start",
        "__executable_start",
    ];
    MADE.contains(&name) || name.starts_with("__start_") || name.starts_with("__stop_")
}

fn too_large() -> Gap {
    Gap { what: "the program as a whole: it is too large".to_owned(), place: None }
}

/// Analyses a program.
pub fn analyse(program: &Program, models: &Models, backend: &dyn Backend) -> Report {
    let mut gaps = Gaps::default();
    let Some(main) = program.find("main") else {
        gaps.0.insert(Gap { what: "there is no function `main`".to_owned(), place: None });
        return Report { gaps: gaps.0.into_iter().collect(), ..Report::default() };
    };
    if program.constructors().is_none() {
        let what = "functions that run before or after `main`".to_owned();
        gaps.0.insert(Gap { what, place: None });
    }
    for name in program.variables_elsewhere().filter(|name| is_made_by_the_linker(name)) {
        let what = format!("`{name}`, whose address the linker makes");
        gaps.0.insert(Gap { what, place: None });
    }
    // Assembler outside of functions may define and join symbols.
    if program.has_symbol(racehunter_ir::MODULE_ASSEMBLER) {
        let what = "assembler outside of functions".to_owned();
        gaps.0.insert(Gap { what, place: None });
    }
    if !backend.leaves_nothing_out() {
        let what = format!("the {} backend does not follow pointers through memory", backend.name());
        gaps.0.insert(Gap { what, place: None });
    }
    let points_to = backend.points_to(program, models, main);
    let escaped = escaped(&points_to);
    let crews = Crews::of(&points_to);
    let ranges = LazyRanges::new(&points_to, &crews);
    let unfinished = Report {
        threads: points_to.threads.len(),
        instances: points_to.instances.len(),
        merged: points_to.merged,
        open: Some("it was not looked at as a whole".to_owned()),
        ..Report::default()
    };
    if points_to.is_given_up() {
        gaps.0.insert(too_large());
        return Report { gaps: gaps.0.into_iter().collect(), ..unfinished };
    }
    for (id, at) in catches(&points_to) {
        gaps.add(&points_to, id, at, "an exception that is caught");
    }
    for (id, at) in objects::overwritten(&points_to) {
        let what = "a write to what a semaphore, a barrier or a function that is called once goes by";
        gaps.add(&points_to, id, at, what);
    }
    let (effects, again) = (Effects::of(&points_to), Again::of(&points_to));
    let untold = gaps;
    let cleans_up = program.has_cleanups();
    let unwinding = Unwinding::of(&points_to);
    let open = closed::why_open(&points_to);
    let mut report = Report::default();
    for most_ways in [1, MOST_WAYS, MOST_WAYS_BY_CELLS] {
        let cells = if most_ways == MOST_WAYS_BY_CELLS { Cells::of(&points_to) } else { Cells::default() };
        let mut gaps = untold.clone();
        let mut family = Family::of(&points_to);
        let mut follower = Follower {
            points_to: &points_to,
            escaped: &escaped,
            crews: &crews,
            effects: &effects,
            again: &again,
            // What is found at the first look is enough for many.
            ranges: (most_ways > 1).then(|| ranges.get()).flatten(),
            sums: Vec::new(),
            cells: &cells,
            beliefs: Beliefs::of(&cells),
            most_ways,
            cleans_up,
            unwinding: &unwinding,
            steps_left: MOST_STEPS,
            gaps: &mut gaps,
        };
        let flow = follower.run(&mut family);
        if follower.steps_left == 0 && most_ways > 1 {
            // What is known already is enough to say.
            break;
        }
        if follower.steps_left == 0 {
            gaps.0.insert(too_large());
            return Report { gaps: gaps.0.into_iter().collect(), ..unfinished };
        }
        let accesses = accesses(&points_to, &flow, &family, &mut follower);
        let beliefs = follower.beliefs;
        let found = candidates(&points_to, &family, &crews, &beliefs, &ranges, &accesses);
        report = Report {
            pairs: pairs(&points_to, &found),
            suspected: found.total,
            memory: found.alike.len(),
            // An address that a backend does not look for is not worth a word for each.
            gaps: gaps.0.into_iter().filter(|gap| backend.leaves_nothing_out() || gap.place.is_none()).collect(),
            threads: points_to.threads.len(),
            instances: points_to.instances.len(),
            merged: points_to.merged,
            by_ways: most_ways > 1,
            open: open.clone(),
            waits: closed::waits(&points_to),
        };
        if report.is_race_free() || points_to.merged {
            break;
        }
    }
    report
}

/// Where exceptions are caught. To throw one is taken for the end of the program, so control never comes there.
fn catches(points_to: &PointsTo<'_>) -> Vec<(InstanceId, u32)> {
    let instances = (0..).zip(&points_to.instances);
    let calls = instances.flat_map(|(index, instance)| instance.outside.iter().map(move |call| (index, call)));
    calls
        .filter(|(_, (_, names))| names.contains("__cxa_begin_catch"))
        .map(|(id, (at, _))| (InstanceId(id), *at))
        .collect()
}

fn pairs(points_to: &PointsTo<'_>, found: &Candidates<'_>) -> Vec<Pair> {
    let mut numbers: FxHashMap<Common, usize> = FxHashMap::default();
    let mut all = Vec::new();
    for candidate in &found.best {
        let common = candidate.common();
        let next = numbers.len();
        let memory = *numbers.entry(common).or_insert(next);
        all.push(Pair { memory, alike: found.alike[&common], ..pair(points_to, candidate) });
    }
    all
}

fn pair(points_to: &PointsTo<'_>, candidate: &Candidate<'_>) -> Pair {
    let sides = [side(points_to, candidate.first), side(points_to, candidate.second)];
    let parallel = parallel::why(points_to, candidate.first, candidate.second);
    let (one, other) = (candidate.first.offset, candidate.second.offset);
    let element = one.element(other).or_else(|| other.element(one));
    let what = name(points_to, points_to.describe(candidate.base));
    Pair { what, sides, parallel, sure: candidate.sure, element, alike: 1, memory: 0 }
}

fn side(points_to: &PointsTo<'_>, access: &Access) -> Side {
    let program = points_to.program;
    let outer = |(id, _): &(InstanceId, u32)| points_to.instances[id.0 as usize].caller;
    let mut frames: Vec<(InstanceId, u32)> = std::iter::successors(Some((access.instance, access.at)), outer).collect();
    frames.reverse();
    let function = |id: InstanceId| points_to.instances[id.0 as usize].function;
    let stack = frames.iter().map(|(id, _)| program.function_name(function(*id)).to_owned()).collect();
    let calls = frames.iter().map(|(id, at)| program.place(function(*id), *at)).collect();
    let locks = access.state.locks.iter().filter(|held| held.if_zero.is_none()).filter_map(|held| {
        Some(match &held.key {
            crate::flow::Key::At(base, 0) => name(points_to, points_to.describe(*base)),
            crate::flow::Key::At(base, at) => format!("{}+{at}", name(points_to, points_to.describe(*base))),
            crate::flow::Key::Flag(base, _) => name(points_to, points_to.describe(*base)),
            crate::flow::Key::Atomic => "atomic section".to_owned(),
            crate::flow::Key::Relative(_) => return None,
        })
    });
    let is_surely_held =
        |lock: &BaseId| {
            access.state.locks.iter().any(|held| {
                held.if_zero.is_none() && matches!(&held.key, crate::flow::Key::At(base, _) if base == lock)
            })
        };
    let may_hold = access.state.may_hold.iter().filter_map(|lock| match lock {
        None => Some("a lock that is not known".to_owned()),
        Some(base) if is_surely_held(base) => None,
        Some(base) => Some(name(points_to, points_to.describe(*base))),
    });
    Side {
        place: program.place(points_to.instances[access.instance.0 as usize].function, access.at),
        write: access.write,
        atomic: access.atomic,
        thread: program.function_name(points_to.function_of(access.thread)).to_owned(),
        locks: locks.collect(),
        may_hold: may_hold.collect(),
        is_instruction: is_instruction(points_to, access),
        site: program.site(points_to.instances[access.instance.0 as usize].function, access.at),
        stack,
        calls,
    }
}

/// Whether executions see an access as what it is: not what libraries do, nor the end of memory.
fn is_instruction(points_to: &PointsTo<'_>, access: &Access) -> bool {
    let instance = &points_to.instances[access.instance.0 as usize];
    let code = points_to.program.function(instance.function).0;
    let is_access = matches!(
        code.instructions[access.at as usize].operation,
        Operation::Load { .. } | Operation::Store { .. } | Operation::Update { .. } | Operation::CompareExchange { .. }
    );
    let mut outside = instance.outside.get(&access.at).into_iter().flatten().peekable();
    let is_copy = outside.peek().is_some() && outside.all(|name| name.starts_with("llvm.mem"));
    is_access || is_copy
}

/// How to speak of a base.
fn name(points_to: &PointsTo<'_>, base: &Base) -> String {
    let place = |id: InstanceId, at: u32| points_to.program.place(points_to.instances[id.0 as usize].function, at);
    match base {
        Base::Variable(variable) => points_to.program.variable_of(*variable).name.clone(),
        Base::Function(function) => points_to.program.function_name(*function).to_owned(),
        Base::Outside(name) => name.clone(),
        Base::Local(id, at) => local_name(points_to, *id, *at),
        Base::Heap(id, at) => format!("memory allocated at {}", place(*id, *at)),
        Base::Handle(_) => "the handle of a thread".to_owned(),
        Base::Variadic(_) => "variable arguments".to_owned(),
        Base::Kept(_) => "what a thread keeps".to_owned(),
        Base::Environment => "the arguments of the program".to_owned(),
        Base::Unknown => "unknown memory".to_owned(),
    }
}

fn local_name(points_to: &PointsTo<'_>, id: InstanceId, at: u32) -> String {
    let (code, module) = points_to.program.function(points_to.instances[id.0 as usize].function);
    let is_it = |value: &Operand| *value == Operand::Instruction(InstructionId(at));
    let declared = code.variables.iter().find(|variable| variable.is_address && is_it(&variable.value));
    let name = declared.and_then(|variable| points_to.program.modules[module].declaration(variable.declaration));
    name.map_or_else(|| "a local variable".to_owned(), |declaration| declaration.name.clone())
}
