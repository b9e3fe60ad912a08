//~ about: tsearch changes the root that it is given: two insertions at once lose one
//~ revisions: bug fixed
//~[bug] truth: race assertion crash
//~[fixed] truth: clean
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <search.h>
static void *root;
static int keys[2] = {1, 2};
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int cmp(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}
static void *insert(void *key)
{
#ifdef FIXED
    pthread_mutex_lock(&m);
#endif
    tsearch(key, &root, cmp);
#ifdef FIXED
    pthread_mutex_unlock(&m);
#endif
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, insert, &keys[0]);
    pthread_create(&b, 0, insert, &keys[1]);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(tfind(&keys[0], &root, cmp) && tfind(&keys[1], &root, cmp));
    return 0;
}
