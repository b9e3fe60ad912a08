//~ about: data that std::call_once of C++ initialises
//~ revisions: fixed lambda flags unguarded throws later
//~[fixed] truth: clean
//~[fixed] want: proved
//~[lambda] truth: clean
//~[flags] truth: race
//~[unguarded] truth: race
//~[throws] truth: clean
//~[later] truth: race
#include <mutex>
#include <thread>
static std::once_flag once, other;
static int value, tries;
static void init()
{
    value = 7;
}
static void work(int n)
{
#if defined FLAGS
    // Each thread has a flag of its own.
    std::call_once(n ? once : other, init);
#elif defined UNGUARDED
    if (n)
        std::call_once(once, init);
#elif defined THROWS
    try {
        std::call_once(once, [] {
            if (tries++ == 0)
                throw 1;
            value = 7;
        });
    } catch (int) {
        return;
    }
#elif defined LAMBDA
    int given = 7;
    std::call_once(once, [&given] { value = given; });
#else
    std::call_once(once, init);
#endif
    volatile int v = value;
    (void)v;
#ifdef LATER
    value = n;
#endif
}
int main()
{
    std::thread a(work, 0), b(work, 1);
    a.join();
    b.join();
    return value == 100 + tries;
}
