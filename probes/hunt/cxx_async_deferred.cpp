//~ about: std::async with two policies, results through futures
//~ truth: clean
#include <cassert>
#include <future>
#include <numeric>
#include <vector>
static std::vector<int> v(10, 1);
int main()
{
    auto half = [](int from, int to) { return std::accumulate(v.begin() + from, v.begin() + to, 0); };
    auto a = std::async(std::launch::async, half, 0, 5);
    auto b = std::async(std::launch::deferred, half, 5, 10);
    assert(a.get() + b.get() == 10);
    v[0] = 2;
}
