//! Variable and thread bounding on programs: the figures of the paper, and memory that has to be named.

use racehunter_e2e::{Hunted, Workshop, root};
use std::fs;
use std::path::Path;

/// The figures of the paper, 1 to 4, 8 to 10 and 12.
const FIGURES: [&str; 8] = [
    "too_late",
    "repeated_read",
    "flicker",
    "two_variables",
    "between_two",
    "two_steps_ahead",
    "two_of_two",
    "allocation_vector",
];

/// What the bug of a program needs, as its comments say: preemptions, variables, threads.
fn needs(name: &str) -> [u32; 3] {
    let source = fs::read_to_string(root().join(format!("targets/assertion/{name}.c"))).expect(name);
    ["preemptions", "variables", "threads"].map(|what| {
        let line = source.lines().find_map(|line| line.strip_prefix(&format!("// {what}: ")));
        line.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{name} does not say its {what}"))
    })
}

fn hunt(workshop: &Workshop, program: &str, analysis: &str, options: &[&str]) -> Hunted {
    let path = format!("targets/assertion/{program}.c");
    let hunted = workshop.hunt(Path::new(&path), &[&["--analysis", analysis], options].concat());
    assert_eq!(hunted.summary().diverged, 0, "{program}: {:?}", hunted.summary());
    hunted
}

#[test]
fn the_figures_need_what_the_paper_says() {
    let workshop = Workshop::new();
    for name in FIGURES {
        let [preemptions, variables, threads] = needs(name);
        let within = |program: &str, preemptions: u32, variables: u32| {
            let numbers = [preemptions, variables, threads].map(|number| number.to_string());
            let options = ["--bound", &numbers[0], "--variables", &numbers[1], "--threads", &numbers[2]];
            let hunted = hunt(&workshop, program, "variable-bound", &options);
            assert!(hunted.summary().complete, "{program}: {:?}", hunted.summary());
            hunted.findings.len()
        };
        assert_eq!(within(name, preemptions, variables), 1, "{name}");
        assert_eq!(within(&format!("{name}.fixed"), preemptions, variables), 0, "{name}");
        if preemptions > 0 {
            assert_eq!(within(name, preemptions - 1, variables), 0, "{name}: with fewer preemptions");
            assert_eq!(within(name, preemptions, variables - 1), 0, "{name}: at fewer variables");
        }
    }
}

#[test]
fn the_figures_are_found_by_orders_of_their_threads() {
    let workshop = Workshop::new();
    for name in FIGURES {
        let [preemptions, variables, threads] = needs(name);
        // `main` is one more thread that has to run in a certain order.
        let numbers = [preemptions, variables, threads + 1].map(|number| number.to_string());
        let options = ["--bound", &numbers[0], "--variables", &numbers[1], "--threads", &numbers[2]];
        let hunted = hunt(&workshop, name, "thread-bound", &options).expect(1);
        assert!(hunted.summary().complete, "{name}: {:?}", hunted.summary());
        let twin = hunt(&workshop, &format!("{name}.fixed"), "thread-bound", &options).expect(0);
        assert!(twin.summary().guarantee.starts_with("all schedules of "), "{name}: {:?}", twin.summary());
    }
}

#[test]
fn the_figures_are_found_by_walks_that_preempt_at_few_variables() {
    let workshop = Workshop::new();
    for name in FIGURES {
        let [preemptions, variables, _] = needs(name);
        // The third thread of figure 10 has to be delayed too.
        let depth = preemptions + 1 + u32::from(name == "two_of_two");
        let numbers = [depth, variables.max(1)].map(|number| number.to_string());
        let options = ["--depth", &numbers[0], "--variables", &numbers[1], "--runs", "2000", "--stop-on-first"];
        let hunted = hunt(&workshop, name, "pct-vb", &options).expect(1);
        assert!(hunted.findings[0].confirmed, "{name}");
    }
}

#[test]
fn stages_report_their_rank() {
    let workshop = Workshop::new();
    let hunted = hunt(&workshop, "two_of_two.fixed", "variable-bound", &[]).expect(0);
    let ranks: Vec<_> = hunted.bounds.iter().map(|stage| (stage.variables, stage.threads, stage.bound)).collect();
    assert!(ranks.is_sorted() && ranks.len() > 3, "{ranks:?}");
    assert!(ranks.iter().all(|(variables, threads, _)| variables.is_some() && threads.is_some()));
    let plain = hunt(&workshop, "two_of_two.fixed", "context-bound", &[]).expect(0);
    assert!(plain.bounds.iter().all(|stage| stage.variables.is_none() && stage.threads.is_none()));
    assert_eq!(hunted.summary().executions, plain.summary().executions, "the same schedules in another order");
}

/// Four blocks from one loop. The last of them is the one that is read twice.
const LOOP: &str = r"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    atomic_int value;
};
static struct node *nodes[4];

