//~ about: a stack without locks, whose nodes are freed by who pops them
//~ revisions: frees keeps
//~[frees] truth: use-after-free race
//~[keeps] truth: clean
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct node {
    struct node *next;
};
static _Atomic(struct node *) top;
static void *pop(void *arg)
{
    struct node *first = top;
    while (first && !atomic_compare_exchange_strong(&top, &first, first->next))
        ;
#ifdef FREES
    free(first);
#endif
    return arg;
}
int main(void)
{
    pthread_t a, b;
    for (int i = 0; i < 2; i++) {
        struct node *node = malloc(sizeof *node);
        node->next = top;
        top = node;
    }
    pthread_create(&a, 0, pop, 0);
    pthread_create(&b, 0, pop, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
