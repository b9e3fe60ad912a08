// Each thread has strings, maps, functions and sorted vectors of its own. They share only the allocator.

#include <algorithm>
#include <cassert>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

static void work(int seed) {
    std::map<std::string, std::vector<int>> table;
    std::unordered_map<int, std::string> names;
    for (int i = 0; i < 5; i++) {
        std::string name = "key number " + std::to_string((seed * i) % 7);
        table[name].push_back(i);
        names.emplace(i, std::move(name));
    }
    std::function<int(int)> factorial = [&](int n) { return n < 2 ? 1 : n * factorial(n - 1); };
    std::vector<int> sizes;
    for (const auto &[name, values] : table)
        sizes.push_back(static_cast<int>(values.size()) + factorial(3));
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    assert(sizes.front() >= sizes.back() && names.at(0) == "key number 0");
}

int main() {
    std::thread first(work, 3), second(work, 5);
    first.join();
    second.join();
    return 0;
}
