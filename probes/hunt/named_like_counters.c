//~ about: variables of the program whose names look like those of profile counters
//~ revisions: profile coverage
//~ truth: race
//~ want: found
#include <pthread.h>
#ifdef PROFILE
long __profc_count;
#define COUNT __profc_count
#else
long __llvm_gcov_ctr;
#define COUNT __llvm_gcov_ctr
#endif
static void *work(void *arg)
{
    COUNT++;
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    return 0;
}
