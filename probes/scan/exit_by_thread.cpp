//~ about: another thread ends the program, and destroys what the main thread uses
//~ truth: race
#include <cstdlib>
#include <pthread.h>
static int last;
struct Global {
    ~Global() { last = 1; }
};
static Global global;
static void *work(void *) { exit(0); }
int main()
{
    pthread_t a;
    pthread_create(&a, nullptr, work, nullptr);
    last++;
    pthread_join(a, nullptr);
    return 0;
}
