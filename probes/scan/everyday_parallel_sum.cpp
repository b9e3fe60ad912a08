//~ about: each thread sums its part of a vector into its own element, in one revision into a common one
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <numeric>
#include <thread>
#include <vector>
int main()
{
    std::vector<int> numbers(40);
    std::iota(numbers.begin(), numbers.end(), 1);
    long sums[2] = {0, 0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; t++)
        threads.emplace_back([&numbers, &sums, t] {
            for (int i = t * 20; i < (t + 1) * 20; i++)
#ifdef FIXED
                sums[t] += numbers[i];
#else
                sums[0] += numbers[i];
#endif
        });
    for (auto &thread : threads)
        thread.join();
    return sums[0] + sums[1] == 820 ? 0 : 1;
}
