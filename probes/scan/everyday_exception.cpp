//~ about: a worker catches what a task throws and counts it; in one revision outside of the lock
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <mutex>
#include <stdexcept>
#include <thread>
static std::mutex m;
static int failures, results;
static int divide(int a, int b)
{
    if (b == 0)
        throw std::runtime_error("division by zero");
    return a / b;
}
static void work(int by)
{
    try {
        int result = divide(10, by);
        std::lock_guard<std::mutex> guard(m);
        results += result;
    } catch (const std::runtime_error &) {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(m);
#endif
        failures++;
    }
}
int main()
{
    std::thread a(work, 0), b(work, 0);
    a.join();
    b.join();
    return failures == 2 ? 0 : 1;
}
