// A pool that wakes one of the threads that wait until it is idle; two threads wait.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

class Pool {
public:
    Pool() : worker_([this] { work(); }) {}

    ~Pool() {
        {
            std::lock_guard<std::mutex> guard(lock_);
            stopping_ = true;
        }
        available_.notify_all();
        worker_.join();
    }

    void submit(int job) {
        {
            std::lock_guard<std::mutex> guard(lock_);
            jobs_.push_back(job);
            ++pending_;
        }
        available_.notify_one();
    }

    void wait_idle() {
        std::unique_lock<std::mutex> guard(lock_);
        while (pending_ > 0)
            idle_.wait(guard);
    }

private:
    void work() {
        std::unique_lock<std::mutex> guard(lock_);
        for (;;) {
            available_.wait(guard, [this] { return stopping_ || !jobs_.empty(); });
            if (jobs_.empty())
                return;
            jobs_.pop_front();
            if (--pending_ == 0)
                idle_.notify_one();
        }
    }

    std::mutex lock_;
    std::condition_variable available_;
    std::condition_variable idle_;
    std::deque<int> jobs_;
    int pending_ = 0;
    bool stopping_ = false;
    std::thread worker_;
};

int main() {
    Pool pool;
    pool.submit(1);
    std::thread other([&] { pool.wait_idle(); });
    pool.wait_idle();
    other.join();
}
