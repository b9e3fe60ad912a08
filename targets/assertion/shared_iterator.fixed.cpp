// Fixed twin of shared_iterator.cpp: looking and taking are one critical section.

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
        assert(next != work.end());
        done += *next++;
    }
}

int main() {
    std::thread first(work_off), second(work_off);
    first.join();
    second.join();
    return done != 1;
}
