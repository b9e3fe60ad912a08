//~ about: a thread's handle, used by another thread that nothing orders before the join or the end of a detached thread
//~ revisions: kill cancel name policy queue detached ordered own waited before_detach
//~ truth: misuse crash
//~[ordered] truth: clean
//~[own] truth: clean
//~[waited] truth: clean
//~[before_detach] truth: clean
//~ want: found
//~[ordered] want: proved
//~[own] want: proved
//~[waited] want: proved
//~[before_detach] want: proved
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
static pthread_t thread;
static sem_t used;
static void *work(void *arg)
{
#if defined OWN
    pthread_setname_np(pthread_self(), "own");
#elif defined WAITED
    sem_wait(&used);
#endif
    return arg;
}
static void use(void)
{
#if defined CANCEL
    pthread_cancel(thread);
#elif defined POLICY
    int policy;
    struct sched_param parameters;
    pthread_getschedparam(thread, &policy, &parameters);
#elif defined QUEUE
    pthread_sigqueue(thread, 0, (union sigval){0});
#elif defined NAME || defined DETACHED || defined BEFORE_DETACH
    pthread_setname_np(thread, "name");
#elif !defined OWN
    pthread_kill(thread, 0);
#endif
}
static void *other(void *arg)
{
    use();
    sem_post(&used);
    return arg;
}
int main(void)
{
    pthread_t user;
    sem_init(&used, 0, 0);
    pthread_create(&thread, NULL, work, NULL);
#if defined DETACHED
    pthread_detach(thread);
    use();
#elif defined BEFORE_DETACH
    use();
    pthread_detach(thread);
#else
    pthread_create(&user, NULL, other, NULL);
#if defined ORDERED
    pthread_join(user, NULL);
    pthread_join(thread, NULL);
#else
    pthread_join(thread, NULL);
    pthread_join(user, NULL);
#endif
#endif
    return 0;
}
