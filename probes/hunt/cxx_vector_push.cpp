//~ about: std::vector grows while another thread appends
//~ revisions: bug fixed
//~[bug] truth: race use-after-free double-free crash assertion
//~[fixed] truth: clean
#include <mutex>
#include <thread>
#include <vector>
static std::vector<int> all;
static std::mutex m;
static void add(int v)
{
#ifdef FIXED
    std::lock_guard<std::mutex> g(m);
#endif
    all.push_back(v);
}
int main()
{
    std::thread a(add, 1), b(add, 2);
    a.join();
    b.join();
    return 0;
}
