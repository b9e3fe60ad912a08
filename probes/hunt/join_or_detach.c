//~ about: a thread detaches itself while another one waits for it
//~ truth: misuse crash use-after-free
#include <pthread.h>
static void *work(void *arg)
{
    pthread_detach(pthread_self());
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return 0;
}
