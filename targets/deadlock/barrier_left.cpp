// Two workers meet at a std::barrier. The one that sees the wish to stop just leaves; the other one waits for it at the
// barrier.
//
// cflags: -std=c++20
// preemptions: 0
//
// The twin is right because who leaves drops out of the barrier.

#include <atomic>
#include <barrier>
#include <thread>

static std::barrier<> phase(2);
static std::atomic<bool> stop{false};

static void lead() {
    phase.arrive_and_wait(); //~ deadlock
}

static void follow() {
    if (stop) {
        return;
    }
    phase.arrive_and_wait();
}

int main() {
    std::thread leader(lead), follower(follow);
    std::thread stopper([] { stop = true; });
    leader.join(); //~ deadlock
    follower.join();
    stopper.join();
    return 0;
}
