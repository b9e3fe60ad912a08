//~ about: std::barrier: the completion function runs between the phases
//~ revisions: ok early
//~[ok] truth: clean
//~[early] truth: race deadlock
//~ flags: -std=c++20
#include <barrier>
#include <thread>
static int parts[2], sum;
static auto on_completion = []() noexcept { sum += parts[0] + parts[1]; };
static std::barrier b(2, on_completion);
static void work(int me)
{
    for (int round = 0; round < 2; round++) {
        parts[me]++;
#ifdef EARLY
        (void)b.arrive();
        if (round == 0)
            parts[me]++;
#else
        b.arrive_and_wait();
#endif
    }
}
int main()
{
    std::thread a(work, 0);
#ifdef EARLY
    parts[1]++;
    b.arrive_and_wait();
    parts[1]++;
    b.arrive_and_wait();
#else
    work(1);
#endif
    a.join();
    return 0;
}
