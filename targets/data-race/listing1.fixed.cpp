// Fixed twin of listing1.cpp: both functions hold the same mutex from the read to the write.

#include <mutex>
#include <thread>

int n = 0;
static std::mutex lock;

static void func1() {
    std::lock_guard<std::mutex> hold(lock);
    int tmp1 = n + 1;
    n = tmp1;
}

static void func2() {
    std::lock_guard<std::mutex> hold(lock);
    int tmp2 = n + 2;
    n = tmp2;
}

int main() {
    std::thread th1(func1);
    std::thread th2(func2);
    th1.join();
    th2.join();
    return n < 0;
}
