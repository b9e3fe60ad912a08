// The test program of the context-bounding paper (its listing 1): the loop runs in one process, and each turn of
// it is one execution.
//
// preemptions: 0
//
// The twin is right because both functions hold the same mutex from the read to the write.

#include <mutex>
#include <racehunter.h>
#include <thread>

int n = 0;

static void Reset() { n = 0; }

static void func1() {
    int tmp1 = n + 1; //~ also data-race
    n = tmp1;         //~ data-race
}

static void func2() {
    int tmp2 = n + 2; //~ also data-race
    n = tmp2;         //~ data-race
}

static void test_func() {
    std::thread th1(func1);
    std::thread th2(func2);
    th1.join();
    th2.join();
}

int main() {
    do {
        Reset();
        OnStart();
        test_func();
    } while (OnRestart());
    return n < 0;
}
