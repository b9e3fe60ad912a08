//~ about: an atomic flag stops a worker, which main then joins; in one revision the flag is a plain bool
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <atomic>
#include <chrono>
#include <thread>
class Worker {
public:
    Worker() : thread([this] { run(); }) {}
    ~Worker()
    {
        stop = true;
        thread.join();
    }
    int rounds() const { return count; }

private:
    void run()
    {
        while (!stop) {
            count++;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
#ifdef FIXED
    std::atomic<bool> stop{false};
#else
    bool stop = false;
#endif
    std::atomic<int> count{0};
    std::thread thread;
};
int main()
{
    Worker worker;
    return worker.rounds() < 0;
}
