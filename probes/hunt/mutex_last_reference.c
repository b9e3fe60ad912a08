//~ about: the last one to drop a reference frees the object, mutex included
//~ revisions: bug fixed
//~[bug] truth: use-after-free race double-free misuse
//~[fixed] truth: clean
#include <pthread.h>
#include <stdlib.h>
struct object {
    pthread_mutex_t m;
    int references;
};
static void *drop(void *p)
{
    struct object *o = p;
    pthread_mutex_lock(&o->m);
    int left = --o->references;
    pthread_mutex_unlock(&o->m);
#ifdef BUG
    if (o->references == 0) {
        (void)left;
#else
    if (left == 0) {
#endif
        pthread_mutex_destroy(&o->m);
        free(o);
    }
    return 0;
}
int main(void)
{
    pthread_t a, b;
    struct object *o = malloc(sizeof *o);
    pthread_mutex_init(&o->m, 0);
    o->references = 2;
    pthread_create(&a, 0, drop, o);
    pthread_create(&b, 0, drop, o);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
