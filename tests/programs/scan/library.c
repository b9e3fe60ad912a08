// verdict: race C
// Library functions write results of two threads to the same memory.
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>

static struct stat status;

static void *work(void *argument) {
    stat(".", &status);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", (long)status.st_size);
    return 0;
}