static void *look(void *unused) {
    int last = 0;
    for (int i = 0; i < 4; i++) {
        int first = nodes[i]->value;
        last = nodes[i]->value;
        assert(first == last);
    }
    return unused;
}

static void *change(void *unused) {
    nodes[3]->value = 1;
    return unused;
}

int main(void) {
    for (int i = 0; i < 4; i++)
        nodes[i] = calloc(1, sizeof(struct node));
    pthread_t reader, writer;
    pthread_create(&reader, NULL, look, NULL);
    pthread_create(&writer, NULL, change, NULL);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    for (int i = 0; i < 4; i++)
        free(nodes[i]);
    return 0;
}
";

#[test]
fn blocks_of_late_loop_iterations_can_be_excluded() {
    let (workshop, program) = Workshop::with_program(LOOP);
    let first = |iterations: &str, analysis: &str| {
        let options = ["--analysis", analysis, "--bound", "1", "--iterations", iterations];
        let hunted = workshop.hunt(&program, &options);
        assert!(hunted.summary().complete, "{:?}", hunted.summary());
        (hunted.findings.len(), hunted.summary().guarantee.clone())
    };
    for analysis in ["variable-bound", "thread-bound"] {
        let (findings, guarantee) = first("3", analysis);
        assert_eq!(findings, 0, "{guarantee}");
        assert!(guarantee.contains("(blocks of the heap: those of the first 3 iterations of a loop)"), "{guarantee}");
        let (findings, guarantee) = first("4", analysis);
        assert_eq!(findings, 1, "{guarantee}");
        assert!(!guarantee.contains("iterations"), "{guarantee}");
    }
}

/// A reader sees that the first of two elements was changed before the second is. The elements belong to a global, or
/// to a heap block.
fn elements(declaration: &str, allocation: &str) -> String {
    const PAIR: &str = r"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

DECLARATION;

static void *change(void *unused) {
    pair[0] = 1;
    pair[1] = 1;
    return unused;
}

static void *look(void *unused) {
    if (pair[0] == 1 && pair[1] == 0)
        assert(pair[1] == 0);
    return unused;
}

int main(void) {
    ALLOCATION;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, change, NULL);
    pthread_create(&threads[1], NULL, look, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
";
    PAIR.replace("DECLARATION", declaration).replace("ALLOCATION", allocation)
}

#[test]
fn an_array_and_a_block_can_be_one_variable() {
    let global = elements("atomic_int pair[2]", "");
    let block = elements("static atomic_int *pair", "pair = calloc(2, sizeof *pair)");
    for source in [global, block] {
        let (workshop, program) = Workshop::with_program(&source);
        let findings = |options: &[&str]| {
            let common = ["--analysis", "variable-bound", "--bound", "2", "--variables", "1"];
            let hunted = workshop.hunt(&program, &[&common, options].concat());
            assert!(hunted.summary().complete, "{:?}", hunted.summary());
            let whole = hunted.summary().guarantee.contains("an array, a structure and a block of the heap");
            assert_eq!(whole, options.contains(&"--whole-objects"), "{:?}", hunted.summary());
            hunted.findings.len()
        };
        assert_eq!((findings(&[]), findings(&["--whole-objects"])), (0, 1), "{source}");
    }
}

#[test]
fn walks_count_blocks_of_one_call_as_one_variable() {
    let (workshop, program) = Workshop::with_program(LOOP);
    let options = ["--analysis", "pct-vb", "--depth", "2", "--variables", "1", "--runs", "300"];
    let hunted = workshop.hunt(&program, &options).expect(1);
    let chance = hunted.summary().chance.clone().expect("a chance");
    // Eight reads and a write, from three prefixes.
    assert!(chance.contains("3 threads, 1 variable, <= 9 accesses of 1)"), "{chance}");
}

/// Two calls of `new`, both of which reach the allocator from the same place in the C++ library.
const NEW: &str = r"
#include <atomic>
#include <cassert>
#include <thread>

int main() {
    auto *left = new std::atomic<int>(0);
    auto *right = new std::atomic<int>(0);
    std::thread reader([&] {
        int first = *left;
        assert(first == *left || *right != 1);
    });
    std::thread writer([&] {
        *left = 1;
        *right = 1;
        *right = 0;
    });
    reader.join();
    writer.join();
    delete left;
    delete right;
}
";

#[test]
fn calls_of_new_are_distinguished() {
    let workshop = Workshop::new();
    let program = workshop.write("new.cpp", NEW);
    let options = ["--analysis", "pct-vb", "--variables", "2", "--runs", "1500"];
    let hunted = workshop.hunt(&program, &options).expect(1);
    let chance = hunted.summary().chance.clone().expect("a chance");
    assert!(chance.contains(" 2 variables, "), "{chance}");
}
