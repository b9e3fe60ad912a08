// Visitors count pages. `get` and `set` lock the table, but nothing keeps the two together.
#include <cassert>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Statistics {
    std::mutex mutex;
    std::map<std::string, int> hits;
    int total = 0;
    int get(const std::string &page) {
        std::lock_guard guard(mutex);
        return hits[page];
    }
    void set(const std::string &page, int number) {
        std::lock_guard guard(mutex);
        hits[page] = number;
        total++;
    }
};

int main() {
    Statistics statistics;
    std::vector<std::thread> visitors;
    for (int visitor = 0; visitor < 3; visitor++)
        visitors.emplace_back([&statistics, visitor] {
            for (int round = 0; round < 2; round++) {
                std::string page = "page " + std::to_string((visitor + round) % 2);
                statistics.set(page, statistics.get(page) + 1);
            }
        });
    for (auto &visitor : visitors)
        visitor.join();
    int sum = 0;
    for (auto &[page, number] : statistics.hits)
        sum += number;
    assert(sum == statistics.total);
}
