//~ about: what a failed compare-exchange has seen is ordered only if its failure order says so
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <atomic>
#include <cassert>
#include <thread>
static std::atomic<int> state;
static int data;
#ifdef BUG
constexpr auto failure = std::memory_order_relaxed;
#else
constexpr auto failure = std::memory_order_acquire;
#endif
int main()
{
    std::thread t([] { data = 1; state.store(1, std::memory_order_release); });
    int seen = 0;
    if (!state.compare_exchange_strong(seen, 2, std::memory_order_relaxed, failure))
        assert(data == 1);
    t.join();
}
