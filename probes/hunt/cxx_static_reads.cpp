//~ about: a local static object whose constructor reads what another thread writes
//~ revisions: racy ok
//~[racy] truth: race
//~[ok] truth: clean
#include <thread>
static int setting;
static int &value()
{
    static int v = setting + 1;
    return v;
}
int main()
{
#ifdef OK
    setting = 2;
#endif
    std::thread a([] { return (void)value(); });
#ifdef RACY
    setting = 2;
#endif
    std::thread b([] { return (void)value(); });
    a.join();
    b.join();
    return 0;
}
