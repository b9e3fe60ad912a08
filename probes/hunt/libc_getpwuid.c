//~ about: getpwuid has one result for all threads
//~ truth: assertion race
#include <assert.h>
#include <pthread.h>
#include <pwd.h>
static void *look(void *arg)
{
    struct passwd *p = getpwuid((uid_t)(long)arg);
    assert(!p || p->pw_uid == (uid_t)(long)arg);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, look, (void *)0);
    pthread_create(&b, 0, look, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
