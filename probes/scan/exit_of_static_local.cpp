//~ about: a static local that a joined thread has created is destroyed beside another thread
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <thread>
static int last;
struct Local {
    ~Local() { last = 1; }
};
int main()
{
    std::thread a([] { static Local local; });
    a.join();
    std::thread b([] { last++; });
#ifdef FIXED
    b.join();
#else
    b.detach();
#endif
    return 0;
}
