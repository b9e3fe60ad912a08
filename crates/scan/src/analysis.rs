//! The analysis as a whole: from a program to a [`Report`].
//!
//! [`analyse`] runs the stages in turn. It analyses the program up to three times, distinguishing more paths each time,
//! and stops as soon as nothing is left to suspect.

use crate::determinism;
use crate::locks::recursion::RecursiveMutexes;
use crate::locks::summary::Summaries;
use crate::models::Models;
use crate::order::gate::Gates;
use crate::order::objects;
use crate::pointer::backend::Backend;
use crate::pointer::escape::escaped;
use crate::program::Program;
use crate::race::access::accesses;
use crate::race::candidates::{Rules, candidates};
use crate::race::description::pairs;
use crate::race::publication::drop_unpublished;
use crate::ranges::LazyRanges;
use crate::report::{Gap, Gaps, Report};
use crate::solver::Solver;
use crate::solver::cells::Cells;
use crate::solver::invariants::Invariants;
use crate::threads::groups::ThreadGroups;
use crate::threads::parallel::ThreadTree;

/// Maximum number of paths to a point that are distinguished, once one path is not enough.
const MOST_PATHS: usize = 8;

/// The same, if values in memory distinguish paths too.
const MOST_PATHS_BY_CELLS: usize = 16;

/// Maximum number of instruction visits before the solver gives up.
const MOST_STEPS: u64 = 5_000_000;

/// Returns true if the linker assigns the address of a variable of this name, which may be that of another one.
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
    for name in program.called_by_the_compiler() {
        let what = format!("`{name}`, which the program defines and the compiler may call");
        gaps.0.insert(Gap { what, place: None });
    }
    for name in program.called_by_libraries() {
        let what = format!("`{name}`, which the program defines and libraries may call");
        gaps.0.insert(Gap { what, place: None });
    }
    if let Some(name) = program.describes_exceptions() {
        let what = format!("`{name}`, which the library calls if an exception ends the program");
        gaps.0.insert(Gap { what, place: None });
    }
    // Assembler outside functions may define and alias symbols.
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
    let groups = ThreadGroups::of(&points_to);
    let ranges = LazyRanges::new(&points_to, &groups);
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
    for (id, at) in objects::overwritten(&points_to) {
        let what = "a write to what a semaphore, a barrier or a function that is called once goes by";
        gaps.add(&points_to, id, at, what);
    }
    let summaries = Summaries::of(&points_to);
    let recursive = RecursiveMutexes::of(&points_to);
    let untold = gaps;
    let open = determinism::why_open(&points_to);
    let mut report = Report::default();
    for most_paths in [1, MOST_PATHS, MOST_PATHS_BY_CELLS] {
        let cells = if most_paths == MOST_PATHS_BY_CELLS { Cells::of(&points_to) } else { Cells::default() };
        let mut gaps = untold.clone();
        let mut tree = ThreadTree::of(&points_to);
        let mut solver = Solver {
            points_to: &points_to,
            escaped: &escaped,
            groups: &groups,
            summaries: &summaries,
            recursive: &recursive,
            // The first pass needs no ranges for many programs.
            ranges: (most_paths > 1).then(|| ranges.get()).flatten(),
            sums: Vec::new(),
            cells: &cells,
            invariants: Invariants::of(&cells),
            most_paths,
            steps_left: MOST_STEPS,
            gaps: &mut gaps,
        };
        let solution = solver.run(&mut tree);
        if solver.steps_left == 0 && most_paths > 1 {
            // What is known is enough for a verdict.
            break;
        }
        if solver.steps_left == 0 {
            gaps.0.insert(too_large());
            return Report { gaps: gaps.0.into_iter().collect(), ..unfinished };
        }
        let (mut accesses, releases) = accesses(&points_to, &solution, &tree, &mut solver);
        let gates = Gates::of(&points_to, &solution, &releases);
        let rules = Rules {
            points_to: &points_to,
            tree: &tree,
            groups: &groups,
            invariants: &solver.invariants,
            ranges: &ranges,
            gates: &gates,
        };
        drop_unpublished(&rules, &mut accesses);
        let found = candidates(&rules, &accesses);
        for &(id, at) in &found.closing {
            gaps.add(&points_to, id, at, "a descriptor that may be closed while another thread uses it");
        }
        report = Report {
            pairs: pairs(&points_to, &found),
            suspected: found.total,
            memory: found.alike.len(),
            // A backend that does not follow pointers would report every unknown address.
            gaps: gaps.0.into_iter().filter(|gap| backend.leaves_nothing_out() || gap.place.is_none()).collect(),
            threads: points_to.threads.len(),
            instances: points_to.instances.len(),
            merged: points_to.merged,
            by_paths: most_paths > 1,
            open: open.clone(),
            waits: determinism::waits(&points_to),
        };
        if report.is_race_free() || points_to.merged {
            break;
        }
    }
    report
}
