//~ about: a detached thread has a reference to a local variable of a function that returns
//~ revisions: reference shared
//~[reference] truth: race use-after-free
//~[shared] truth: clean
//~ flags: -std=c++20
#include <atomic>
#include <memory>
#include <thread>
static std::atomic<int> done;
__attribute__((noinline)) static void begin()
{
#ifdef REFERENCE
    int local = 1;
    std::thread([&local] { local++; done = 1; }).detach();
#else
    auto local = std::make_shared<int>(1);
    std::thread([local] { ++*local; done = 1; }).detach();
#endif
}
__attribute__((noinline)) static int overwrite(int n)
{
    volatile int room[128];
    for (int i = 0; i < 128; i++)
        room[i] = n;
    return room[5];
}
int main()
{
    begin();
    overwrite(3);
    while (!done) {
    }
    return 0;
}
