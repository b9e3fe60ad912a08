// A std::counting_semaphore says how many may be in a room with one seat.
//
// cflags: -std=c++20
// preemptions: 1
//
// The twin is right because the semaphore has as many units as there are seats.

#include <atomic>
#include <cassert>
#include <semaphore>
#include <thread>

static std::counting_semaphore<2> room(2);
static std::atomic<int> seated{0};

static void visit() {
    room.acquire();
    int others = seated++;
    assert(others == 0); //~ assertion
    seated--;
    room.release();
}

int main() {
    std::thread first(visit), second(visit);
    first.join();
    second.join();
    return 0;
}
