// What C++20 has for threads: latches, barriers with a function at the end of each phase, semaphores, threads that join
// themselves and can be asked to stop.
//
// cflags: -std=c++20

#include <barrier>
#include <cassert>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <semaphore>
#include <stop_token>
#include <thread>

static int halves[2], phases, inside, served, asked;
static std::latch ready(2);
static std::barrier meeting(2, []() noexcept { phases++; });
static std::binary_semaphore room(1);
static std::mutex lock;
static std::condition_variable_any changed;

static void work(int number) {
    halves[number] = 1;
    ready.arrive_and_wait();
    assert(halves[1 - number] == 1);
    meeting.arrive_and_wait();
    assert(phases == 1);
    room.acquire();
    inside++;
    room.release();
}

static void serve(std::stop_token stop) {
    std::unique_lock<std::mutex> hold(lock);
    changed.wait(hold, stop, [] { return false; });
    served++;
}

int main() {
    {
        std::jthread server(serve);
        std::jthread first(work, 0), second(work, 1);
        std::stop_callback noticed(server.get_stop_token(), [] { asked++; });
        server.request_stop();
    }
    assert(inside == 2 && served == 1 && asked == 1);
    return 0;
}
