//! The wrappers as compilers of real build systems, and objects from other compilers.
//!
//! The projects are generated: a library with a race, and a program that calls it from two threads. The build must work
//! as with any compiler, and the hunt must name the line in the library.

use racehunter_e2e::{Hunted, Workshop, racehunter, run};
use std::path::Path;
use std::process::Command;

/// The library.
const COUNTER: &str = r"
int count;

void add(void) {
    count++;
}
";
/// The line with the race.
const BUG: u32 = 5;

/// A program that uses it, valid in C and in C++.
const MAIN: &str = r#"
#include <pthread.h>
#include <stdio.h>
#ifdef __cplusplus
extern "C"
#endif
void add(void);

static void *work(void *unused) {
    add();
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    puts("done");
    return 0;
}
"#;

fn project() -> Workshop {
    let workshop = Workshop::new();
    workshop.write("counter.c", COUNTER);
    workshop.write("main.c", MAIN);
    workshop.write("main.cpp", MAIN);
    workshop
}

/// Hunts the program, and expects the race at its line in the library.
#[track_caller]
fn expect_race(workshop: &Workshop, program: &str) {
    let hunted = workshop.hunt(&workshop.path(program), &["--runs", "50"]).expect(1);
    expect_race_in(&hunted);
}

#[track_caller]
fn expect_race_in(hunted: &Hunted) {
    let Some(finding) = hunted.at("data-race", "counter.c", BUG) else {
        panic!("no race at counter.c:{BUG}, but {:#?}", hunted.overview());
    };
    assert!(finding.confirmed, "{finding:#?}");
    assert!(finding.sites.iter().all(|site| site.function == "add"), "{finding:#?}");
}

#[test]
fn make_with_a_shared_library() {
    let workshop = project();
    workshop.write(
        "Makefile",
        "CFLAGS = -O2 -Wall -Werror\n\
         program: main.o libcounter.so\n\
         \t$(CC) $^ -o $@ -pthread -Wl,-rpath,$(CURDIR)\n\
         libcounter.so: counter.c\n\
         \t$(CC) $(CFLAGS) -shared -fPIC -Wl,-z,defs $< -o $@\n",
    );
    workshop.shell("make CC=racehunter-cc");
    let native = workshop.shell("./program");
    assert_eq!(native.stdout, "done\n", "the program behaves differently without RaceHunter");
    expect_race(&workshop, "program");
}

