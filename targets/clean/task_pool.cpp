// A pool of threads with a queue of functions, whose results come back through futures. The destructor lets the work
// that is there be finished.

#include <cassert>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

class Pool {
public:
    explicit Pool(int size) {
        for (int i = 0; i < size; i++)
            threads.emplace_back([this] { run(); });
    }
    ~Pool() {
        {
            std::lock_guard<std::mutex> hold(lock);
            closing = true;
        }
        changed.notify_all();
        for (std::thread &thread : threads)
            thread.join();
    }
    std::future<int> submit(std::function<int()> work) {
        auto task = std::make_shared<std::packaged_task<int()>>(std::move(work));
        std::future<int> result = task->get_future();
        {
            std::lock_guard<std::mutex> hold(lock);
            queue.emplace_back([task] { (*task)(); });
        }
        changed.notify_one();
        return result;
    }

private:
    void run() {
        std::unique_lock<std::mutex> hold(lock);
        for (;;) {
            changed.wait(hold, [this] { return closing || !queue.empty(); });
            if (queue.empty())
                return;
            std::function<void()> work = std::move(queue.front());
            queue.pop_front();
            hold.unlock();
            work();
            hold.lock();
        }
    }

    std::mutex lock;
    std::condition_variable changed;
    std::deque<std::function<void()>> queue;
    bool closing = false;
    std::vector<std::thread> threads;
};

int main() {
    std::future<int> first, second;
    {
        Pool pool(2);
        first = pool.submit([] { return 20; });
        second = pool.submit([] { return 22; });
    }
    assert(first.get() + second.get() == 42);
    return 0;
}
