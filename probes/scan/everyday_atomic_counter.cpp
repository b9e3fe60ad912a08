//~ about: hits are counted by an atomic variable, in one revision by `load` and `store` of a plain one
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <atomic>
#include <thread>
#include <vector>
class Statistics {
public:
    void hit() { hits++; }
    int get() const { return hits; }

private:
#ifdef FIXED
    std::atomic<int> hits{0};
#else
    int hits = 0;
#endif
};
int main()
{
    Statistics statistics;
    std::vector<std::thread> all;
    for (int i = 0; i < 2; i++)
        all.push_back(std::thread([&statistics] {
            for (int k = 0; k < 2; k++)
                statistics.hit();
        }));
    for (std::thread &one : all)
        one.join();
    return statistics.get() == 4 ? 0 : 1;
}
