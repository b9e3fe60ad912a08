//~ about: the initialisations of two local static objects wait for each other
//~ revisions: cycle ok
//~[cycle] truth: deadlock
//~[ok] truth: clean
#include <thread>
struct thing {
    int n;
};
static thing &second(bool deep);
static thing &first(bool deep)
{
    static thing t{deep ? second(false).n : 1};
    return t;
}
static thing &second(bool deep)
{
    static thing t{deep ? first(false).n : 1};
    return t;
}
int main()
{
#ifdef CYCLE
    std::thread a([] { first(true); }), b([] { second(true); });
#else
    std::thread a([] { first(true); }), b([] { first(true); });
#endif
    a.join();
    b.join();
    return 0;
}
