//! Executions with long logs run in several rounds, and the next round runs while the executions of the last one are passed on.
//! Neither changes what is passed on, nor its order.

use racehunter_e2e::Workshop;
use racehunter_e2e::workshop::start;
use racehunter_explore::{Execution, Executor, Flow, Plan, Tail};

/// Every iteration is a point: the log of an execution takes several megabytes.
const COUNTING: &str = r#"
#include <pthread.h>
#include <stdatomic.h>

static atomic_int counter;

static void *work(void *argument) {
    for (int i = 0; i < 40000; i++)
        atomic_fetch_add(&counter, 1);
    return argument;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return counter == 120000 ? 0 : 1;
}
"#;

/// The part of an execution that is compared.
fn seen(execution: &Execution) -> (usize, u64, Vec<u64>) {
    let numbers = execution.switches().iter().map(|switch| switch.at.0 << 8 | u64::from(switch.to.0)).collect();
    (execution.records.len(), execution.events, numbers)
}

#[test]
fn long_logs_are_passed_on_unchanged_and_in_order() {
    let (_workshop, program) = Workshop::with_program(COUNTING);
    let plans: Vec<Plan> = (0..24).map(|seed| Plan { tail: Tail::random(seed), ..Plan::default() }).collect();
    let mut alone = start(&program, 1);
    let expected: Vec<_> =
        plans.iter().map(|plan| seen(&alone.run(std::slice::from_ref(plan)).expect("it runs")[0])).collect();
    // Otherwise all of them would run in one round.
    assert!(expected.iter().map(|(records, ..)| records * 48).sum::<usize>() > 2 * (64 << 20));
    assert_ne!(expected[0], expected[1]);
    for jobs in [1, 2] {
        let mut processes = start(&program, jobs);
        // The first execution shows how long the logs are.
        assert_eq!(seen(&processes.run(&plans[..1]).expect("it runs")[0]), expected[0]);
        let mut passed_on = Vec::new();
        let rest = processes.run_each(&plans, &mut |execution| {
            passed_on.push(seen(execution));
            Flow::Next
        });
        assert!(rest.expect("they run").is_empty());
        assert!(passed_on == expected, "{jobs} workers");
        assert!(processes.run(&plans).expect("they run").iter().map(seen).eq(expected.iter().cloned()));
    }
}

#[test]
fn a_pause_returns_the_executions_already_run() {
    let (_workshop, program) = Workshop::with_program(COUNTING);
    let plans: Vec<Plan> = (0..24).map(|seed| Plan { tail: Tail::random(seed), ..Plan::default() }).collect();
    let mut processes = start(&program, 1);
    let expected: Vec<_> = processes.run(&plans).expect("they run").iter().map(seen).collect();
    for flow in [Flow::Pause, Flow::Stop] {
        let mut passed_on = Vec::new();
        let rest = processes.run_each(&plans, &mut |execution| {
            passed_on.push(seen(execution));
            if passed_on.len() < 3 { Flow::Next } else { flow }
        });
        let rest: Vec<_> = rest.expect("they run").iter().map(seen).collect();
        assert!(passed_on == expected[..3], "{flow:?}");
        // Those of the first round and of the next one, but not all.
        assert_eq!(!rest.is_empty(), flow == Flow::Pause);
        assert!(rest.len() < expected.len() - 3 && rest == expected[3..3 + rest.len()], "{flow:?}");
        // No execution is left running.
        assert!(seen(&processes.run(&plans[4..5]).expect("it runs")[0]) == expected[4], "{flow:?}");
    }
}
