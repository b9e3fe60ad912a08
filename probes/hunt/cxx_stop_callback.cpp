//~ about: a callback of std::stop_token runs in the thread that asks for the stop
//~ revisions: racy locked
//~[racy] truth: race
//~[locked] truth: clean
//~ flags: -std=c++20
#include <mutex>
#include <stop_token>
#include <thread>
static std::mutex m;
static int n;
static void add()
{
#ifdef LOCKED
    std::lock_guard l(m);
#endif
    n++;
}
int main()
{
    std::jthread t([](std::stop_token token) {
        std::stop_callback call(token, add);
        add();
    });
    t.request_stop();
    return 0;
}
