//~ about: a function with the name of an atomic one of verification tasks, which nothing makes atomic in this program
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void __VERIFIER_atomic_add(void)
{
#ifdef FIXED
    pthread_mutex_lock(&m);
#endif
    x++;
#ifdef FIXED
    pthread_mutex_unlock(&m);
#endif
}
static void *one(void *p)
{
    __VERIFIER_atomic_add();
    return p;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, one, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return (int)sizeof m == 0;
}
