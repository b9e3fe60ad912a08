//~ about: std::counting_semaphore around a counter
//~ revisions: one two
//~[one] truth: any
//~[two] truth: race exit-status
//~ flags: -std=c++20
// With one unit it is right by the standard. libstdc++ 12 loads the value that it waits for once too often, and can sleep for ever:
// a deadlock that is there, and found.
#include <semaphore>
#include <thread>
#ifdef ONE
static std::counting_semaphore<2> s(1);
#else
static std::counting_semaphore<2> s(2);
#endif
static int n;
static void work()
{
    s.acquire();
    n++;
    s.release();
}
int main()
{
    std::thread a(work), b(work);
    a.join();
    b.join();
    return n - 2;
}
