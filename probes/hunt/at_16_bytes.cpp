//~ about: sixteen bytes at once: read and written in two steps, or by compare-exchange
//~ flags: -mcx16 -latomic
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[bug] preemptions: 1
//~[fixed] truth: clean
#include <atomic>
#include <cassert>
#include <thread>
struct alignas(16) Pair {
    long count, tag;
};
static std::atomic<Pair> pair;
static void add()
{
#ifdef BUG
    Pair p = pair.load();
    pair.store(Pair{p.count + 1, p.tag + 1});
#else
    Pair p = pair.load();
    while (!pair.compare_exchange_weak(p, Pair{p.count + 1, p.tag + 1})) {
    }
#endif
}
int main()
{
    std::thread a(add), b(add);
    a.join();
    b.join();
    assert(pair.load().count == 2);
}
