//~ about: std::counting_semaphore around a counter
//~ revisions: one two
//~[one] truth: clean
//~[two] truth: race exit-status
//~ flags: -std=c++20
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
