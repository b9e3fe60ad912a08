//~ about: foreign code changes a variable of ours, through a pointer
//~ revisions: object shared assembler
//~[object] with: foreign/by_pointer.c gcc-object
//~[shared] with: foreign/by_pointer.c gcc-shared
//~[assembler] with: foreign/bump.s gcc-object
//~ truth: assertion race
//~ want: no-claim
#include <assert.h>
#include <pthread.h>
#ifdef ASSEMBLER
void bump(int *p);
#define add_to bump
#else
void add_to(int *p);
#endif
static int n;
static void *add(void *arg)
{
    add_to(&n);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(n == 2);
    return 0;
}
