/*
 * racehunter.h: many executions of one test in one process, and blocks that are meant to be atomic.
 *
 * RaceHunter runs unmodified programs; each execution is then a process of its own. A test that is short can be run
 * far more often when the program calls it in a loop, and this header is how the loop talks to RaceHunter. There are
 * two forms, which do the same. Either hand over the test:
 *
 *     static void reset(void) { n = 0; }           // what the last execution left behind
 *     static void test(void) { ... }               // makes threads, waits for them, returns
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
 * What a test must keep to: when it returns, every thread that it made has ended and every lock is free; `reset` (or
 * whatever stands before OnStart) brings back every variable that the test changes; and nothing but the schedule
 * differs from one turn to the next. `reset` itself is not explored.
 *
 * A program built with an ordinary compiler, without RaceHunter's runtime, runs the body of the loop exactly once. So
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
 * of the block in such a way that no order of whole blocks explains it. Marks are per thread, may be nested (the outermost
 * counts), and cost nothing to speak of. They change nothing about what is explored.
 *
 * RaceHunter has to recognise a thread in another execution. By default it goes by who created it, and as which of its
 * children: that is the same in every execution, unless threads are created in an order that varies, or a thread of a pool does
 * whatever work comes next. A thread of such a program can say which one it is, before it touches anything that others do:
 *
 *     racehunter_number_thread(work->id);          // the same for the same work, in every execution; no two threads at a time
 *
 * Threads that it creates from then on are known as its children. See docs/watchpoints.md.
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
 * An execution is over. Returns non-zero if there shall be another one. Provided by the runtime; weak like
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
 * The calling thread has this number in any execution. Provided by the runtime; weak like the others. Call it through
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

/* The calling thread is the one with this number, in this and in any other execution. */
static inline void racehunter_number_thread(unsigned long long id) {
    if (racehunter_thread_id)
        racehunter_thread_id(id);
}

#ifndef RACEHUNTER_NO_SHORT_NAMES

/* Marks the start of one execution in a loop of your own. */
static inline void OnStart(void) {
    if (racehunter_on_start)
        racehunter_on_start();
}

/* Ends one execution in a loop of your own. Non-zero: go round again. */
static inline int OnRestart(void) {
    return racehunter_on_restart ? racehunter_on_restart() : 0;
}

#endif /* RACEHUNTER_NO_SHORT_NAMES */

#endif /* RACEHUNTER_H */
