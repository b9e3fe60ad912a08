//~ about: a thread of the C++ library has a reference to a local variable of a function that does not wait for it
//~ revisions: bug fixed
//~[bug] truth: race use-after-free
//~[fixed] truth: clean
//~[fixed] want: proved
#include <thread>
static std::thread start()
{
    int local = 0;
    std::thread one([&local] { local++; });
#ifdef FIXED
    one.join();
    return std::thread();
#else
    return one;
#endif
}
int main()
{
    std::thread one = start();
    int volatile other[64];
    for (int i = 0; i < 64; i++)
        other[i] = i;
    if (one.joinable())
        one.join();
    return 0;
}
