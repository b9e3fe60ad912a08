//~ about: three threads, each of which waits for the one before by a semaphore
//~ truth: clean
#include <pthread.h>
#include <semaphore.h>
static sem_t s1, s2;
static int data;
static void *one(void *arg) { data = 1; sem_post(&s1); return arg; }
static void *two(void *arg) { sem_wait(&s1); data++; sem_post(&s2); return arg; }
static void *three(void *arg) { sem_wait(&s2); data++; return arg; }
int main(void)
{
    pthread_t a, b, c;
    sem_init(&s1, 0, 0);
    sem_init(&s2, 0, 0);
    pthread_create(&c, 0, three, 0);
    pthread_create(&b, 0, two, 0);
    pthread_create(&a, 0, one, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return data != 3;
}
