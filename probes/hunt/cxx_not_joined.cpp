//~ about: a std::thread that is destroyed while it can be joined
//~ revisions: left joined
//~[left] truth: crash
//~[joined] truth: clean
#include <thread>
int main()
{
    std::thread t([] {});
#ifdef JOINED
    t.join();
#endif
    return 0;
}
