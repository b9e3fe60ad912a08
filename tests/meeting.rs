//! Programs that synchronise by what is not seen: a race counts only where both threads stood before their accesses.

use racehunter_e2e::{Hunted, Workshop};

/// A System V semaphore is not modelled: it protects `guarded`, and the detector knows nothing of it.
const SEMAPHORE: &str = r"
#include <pthread.h>
#include <sys/sem.h>
int semaphore, guarded, open_to_all;
static void change(short by) {
    struct sembuf operation = {0, by, 0};
    semop(semaphore, &operation, 1);
}
static void *work(void *argument) {
    change(-1);
#line 100
    guarded++;
    change(1);
    if (argument) {
#line 200
        open_to_all++;
    }
    return argument;
}
int main(void) {
    semaphore = semget(IPC_PRIVATE, 1, 0600);
    semctl(semaphore, 0, SETVAL, 1);
    pthread_t first, second;
    pthread_create(&first, 0, work, ARGUMENT);
    pthread_create(&second, 0, work, ARGUMENT);
    pthread_join(first, 0);
    pthread_join(second, 0);
    semctl(semaphore, 0, IPC_RMID);
    return 0;
}
";

fn hunt(argument: &str) -> Hunted {
    let workshop = Workshop::new();
    let source = workshop.write("program.c", SEMAPHORE);
    workshop.hunt(&source, &["--runs", "40", "--cflags", &format!("-DARGUMENT={argument}")])
}

/// The lines of races that count.
fn confirmed(hunted: &Hunted) -> Vec<u32> {
    let races = hunted.findings.iter().filter(|finding| finding.confirmed && finding.kind == "data-race");
    let mut lines: Vec<u32> = races.flat_map(|race| race.sites.iter().map(|site| site.line)).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

#[test]
fn what_an_unknown_lock_protects_is_no_race() {
    let hunted = hunt("0");
    assert_eq!(confirmed(&hunted), [0_u32; 0], "{:?}", hunted.overview());
    assert!(!hunted.summary().complete);
}

#[test]
fn what_it_does_not_protect_is_one() {
    let hunted = hunt("&semaphore").expect(1);
    assert_eq!(confirmed(&hunted), [200], "{:?}", hunted.overview());
}
