//~ about: foreign code starts threads that run foreign code
//~ with: foreign/by_pointer.c gcc-shared
//~ truth: assertion race
//~ want: no-claim
#include <assert.h>
#include <pthread.h>
int start(pthread_t *t);
int own_value(void);
int main(void)
{
    pthread_t a, b;
    start(&a);
    start(&b);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(own_value() == 2);
    return 0;
}
