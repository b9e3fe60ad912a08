//~ about: a global pool joins its thread when it is destroyed: before, or after, the counter that the thread uses
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <pthread.h>
struct Counter {
    int count;
    constexpr Counter() : count(0) {}
    ~Counter() { count = -1; }
};
struct Pool {
    pthread_t thread;
    Pool();
    ~Pool() { pthread_join(thread, nullptr); }
};
#ifdef FIXED
static Counter counter;
static Pool pool;
#else
extern Counter counter;
static Pool pool;
Counter counter;
#endif
static void *work(void *)
{
    counter.count++;
    return nullptr;
}
Pool::Pool() { pthread_create(&thread, nullptr, work, nullptr); }
int main() { return 0; }
