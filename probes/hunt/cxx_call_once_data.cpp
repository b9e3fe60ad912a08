//~ about: data that std::call_once initialises, and a thread that reads it without
//~ revisions: around through
//~[around] truth: race
//~[through] truth: clean
#include <mutex>
#include <thread>
static std::once_flag once;
static int data;
static int get()
{
    std::call_once(once, [] { data = 5; });
    return data;
}
int main()
{
    std::thread a([] { (void)get(); });
#ifdef AROUND
    int got = data;
#else
    int got = get();
#endif
    a.join();
    return got == 7;
}
