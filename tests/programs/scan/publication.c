// verdict: race C
#include <pthread.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
} *list;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *work(void *argument) {
    struct node *node = malloc(sizeof *node);
    
    pthread_mutex_lock(&lock);
    node->next = list;
    list = node;
    for (struct node *at = list; at; at = at->next)
        at->value++;
    pthread_mutex_unlock(&lock);
    node->value = 5;
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
