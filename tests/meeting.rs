//! Programs with unseen synchronisation: a race counts only if both threads were at their accesses at the same time.

use racehunter_e2e::{Hunted, Workshop};

/// A System V semaphore is not modelled: it protects `guarded` without the detector's knowledge.
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

/// Returns the lines of races that count.
fn confirmed(hunted: &Hunted) -> Vec<u32> {
    let races = hunted.findings.iter().filter(|finding| finding.confirmed && finding.kind == "data-race");
    let mut lines: Vec<u32> = races.flat_map(|race| race.sites.iter().map(|site| site.line)).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

#[test]
fn accesses_under_an_unknown_lock_are_not_a_race() {
    let hunted = hunt("0");
    assert_eq!(confirmed(&hunted), [0_u32; 0], "{:?}", hunted.overview());
    assert!(!hunted.summary().complete);
}

#[test]
fn accesses_outside_an_unknown_lock_are_a_race() {
    let hunted = hunt("&semaphore").expect(1);
    assert_eq!(confirmed(&hunted), [200], "{:?}", hunted.overview());
}

/// The library reads a number, unseen, so that threads might be ordered by that. One thread keeps a pointer into a node that the
/// other one frees; without a quarantine, the next node is put where the first one was.
const NODE: &str = "
#include <charconv>
#include <list>
#include <mutex>
#include <thread>
std::mutex mutex;
std::list<long> numbers;
static long *front() {
    std::lock_guard<std::mutex> guard(mutex);
    return &numbers.front();
}
static void replace() {
    std::lock_guard<std::mutex> guard(mutex);
    const char text[] = \"1.5\";
    double value;
    std::from_chars(text, text + 3, value);
#line 200
    numbers.pop_back();
    numbers.push_back(1);
}
int main() {
    numbers.push_back(1);
    std::thread reader([] {
        long *number = front();
#line 100
        return *number - 1;
    });
    std::thread writer(replace);
    reader.join();
    writer.join();
}
";

#[test]
fn memory_used_after_its_end_needs_no_meeting() {
    let workshop = Workshop::new();
    let source = workshop.write("program.cpp", NODE);
    let hunted = workshop.hunt(&source, &["--runs", "200"]).expect(1);
    let kinds: Vec<&str> = hunted.findings.iter().map(|finding| finding.kind.as_str()).collect();
    assert_eq!(kinds, ["use-after-free"], "{:?}", hunted.overview());
    let finding = &hunted.findings[0];
    let sites: Vec<(u32, &str)> = finding.sites.iter().map(|site| (site.line, site.access.as_str())).collect();
    assert_eq!(sites, [(200, "free"), (100, "read")], "{:?}", hunted.overview());
    assert_eq!((finding.confirmed, finding.preemptions), (true, 1));
    let _ = workshop.replay(&finding.id).expect(0);
}
