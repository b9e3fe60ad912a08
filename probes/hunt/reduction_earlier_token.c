//~ about: a thread that waits for a semaphore could have taken an earlier token than it did
//~ revisions: bug fixed
//~[bug] truth: deadlock
//~[fixed] truth: clean
//~ options: --analysis dfs --reduction=dynamic
#include <pthread.h>
#include <semaphore.h>
static sem_t tokens;
static void *takes(void *unused) {
    sem_wait(&tokens);
    return unused;
}
static void *gives(void *unused) {
    sem_post(&tokens);
#ifdef FIXED
    sem_trywait(&tokens);
#else
    sem_wait(&tokens);
#endif
    sem_post(&tokens);
    return unused;
}
int main(void) {
    pthread_t a, b;
    sem_init(&tokens, 0, 0);
    pthread_create(&a, NULL, takes, NULL);
    pthread_create(&b, NULL, gives, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
