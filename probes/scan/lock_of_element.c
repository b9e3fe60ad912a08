//~ about: the lock of the element that is found, for a counter of the whole list
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdlib.h>
struct node { struct node *next; pthread_mutex_t m; int value; };
static struct node *head;
static int sum;
static void *work(void *arg)
{
    long skip = (long)arg;
    struct node *n = head;
    while (skip-- > 0)
        n = n->next;
    pthread_mutex_lock(&n->m);
    n->value++;
#ifdef BUG
    sum++;
#endif
    pthread_mutex_unlock(&n->m);
    return 0;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) {
        struct node *n = malloc(sizeof *n);
        pthread_mutex_init(&n->m, 0);
        n->value = 0;
        n->next = head;
        head = n;
    }
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
