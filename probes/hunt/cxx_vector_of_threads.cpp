//~ about: threads with references to elements of a vector that grows
//~ revisions: grows reserved
//~[grows] truth: race use-after-free
//~[reserved] truth: clean
#include <thread>
#include <vector>
int main()
{
    std::vector<int> results;
    std::vector<std::thread> threads;
#ifdef RESERVED
    results.reserve(2);
#endif
    for (int i = 0; i < 2; i++) {
        results.push_back(0);
        int &mine = results.back();
        threads.emplace_back([&mine] { mine = 1; });
    }
    for (auto &t : threads)
        t.join();
    return 0;
}
