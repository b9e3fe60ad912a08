//~ about: the destructor of a thread-local object uses a global one
//~ revisions: racy locked
//~[racy] truth: race exit-status
//~[locked] truth: clean
#include <mutex>
#include <thread>
static std::mutex m;
static int ended;
struct counts {
    int n = 0;
    ~counts()
    {
#ifdef LOCKED
        std::lock_guard<std::mutex> l(m);
#endif
        ended += n;
    }
};
static thread_local counts mine;
static void work()
{
    mine.n++;
}
int main()
{
    std::thread a(work), b(work);
    a.join();
    b.join();
    return ended - 2;
}
