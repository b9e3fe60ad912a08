//~ about: a thread that holds a mutex prints, and may be cancelled there
//~ revisions: puts printf fprintf perror dprintf fputc fgets fflush
//~ truth: deadlock misuse
//~ must-not: proved
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *prints(void *unused)
{
    char line[4];
    pthread_mutex_lock(&mutex);
#ifdef PUTS
    puts("work");
#elif defined PRINTF
    printf("%d\n", 1);
#elif defined FPRINTF
    fprintf(stderr, "work\n");
#elif defined PERROR
    perror("work");
#elif defined DPRINTF
    dprintf(1, "work\n");
#elif defined FPUTC
    fputc('\n', stderr);
#elif defined FGETS
    fgets(line, sizeof line, stdin);
#elif defined FFLUSH
    fputs("work", stdout);
    fflush(stdout);
#endif
    pthread_mutex_unlock(&mutex);
    return unused;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, prints, NULL);
    pthread_cancel(a);
    pthread_join(a, NULL);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return 0;
}
