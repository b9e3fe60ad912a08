//~ about: jthread, stop_token and condition_variable_any
//~ flags: -std=c++20
//~ truth: clean
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>
static std::mutex m;
static std::condition_variable_any c;
static int jobs, handled;
int main()
{
    {
        std::jthread worker([](std::stop_token stop) {
            std::unique_lock<std::mutex> g(m);
            while (c.wait(g, stop, [] { return jobs > 0; })) {
                jobs--;
                handled++;
            }
        });
        std::lock_guard<std::mutex> g(m);
        jobs++;
        c.notify_one();
    }
    assert(handled + jobs == 1);
}
