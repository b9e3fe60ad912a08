/*
 * racehunter.h: many executions of one test in one process, and blocks that are meant to be atomic.
 *
 * RaceHunter runs unmodified programs, with one process per execution. A short test can run far more often if the
 * program calls it in a loop; this header is the loop's interface to RaceHunter. There are two equivalent forms.
 * Either pass the test:
 *
 *     static void reset(void) { n = 0; }           // what the last execution left behind
 *     static void test(void) { ... }               // creates threads, waits for them, returns
 *
 *     int main(void) { return racehunter_loop(test, reset); }
 *
 * or write the loop yourself:
 *
 *     do {
 *         Reset();
 *         OnStart();
 *         test();
 *     } while (OnRestart());
 *
 * A test must follow five rules. The main thread runs the loop, and the program has only one. When the test returns, every
 * thread that it created has ended and every lock is free. `reset` (or the code before OnStart) restores every variable
 * that the test changes. Only the schedule differs from one iteration to the next. A failure shows inside the test. Neither
 * `reset` nor anything else outside of the test is explored.
 *
 * A program built with an ordinary compiler, without RaceHunter's runtime, runs the body of the loop exactly once, so
 * the same source is an ordinary test too.
 *
 * A block of statements that other threads should see as a whole, although it consists of several critical sections or
 * atomic operations, can be marked:
 *
 *     racehunter_begin_block();
 *     old = atomic_load(&n);
 *     atomic_store(&n, old + 1);                   // what others did in between is overwritten
 *     racehunter_end_block();
 *
 * `racehunter record` keeps the marks, and `racehunter predict` says whether an access of another thread can come between two
 * accesses of the block in a way that no order of whole blocks explains. Marks are per thread, may be nested (the outermost
 * counts), and cost almost nothing. They do not affect what is explored.
 *
 * RaceHunter has to recognise a thread in another execution. By default it identifies a thread by its creator and its number
 * among the creator's children. That is the same in every execution, unless threads are created in a varying order, or a pool
 * thread takes whatever work comes next. Such a thread can announce its identity, before it touches anything that others use:
 *
 *     racehunter_number_thread(work->id);          // the same for the same work in every execution; unique among running threads
 *
 * Threads that it creates from then on are identified as its children. See docs/watchpoints.md.
 *
 * The header is for C99 and C++11 or later, with GCC or Clang. Define RACEHUNTER_NO_SHORT_NAMES before including it
 * if OnStart and OnRestart mean something else in your program.
 */
#ifndef RACEHUNTER_H
#define RACEHUNTER_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An execution starts: from here on RaceHunter decides which thread runs. Provided by the runtime; weak, so its address
 * is null in a program that is not linked with it. Call it through OnStart or racehunter_loop.
 */
void racehunter_on_start(void) __attribute__((weak));

/*
 * An execution has ended. Returns non-zero if another one follows. Provided by the runtime; weak like
 * racehunter_on_start. Call it through OnRestart or racehunter_loop.
 */
int racehunter_on_restart(void) __attribute__((weak));

/*
 * A block that is meant to be atomic begins and ends. Provided by the runtime; weak like the others. Call them through
 * racehunter_begin_block and racehunter_end_block.
 */
void racehunter_atomic_begin(void) __attribute__((weak));
void racehunter_atomic_end(void) __attribute__((weak));

/*
 * The calling thread has this number in every execution. Provided by the runtime; weak like the others. Call it through
 * racehunter_number_thread.
 */
void racehunter_thread_id(unsigned long long id) __attribute__((weak));

#ifdef __cplusplus
}
#endif

/*
 * Runs `test` once for every execution that RaceHunter wants, each time after `reset` (which may be null), and returns
 * 0. Without the runtime it runs them once.
 */
static inline int racehunter_loop(void (*test)(void), void (*reset)(void)) {
    do {
        if (reset)
            reset();
        if (racehunter_on_start)
            racehunter_on_start();
        test();
    } while (racehunter_on_restart && racehunter_on_restart());
    return 0;
}

/* The calling thread begins a block that is meant to be atomic. */
static inline void racehunter_begin_block(void) {
    if (racehunter_atomic_begin)
        racehunter_atomic_begin();
}

/* It ends the innermost block that it has begun. */
static inline void racehunter_end_block(void) {
    if (racehunter_atomic_end)
        racehunter_atomic_end();
}

/* The calling thread has this number, in this and in every other execution. */
static inline void racehunter_number_thread(unsigned long long id) {
    if (racehunter_thread_id)
        racehunter_thread_id(id);
}

#ifndef RACEHUNTER_NO_SHORT_NAMES

/* Marks the start of one execution in your own loop. */
static inline void OnStart(void) {
    if (racehunter_on_start)
        racehunter_on_start();
}

/* Ends one execution in your own loop. Non-zero: another iteration follows. */
static inline int OnRestart(void) {
    return racehunter_on_restart ? racehunter_on_restart() : 0;
}

#endif /* RACEHUNTER_NO_SHORT_NAMES */

#endif /* RACEHUNTER_H */
