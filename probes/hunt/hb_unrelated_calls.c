//~ about: calls that touch the same tables of the kernel, and still order nothing: what the flag publishes is not ordered
//~ revisions: plain directories working mask datagrams fixed
//~[plain] truth: race
//~[plain] want: found
//~[directories] truth: race
//~[directories] want: found
//~[working] truth: race
//~[working] want: found
//~[mask] truth: race
//~[mask] want: found
//~[datagrams] truth: race
//~[datagrams] want: found
//~[fixed] truth: clean
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
static int value, sockets[2];
static atomic_int flag;
static struct sockaddr_in addresses[2];
static void first(void) {
#if defined(DIRECTORIES)
    mkdir("made.by.first", 0700);
#elif defined(WORKING)
    (void)!chdir("/");
#elif defined(MASK)
    umask(022);
#elif defined(DATAGRAMS)
    sendto(sockets[0], "x", 1, 0, (struct sockaddr *)&addresses[0], sizeof addresses[0]);
#endif
}
static void second(void) {
    struct stat status;
    (void)status;
#if defined(DIRECTORIES)
    stat("/etc/passwd", &status);
#elif defined(WORKING) || defined(MASK)
    close(open("/etc/passwd", O_RDONLY));
#elif defined(DATAGRAMS)
    char byte;
    sendto(sockets[1], "x", 1, 0, (struct sockaddr *)&addresses[1], sizeof addresses[1]);
    (void)!recv(sockets[1], &byte, 1, 0);
#endif
}
static void *publishes(void *unused) {
    value = 1; //~ bug
    first();
#ifdef FIXED
    atomic_store(&flag, 1);
#else
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
#endif
    return unused;
}
int main(void) {
    pthread_t a;
    for (int i = 0; i < 2; i++) {
        addresses[i].sin_family = AF_INET;
        addresses[i].sin_port = htons((unsigned short)(45702 + i));
        addresses[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        sockets[i] = socket(AF_INET, SOCK_DGRAM, 0);
        if (bind(sockets[i], (struct sockaddr *)&addresses[i], sizeof addresses[i]))
            return 0;
    }
    pthread_create(&a, NULL, publishes, NULL);
#ifdef FIXED
    int seen = atomic_load(&flag);
#else
    int seen = atomic_load_explicit(&flag, memory_order_relaxed);
#endif
    if (seen) {
        second();
        value = 2; //~ bug
    }
    pthread_join(a, NULL);
}
