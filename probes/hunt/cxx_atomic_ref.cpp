//~ about: std::atomic_ref: all accesses have to go through one
//~ revisions: all some
//~[all] truth: clean
//~[some] truth: race
//~ flags: -std=c++20
#include <atomic>
#include <thread>
static int n;
int main()
{
    std::thread t([] { std::atomic_ref<int>(n)++; });
#ifdef ALL
    std::atomic_ref<int>(n)++;
#else
    n++;
#endif
    t.join();
    return 0;
}
