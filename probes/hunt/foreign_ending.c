//~ about: a function without instrumentation that runs when the program ends changes what a thread still changes
//~ revisions: destructor registered joined
//~[destructor] with: foreign/ending.c gcc-object
//~[registered] with: foreign/registered.c gcc-object
//~[joined] with: foreign/ending.c gcc-object
//~[destructor] truth: race
//~[destructor] must-not: proved
//~[destructor] want: no-claim
//~[registered] truth: race
//~[registered] must-not: proved
//~[registered] want: no-claim
//~[joined] truth: clean
//~[joined] want: proved
//~ cross: no
#include <pthread.h>
extern int counter;
static void *count(void *arg)
{
    counter++;
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, count, 0);
#ifdef JOINED
    pthread_join(thread, 0);
#else
    pthread_detach(thread);
#endif
    return 0;
}
