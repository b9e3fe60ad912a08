// Two readers of a std::shared_mutex read at the same time, a writer changes the map alone.

#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::map<int, int> squares{{1, 1}, {2, 4}};
static std::shared_mutex lock;

static void look_up(int number, int &square) {
    std::shared_lock<std::shared_mutex> hold(lock);
    auto found = squares.find(number);
    square = found == squares.end() ? 0 : found->second;
}

static void extend() {
    std::unique_lock<std::shared_mutex> hold(lock);
    squares[3] = 9;
}

int main() {
    int two = 0, three = 0;
    std::thread first(look_up, 2, std::ref(two));
    std::thread second(look_up, 3, std::ref(three));
    std::thread writer(extend);
    first.join();
    second.join();
    writer.join();
    return two != 4 || (three != 0 && three != 9);
}
