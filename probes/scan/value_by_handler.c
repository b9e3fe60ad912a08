//~ about: a variable that a signal handler may set
//~ truth: race
#include <pthread.h>
#include <signal.h>
static volatile sig_atomic_t hit;
static int n;
static void handler(int s) { hit = 1; }
static void *work(void *arg) { n++; return arg; }
int main(void)
{
    signal(SIGUSR1, handler);
    if (hit) {
        pthread_t a, b;
        pthread_create(&a, 0, work, 0);
        pthread_create(&b, 0, work, 0);
        pthread_join(a, 0);
        pthread_join(b, 0);
    }
    return 0;
}
