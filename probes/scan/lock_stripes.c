//~ about: buckets by the remainder of 8, locks by that of 4 (a lock for each bucket) or of 3 (two locks for a bucket)
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdlib.h>
#ifdef BUG
enum { LOCKS = 3 };
#else
enum { LOCKS = 4 };
#endif
static pthread_mutex_t locks[LOCKS];
static int bucket[8];
static void *work(void *arg)
{
    unsigned key = (unsigned)(long)arg;
    pthread_mutex_lock(&locks[key % LOCKS]);
    bucket[key % 8]++;
    pthread_mutex_unlock(&locks[key % LOCKS]);
    return 0;
}
int main(int argc, char **argv)
{
    pthread_t a, b;
    if (argc < 3)
        return 1;
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&locks[i], 0);
    pthread_create(&a, 0, work, (void *)(long)atoi(argv[1]));
    pthread_create(&b, 0, work, (void *)(long)atoi(argv[2]));
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
