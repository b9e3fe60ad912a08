// Fixed twin of barrier_left.cpp: who leaves drops out of the barrier.
//
// cflags: -std=c++20

#include <atomic>
#include <barrier>
#include <thread>

static std::barrier<> phase(2);
static std::atomic<bool> stop{false};

static void lead() {
    phase.arrive_and_wait();
}

static void follow() {
    if (stop) {
        phase.arrive_and_drop();
        return;
    }
    phase.arrive_and_wait();
}

int main() {
    std::thread leader(lead), follower(follow);
    std::thread stopper([] { stop = true; });
    leader.join();
    follower.join();
    stopper.join();
    return 0;
}
