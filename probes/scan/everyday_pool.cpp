//~ about: a pool whose destructor joins its workers; in one revision it stops them without the lock
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>
class Pool {
public:
    explicit Pool(int size)
    {
        for (int i = 0; i < size; i++)
            workers.emplace_back([this] { run(); });
    }
    ~Pool()
    {
        {
#ifdef FIXED
            std::lock_guard<std::mutex> guard(m);
#endif
            stopping = true;
        }
        wake.notify_all();
        for (std::thread &worker : workers)
            worker.join();
    }
    void submit(std::function<void()> task)
    {
        std::lock_guard<std::mutex> guard(m);
        tasks.push_back(std::move(task));
        wake.notify_one();
    }

private:
    void run()
    {
        for (;;) {
            std::function<void()> task;
            {
                std::unique_lock<std::mutex> lock(m);
                wake.wait(lock, [this] { return stopping || !tasks.empty(); });
                if (tasks.empty())
                    return;
                task = std::move(tasks.front());
                tasks.pop_front();
            }
            task();
        }
    }
    std::vector<std::thread> workers;
    std::deque<std::function<void()>> tasks;
    std::mutex m;
    std::condition_variable wake;
    bool stopping = false;
};
int main()
{
    std::mutex lock;
    int sum = 0;
    {
        Pool pool(2);
        for (int i = 0; i < 2; i++)
            pool.submit([&lock, &sum, i] {
                std::lock_guard<std::mutex> guard(lock);
                sum += i;
            });
    }
    return sum == 1 ? 0 : 1;
}