#[test]
fn make_with_an_archive_dependencies_and_a_response_file() {
    let workshop = project();
    workshop.write("objects.rsp", "main.o libcounter.a\n-pthread -o \"program\"\n");
    workshop.write(
        "Makefile",
        "program: main.o libcounter.a\n\
         \t$(CC) @objects.rsp\n\
         libcounter.a: counter.o\n\
         \tar rcs $@ $^\n\
         %.o: %.c\n\
         \t$(CC) -O0 -MMD -MP -c $< -o $@\n",
    );
    workshop.shell(r#"make CC="racehunter cc""#);
    let dependencies = workshop.shell("cat main.d").stdout;
    assert!(dependencies.starts_with("main.o: main.c"), "{dependencies}");
    expect_race(&workshop, "program");
}

#[test]
fn several_sources_are_compiled_at_once() {
    let workshop = project();
    workshop.shell("racehunter-cc -O1 -pthread main.c counter.c -o program");
    expect_race(&workshop, "program");
}

/// The list of symbols that the runtime exports has only such as can be exported.
#[test]
fn another_linker_has_nothing_to_warn_of() {
    let workshop = project();
    let ended = workshop.shell("racehunter cc -g -pthread -fuse-ld=gold main.c counter.c -o program 2>&1");
    assert_eq!(ended.stdout, "");
    expect_race(&workshop, "program");
}

#[test]
fn link_time_optimisation_keeps_the_race() {
    let workshop = project();
    workshop.shell(
        "racehunter-cc -O2 -flto -c main.c && racehunter-cc -O2 -flto -c counter.c
         racehunter-cc -O2 -flto -pthread main.o counter.o -o program",
    );
    expect_race(&workshop, "program");
}

#[test]
fn a_race_in_a_library_loaded_later_is_found() {
    let workshop = project();
    workshop.write(
        "loader.c",
        r#"
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static void *work(void *add) {
    ((void (*)(void))add)();
    return NULL;
}

int main(void) {
    void *library = dlopen(getenv("LIBRARY"), RTLD_NOW);
    if (library == NULL)
        return 1;
    void *add = dlsym(library, "add");
    pthread_t first, second;
    pthread_create(&first, NULL, work, add);
    pthread_create(&second, NULL, work, add);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
"#,
    );
    workshop.shell(
        "racehunter-cc -O1 -shared -fPIC counter.c -o libcounter.so
         racehunter-cc -O1 -pthread loader.c -o program -ldl",
    );
    let library = workshop.path("libcounter.so");
    let mut command = workshop.hunt_command(&workshop.path("program"), &["--runs", "50"]);
    let hunted = Hunted::new(run(command.env("LIBRARY", library))).expect(1);
    let race = hunted.findings.iter().find(|finding| finding.kind == "data-race" && finding.confirmed);
    let race = race.unwrap_or_else(|| panic!("{hunted:#?}"));
    assert!(race.sites.iter().all(|site| site.file.ends_with("counter.c") && site.line > 0), "{race:#?}");
}

const CMAKE: &str = "
cmake_minimum_required(VERSION 3.16)
project(counting C CXX)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
add_library(shared_counter SHARED counter.c)
add_library(static_counter STATIC counter.c)
add_executable(with_shared main.cpp)
target_link_libraries(with_shared shared_counter Threads::Threads)
add_executable(with_static main.c)
target_link_libraries(with_static static_counter Threads::Threads)
";

#[test]
fn cmake_with_the_single_names() {
    let workshop = project();
    workshop.write("CMakeLists.txt", CMAKE);
    workshop.shell("CC=racehunter-cc CXX=racehunter-c++ cmake -S . -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo");
    workshop.shell("cmake --build build");
    expect_race(&workshop, "build/with_shared");
    expect_race(&workshop, "build/with_static");
}

#[test]
fn cmake_with_the_commands() {
    let workshop = project();
    workshop.write("CMakeLists.txt", CMAKE);
    workshop.shell(r#"CC="racehunter cc" CXX="racehunter c++" cmake -S . -B build"#);
    workshop.shell("cmake --build build");
    expect_race(&workshop, "build/with_static");
}

#[test]
fn autotools() {
    let workshop = project();
    workshop.write(
        "configure.ac",
        "AC_INIT([counting], [1.0])\n\
         AM_INIT_AUTOMAKE([foreign subdir-objects])\n\
         AC_PROG_CC\n\
         AC_PROG_RANLIB\n\
         AM_PROG_AR\n\
         AC_CHECK_HEADERS([pthread.h])\n\
         AC_SEARCH_LIBS([pthread_create], [pthread], [], [AC_MSG_ERROR([no threads])])\n\
         AC_CONFIG_FILES([Makefile])\n\
         AC_OUTPUT\n",
    );
    workshop.write(
        "Makefile.am",
        "noinst_LIBRARIES = libcounter.a\n\
         libcounter_a_SOURCES = counter.c\n\
         bin_PROGRAMS = program\n\
         program_SOURCES = main.c\n\
         program_LDADD = libcounter.a\n",
    );
    workshop.shell("autoreconf --install");
    workshop.shell("mkdir build && cd build && ../configure CC=racehunter-cc && make");
    expect_race(&workshop, "build/program");
}

/// Objects with ThreadSanitizer's calls: the runtime knows them only by their code addresses.
#[track_caller]
fn expect_race_in_objects_of(compiler: &str) {
    let workshop = project();
    workshop.shell(&format!(
        "{compiler} -g -O1 -fsanitize=thread -c counter.c
         {compiler} -g -O1 -fsanitize=thread -c main.c
         racehunter-cc -pthread main.o counter.o -o program",
    ));
    expect_race(&workshop, "program");
}

#[test]
fn a_race_in_objects_of_gcc_is_found() {
    expect_race_in_objects_of("gcc");
}

#[test]
fn a_race_in_objects_of_clang_is_found() {
    let newest = ["clang-22", "clang-19"].into_iter().find(|name| Path::new("/usr/bin").join(name).exists());
    expect_race_in_objects_of(newest.expect("a supported clang is installed"));
}

#[test]
fn objects_of_both_compilers_can_be_mixed() {
    let workshop = project();
    workshop.shell(
        "gcc -g -O1 -fsanitize=thread -c counter.c && racehunter-cc -O1 -c main.c
         racehunter-cc -pthread main.o counter.o -o program",
    );
    expect_race(&workshop, "program");
}

#[test]
fn wrappers_answer_the_queries_of_build_systems() {
    let workshop = project();
    let asked = workshop.shell("racehunter-cc --version; racehunter-cc -dumpmachine; racehunter-cc -E main.c");
    assert!(asked.stdout.contains("clang") && asked.stdout.contains("pthread_create"), "{}", asked.stdout);
    workshop.shell("echo 'int one;' | racehunter-cc -x c -c - -o one.o && test -s one.o");
    workshop.shell("racehunter-cc -S -O1 counter.c -o counter.s && grep -q __rh_ counter.s");
    let failed = workshop.cc(["-c", "nowhere.c"]);
    assert_ne!(failed.status, Some(0));
    failed.says("nowhere.c");
}

/// Explores correct uses of the C++ library, and expects no finding.
#[track_caller]
fn expect_clean(standard: &str, source: &str) {
    let workshop = Workshop::new();
    let source = workshop.write("feature.cpp", source);
    let cflags = format!("-std={standard}");
    let options = ["--cflags", &cflags, "--analysis", "context-bound", "--bound", "1", "--runs", "300"];
    let hunted = workshop.hunt(&source, &options);
    assert!(hunted.findings.is_empty(), "a correct program has findings: {:#?}", hunted.overview());
    let hunted = hunted.expect(0);
    let summary = hunted.summary();
    assert!(summary.threads > 1 && summary.diverged + summary.timed_out == 0, "{summary:?}");
    let missed = summary.missed.iter().any(|line| line.contains("control") || line.contains("killed"));
    assert!(!missed, "something was not under control: {:?}", summary.missed);
}

#[test]
fn correct_futures_and_exceptions_are_clean() {
    expect_clean(
        "c++17",
        r#"
#include <cassert>
#include <future>
#include <stdexcept>
#include <string>

int main() {
    auto sum = std::async(std::launch::async, [] { return 40 + 2; });
    auto lazy = std::async(std::launch::deferred, [] { return 1; });
    std::promise<std::string> promise;
    std::future<std::string> text = promise.get_future();
    std::thread writer([&promise] { promise.set_value("done"); });
    std::packaged_task<int()> task([]() -> int { throw std::runtime_error("no"); });
    std::future<int> failed = task.get_future();
    std::thread runner(std::move(task));
    bool caught = false;
    try {
        failed.get();
    } catch (const std::runtime_error &error) {
        caught = std::string("no") == error.what();
    }
    assert(caught && sum.get() == 42 && lazy.get() == 1 && text.get() == "done");
    writer.join();
    runner.join();
}
"#,
    );
}

#[test]
fn correct_locks_and_conditions_are_clean() {
    expect_clean(
        "c++17",
        r"
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::mutex lock;
static std::recursive_mutex again;
static std::timed_mutex timed;
static std::shared_mutex shared;
static std::condition_variable changed;
static std::once_flag once;
static int value, made;

static void work() {
    std::call_once(once, [] { made++; });
    {
        std::scoped_lock both(lock, again);
        std::lock_guard<std::recursive_mutex> inner(again);
        value++;
    }
    changed.notify_all();
    {
        std::unique_lock<std::shared_mutex> writer(shared);
    }
    std::shared_lock<std::shared_mutex> reader(shared);
    std::unique_lock<std::timed_mutex> soon(timed, std::chrono::seconds(1));
}

int main() {
    std::thread first(work), second(work);
    {
        std::unique_lock<std::mutex> hold(lock);
        changed.wait(hold, [] { return value == 2; });
        changed.wait_for(hold, std::chrono::milliseconds(1));
    }
    first.join();
    second.join();
    assert(made == 1);
}
",
    );
}

#[test]
fn correct_atomics_and_thread_local_objects_are_clean() {
    expect_clean(
        "c++17",
        r"
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>

static std::atomic<int> destroyed, sum;
static std::atomic_flag taken = ATOMIC_FLAG_INIT;
static std::atomic<int *> published;
static int payload;

struct Local {
    int count = 0;
    ~Local() { destroyed += count; }
};
static thread_local Local local;

static void work(std::shared_ptr<int> number) {
    local.count += *number;
    while (taken.test_and_set(std::memory_order_acquire))
        std::this_thread::yield();
    taken.clear(std::memory_order_release);
    int expected = 0;
    sum.compare_exchange_strong(expected, 1);
    if (int *seen = published.load(std::memory_order_acquire))
        assert(*seen == 7);
}

int main() {
    auto number = std::make_shared<int>(3);
    std::thread first(work, number), second(work, number);
    payload = 7;
    published.store(&payload, std::memory_order_release);
    first.join();
    second.join();
    assert(destroyed == 6 && sum == 1);
}
",
    );
}

#[test]
fn correct_exceptions_in_several_threads_are_clean() {
    expect_clean(
        "c++17",
        r#"
#include <cassert>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

static std::mutex lock;
static std::exception_ptr carried;
static int unwound;

struct Guard {
    ~Guard() {
        std::lock_guard<std::mutex> hold(lock);
        unwound++;
    }
};

static void deep(int depth) {
    Guard guard;
    if (depth == 0)
        throw std::logic_error("deep");
    deep(depth - 1);
}

static void work() {
    try {
        deep(2);
    } catch (...) {
        std::lock_guard<std::mutex> hold(lock);
        carried = std::current_exception();
    }
}

int main() {
    std::thread first(work), second(work);
    first.join();
    second.join();
    bool caught = false;
    try {
        std::rethrow_exception(carried);
    } catch (const std::logic_error &) {
        caught = true;
    }
    assert(caught && unwound == 6);
}
"#,
    );
}

#[test]
fn correct_concurrency_of_cxx20_is_clean() {
    expect_clean(
        "c++20",
        r"
#include <atomic>
#include <barrier>
#include <cassert>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <semaphore>
#include <stop_token>
#include <thread>

static std::latch ready(2);
static std::barrier rounds(2);
static std::counting_semaphore<2> room(1);
static std::atomic<int> word;
static std::mutex lock;
static std::condition_variable_any changed;
static int inside;

static void work(std::stop_token stop) {
    ready.count_down();
    rounds.arrive_and_wait();
    room.acquire();
    inside++;
    room.release();
    word = 1;
    word.notify_one();
    std::unique_lock<std::mutex> hold(lock);
    changed.wait(hold, stop, [] { return false; });
    assert(stop.stop_requested());
}

int main() {
    {
        std::jthread first(work), second(work);
        ready.wait();
        word.wait(0);
    }
    assert(inside == 2);
}
",
    );
}

/// Without optimisation, an uninitialised variable has some fixed value: the creating thread waits for it.
#[test]
fn a_variable_without_a_value_does_not_change() {
    let workshop = Workshop::new();
    workshop.write(
        "maybe.c",
        r"
#include <pthread.h>

static int done;

static void *work(void *unused) {
    done = 1;
    return unused;
}

int main(void) {
    int has_worker;
    pthread_t worker;
    if (has_worker)
        pthread_create(&worker, NULL, work, NULL);
    if (has_worker)
        pthread_join(worker, NULL);
    if (!has_worker)
        work(NULL);
    return done != 1;
}
",
    );
    workshop.cc(["-g", "-O0", "-w", "-pthread", "maybe.c", "-o", "maybe"]).expect(0);
    let ended = workshop.run(&mut Command::new(workshop.path("maybe")));
    assert_eq!(ended.status, Some(0), "it created the thread and did not wait, or did not create it and did not work");
}

#[test]
fn the_runtime_uses_its_own_byte_functions() {
    let workshop = Workshop::new();
    let program = workshop.path("bytes");
    let source = workshop.write("bytes.c", include_str!("programs/bytes.c"));
    run(racehunter(["cc", "-O1"]).arg(source).arg("-o").arg(&program)).expect(0);
    assert_eq!(workshop.run(&mut Command::new(&program)).expect(0).stdout, "the same\n");
}
