//~ about: threads in a vector count under a lock; in one revision main reports the progress without it
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>
static std::mutex m;
static long total;
static void work(int times)
{
    for (int i = 0; i < times; i++) {
        std::lock_guard<std::mutex> guard(m);
        total += i;
    }
}
int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back(work, 3);
#ifdef BUG
    std::cout << "so far " << total << "\n";
#endif
    for (auto &thread : threads)
        thread.join();
    std::cout << "total " << total << std::endl;
    return 0;
}
