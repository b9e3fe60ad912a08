// Two threads work through a list with one iterator. Each looks whether there is something left under the lock, and
// takes it under the lock, but not in one go.
//
// preemptions: 1
//
// The twin is right because looking and taking are one critical section.

#include <cassert>
#include <list>
#include <mutex>
#include <thread>

static std::list<int> work{1};
static std::list<int>::iterator next = work.begin();
static std::mutex lock;
static int done;

static void work_off() {
    for (;;) {
        std::unique_lock<std::mutex> hold(lock);
        if (next == work.end())
            return;
        hold.unlock();
        hold.lock();
        assert(next != work.end()); //~ assertion
        done += *next++;
    }
}

int main() {
    std::thread first(work_off), second(work_off);
    first.join();
    second.join();
    return done != 1;
}
