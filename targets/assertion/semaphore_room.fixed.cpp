// Fixed twin of semaphore_room.cpp: the semaphore has as many units as there are seats.
//
// cflags: -std=c++20

#include <atomic>
#include <cassert>
#include <semaphore>
#include <thread>

static std::counting_semaphore<2> room(1);
static std::atomic<int> seated{0};

static void visit() {
    room.acquire();
    int others = seated++;
    assert(others == 0);
    seated--;
    room.release();
}

int main() {
    std::thread first(visit), second(visit);
    first.join();
    second.join();
    return 0;
}
