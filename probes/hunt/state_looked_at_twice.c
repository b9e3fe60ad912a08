//~ about: state of the kernel or the C library is read twice, and another thread changes it in between
//~ revisions: value flags option name action timer concurrency pages open semaphore key fixed
//~[value] truth: assertion
//~[value] want: found
//~[flags] truth: assertion
//~[flags] want: found
//~[option] truth: assertion
//~[option] want: found
//~[name] truth: assertion
//~[name] want: found
//~[action] truth: assertion
//~[action] want: found
//~[timer] truth: assertion
//~[concurrency] truth: assertion
//~[concurrency] want: found
//~[pages] truth: assertion
//~[pages] want: found
//~[open] truth: assertion
//~[open] want: found
//~[semaphore] truth: assertion
//~[semaphore] want: found
//~[key] truth: assertion
//~[fixed] truth: clean
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
static sem_t semaphore;
static int ends[2], connection;
static void *page;
static pthread_key_t key;
static struct sockaddr_in address;
static void start(void) {
    sem_init(&semaphore, 0, 0);
    assert(pipe(ends) == 0);
    connection = socket(AF_INET, SOCK_DGRAM, 0);
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_key_create(&key, NULL);
    address.sin_family = AF_INET;
    address.sin_port = htons(45701);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sem_unlink("/racehunter.probe");
}
static int look(void) {
#if defined(VALUE)
    int value;
    sem_getvalue(&semaphore, &value);
    return value;
#elif defined(FLAGS)
    return fcntl(ends[0], F_GETFL);
#elif defined(OPTION)
    int value = 0;
    socklen_t size = sizeof value;
    getsockopt(connection, SOL_SOCKET, SO_BROADCAST, &value, &size);
    return value;
#elif defined(NAME)
    struct sockaddr_in found;
    socklen_t size = sizeof found;
    getsockname(connection, (struct sockaddr *)&found, &size);
    return found.sin_port;
#elif defined(ACTION)
    struct sigaction found;
    sigaction(SIGUSR1, NULL, &found);
    return found.sa_handler == SIG_IGN;
#elif defined(TIMER)
    struct itimerval found;
    getitimer(ITIMER_REAL, &found);
    return found.it_value.tv_sec > 0;
#elif defined(CONCURRENCY)
    return pthread_getconcurrency();
#elif defined(PAGES)
    unsigned char in_memory;
    return mincore(page, 4096, &in_memory);
#elif defined(OPEN)
    return isatty(ends[0]) + (fcntl(ends[0], F_GETFD) >= 0);
#elif defined(SEMAPHORE)
    return sem_open("/racehunter.probe", 0) != SEM_FAILED;
#elif defined(KEY)
    return pthread_setspecific(key, page);
#else
    return 0;
#endif
}
static void change(void) {
#if defined(VALUE)
    sem_post(&semaphore);
#elif defined(FLAGS)
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
#elif defined(OPTION)
    int value = 1;
    setsockopt(connection, SOL_SOCKET, SO_BROADCAST, &value, sizeof value);
#elif defined(NAME)
    bind(connection, (struct sockaddr *)&address, sizeof address);
#elif defined(ACTION)
    signal(SIGUSR1, SIG_IGN);
#elif defined(TIMER)
    struct itimerval timer = {.it_value = {.tv_sec = 1000}};
    setitimer(ITIMER_REAL, &timer, NULL);
#elif defined(CONCURRENCY)
    pthread_setconcurrency(3);
#elif defined(PAGES)
    munmap(page, 4096);
#elif defined(OPEN)
    close(ends[0]);
#elif defined(SEMAPHORE)
    sem_open("/racehunter.probe", O_CREAT, 0600, 0);
#elif defined(KEY)
    pthread_key_delete(key);
#endif
}
static void *changes(void *unused) {
    change();
    return unused;
}
int main(void) {
    pthread_t a;
    start();
    pthread_create(&a, NULL, changes, NULL);
    int before = look();
    assert(look() == before);
    pthread_join(a, NULL);
}
