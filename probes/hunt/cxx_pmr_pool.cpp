//~ about: a synchronised pool of memory of the library, used by two threads
//~ flags: -std=c++17
//~ truth: clean
#include <cassert>
#include <memory_resource>
#include <string>
#include <thread>
#include <vector>
static std::pmr::synchronized_pool_resource pool;
static void work(int v)
{
    std::pmr::vector<std::pmr::string> all(&pool);
    for (int i = 0; i < 3; i++)
        all.emplace_back("a text that is too long for the string itself");
    assert(all.size() == 3 && v >= 0);
}
int main()
{
    std::thread a(work, 1), b(work, 2);
    a.join();
    b.join();
}
