// The result of std::async and everything the task did happens before get() returns, exceptions included.

#include <future>
#include <stdexcept>
#include <vector>

static int sum(const std::vector<int> &numbers) {
    if (numbers.empty())
        throw std::invalid_argument("nothing to sum up");
    int total = 0;
    for (int number : numbers)
        total += number;
    return total;
}

int main() {
    std::vector<int> numbers{1, 2, 3}, none;
    std::future<int> good = std::async(std::launch::async, sum, std::cref(numbers));
    std::future<int> bad = std::async(std::launch::async, sum, std::cref(none));
    int total = good.get();
    numbers.push_back(total);
    try {
        bad.get();
    } catch (const std::invalid_argument &) {
        return numbers.back() != 6;
    }
    return 1;
}
