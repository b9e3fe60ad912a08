//~ about: blocks go from thread to thread through a list under a lock, and are used without
//~ truth: clean
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
struct block {
    struct block *next;
    int value;
};
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct block *free_list;
static struct block *take(void)
{
    pthread_mutex_lock(&m);
    struct block *b = free_list;
    if (b)
        free_list = b->next;
    pthread_mutex_unlock(&m);
    return b ? b : malloc(sizeof *b);
}
static void give(struct block *b)
{
    pthread_mutex_lock(&m);
    b->next = free_list;
    free_list = b;
    pthread_mutex_unlock(&m);
}
static void *work(void *arg)
{
    for (int i = 0; i < 2; i++) {
        struct block *b = take();
        b->value = i;
        assert(b->value == i);
        give(b);
    }
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
