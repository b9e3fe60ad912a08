// std::call_once runs the initialisation once and orders it before the return of every caller.

#include <mutex>
#include <thread>

static std::once_flag flag;
static int attempts, value;

static void initialise() {
    attempts++;
    value = attempts * 10;
}

static void use(int &seen) {
    std::call_once(flag, initialise);
    seen = value;
}

int main() {
    int first_seen = 0, second_seen = 0;
    std::thread first(use, std::ref(first_seen));
    std::thread second(use, std::ref(second_seen));
    first.join();
    second.join();
    return first_seen != 10 || second_seen != 10 || attempts != 1;
}
