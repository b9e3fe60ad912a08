//~ about: the destructor of a global object, beside a thread that may still run
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <pthread.h>
static int last;
struct Global {
    ~Global() { last = 1; }
};
static Global global;
static void *work(void *)
{
    last++;
    return nullptr;
}
int main()
{
    pthread_t a;
    pthread_create(&a, nullptr, work, nullptr);
#ifdef FIXED
    pthread_join(a, nullptr);
#else
    pthread_detach(a);
#endif
    return 0;
}
