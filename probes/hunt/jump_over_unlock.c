//~ about: longjmp past the unlock
//~ revisions: bug fixed
//~[bug] truth: deadlock misuse
//~[fixed] truth: clean
#include <pthread.h>
#include <setjmp.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void step(jmp_buf out)
{
    pthread_mutex_lock(&m);
    if (n++ == 1) {
#ifdef FIXED
        pthread_mutex_unlock(&m);
#endif
        longjmp(out, 1);
    }
    pthread_mutex_unlock(&m);
}
static void *work(void *arg)
{
    jmp_buf out;
    if (!setjmp(out))
        step(out);
    return arg;
}
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
