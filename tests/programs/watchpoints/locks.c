/*
 * A counter under a lock of a kind that no detector knows: which one is chosen by a macro. With RACY there is a second counter,
 * which nothing protects.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <unistd.h>

static int guarded, open_to_all;

#if defined(ASSEMBLER)
static int word;
static void begin(void) {}
static void end(void) {}
static void lock(void) {
    int taken;
    do {
        taken = 1;
        __asm__ volatile("xchgl %0, %1" : "+r"(taken), "+m"(word) : : "memory");
    } while (taken);
}
static void unlock(void) {
    __asm__ volatile("movl $0, %0" : "=m"(word) : : "memory");
}
#elif defined(FUTEX)
static int word;
static void begin(void) {}
static void end(void) {}
static void futex(long operation, long value) {
    long result;
    register long timeout __asm__("r10") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_futex), "D"(&word), "S"(operation), "d"(value), "r"(timeout)
                     : "rcx", "r11", "memory");
}
static void lock(void) {
    for (;;) {
        int taken = 1;
        __asm__ volatile("xchgl %0, %1" : "+r"(taken), "+m"(word) : : "memory");
        if (!taken)
            return;
        futex(0, 1);
    }
}
static void unlock(void) {
    __asm__ volatile("movl $0, %0" : "=m"(word) : : "memory");
    futex(1, 1);
}
#elif defined(FILE_LOCK)
static void begin(void) { unlink("lock"); }
static void end(void) {}
static void lock(void) {
    int file;
    while ((file = open("lock", O_CREAT | O_EXCL | O_RDWR, 0600)) < 0)
        sched_yield();
    close(file);
}
static void unlock(void) { unlink("lock"); }
#elif defined(SEMAPHORE)
static int semaphore;
static void begin(void) {
    semaphore = semget(IPC_PRIVATE, 1, 0600);
    semctl(semaphore, 0, SETVAL, 1);
}
static void end(void) { semctl(semaphore, 0, IPC_RMID); }
static void change(short by) {
    struct sembuf operation = {0, by, 0};
#ifdef TIMED
    struct timespec second = {5, 0};
    if (semtimedop(semaphore, &operation, 1, &second))
        abort();
#else
    if (semop(semaphore, &operation, 1))
        abort();
#endif
}
static void lock(void) { change(-1); }
static void unlock(void) { change(1); }
#elif defined(MESSAGES)
static int queue;
struct token {
    long kind;
    char text[1];
};
static void unlock(void) {
    struct token token = {1, {0}};
    if (msgsnd(queue, &token, 1, 0))
        abort();
}
static void begin(void) {
    queue = msgget(IPC_PRIVATE, 0600);
    unlock();
}
static void end(void) { msgctl(queue, IPC_RMID, 0); }
static void lock(void) {
    struct token token;
    if (msgrcv(queue, &token, 1, 0, 0) < 0)
        abort();
}
#elif defined(POSIX_MESSAGES)
static mqd_t queue;
static void unlock(void) {
    if (mq_send(queue, "", 1, 0))
        abort();
}
static void begin(void) {
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 1};
    char name[64];
    sprintf(name, "/racehunter-%d", (int)getpid());
    mq_unlink(name);
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
    if (queue == (mqd_t)-1)
        abort();
    mq_unlink(name);
    unlock();
}
static void end(void) { mq_close(queue); }
static void lock(void) {
    char token;
    if (mq_receive(queue, &token, 1, 0) < 0)
        abort();
}
#else
static int ends[2];
static void unlock(void) {
    if (write(ends[1], "", 1) != 1)
        abort();
}
static void begin(void) {
    if (pipe(ends))
        abort();
    unlock();
}
static void end(void) {}
static void lock(void) {
    char token;
    if (read(ends[0], &token, 1) != 1)
        abort();
}
#endif

static void *work(void *argument) {
    lock();
#line 100
    guarded++;
    unlock();
#ifdef RACY
#line 200
    open_to_all++;
#endif
    return argument;
}

int main(void) {
    begin();
    pthread_t first, second;
    pthread_create(&first, 0, work, 0);
    pthread_create(&second, 0, work, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    end();
    return guarded != 2;
}
