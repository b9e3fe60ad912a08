//~ about: std::atomic::wait and notify
//~ truth: clean
//~ flags: -std=c++20
#include <atomic>
#include <cassert>
#include <thread>
static std::atomic<int> stage;
static int data;
int main()
{
    std::thread a([] {
        data = 1;
        stage = 1;
        stage.notify_one();
        stage.wait(1);
        assert(data == 2);
    });
    stage.wait(0);
    assert(data == 1);
    data = 2;
    stage = 2;
    stage.notify_one();
    a.join();
}
