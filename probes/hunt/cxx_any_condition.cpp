//~ about: std::condition_variable_any with a stop token
//~ revisions: ok lost
//~[ok] truth: clean
//~[lost] truth: deadlock lost-wakeup race
//~ flags: -std=c++20
#include <condition_variable>
#include <mutex>
#include <thread>
static std::mutex m;
static std::condition_variable_any c;
static bool ready;
int main()
{
#ifdef OK
    std::jthread t([](std::stop_token token) {
        std::unique_lock l(m);
        c.wait(l, token, [] { return ready; });
    });
    t.request_stop();
    t.join();
#else
    std::thread t([] {
        std::unique_lock l(m);
        if (!ready) {
            l.unlock();
            l.lock();
            c.wait(l, [] { return ready; });
        }
    });
    ready = false;
    c.notify_all();
    t.join();
#endif
    return 0;
}
