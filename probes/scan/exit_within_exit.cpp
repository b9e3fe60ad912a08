//~ about: a destructor calls `exit` again, and another one runs after it, beside a thread
//~ truth: race
#include <cstdlib>
#include <pthread.h>
static int last;
struct Second {
    ~Second() { last = 1; }
};
struct First {
    ~First() { exit(0); }
};
static Second second;
static First first;
static void *work(void *)
{
    last++;
    return nullptr;
}
int main()
{
    pthread_t a;
    pthread_create(&a, nullptr, work, nullptr);
    pthread_detach(a);
    return 0;
}
