// The test program of the context-bounding paper (its listing 1) without the loop: two different functions update
// one variable through temporaries. Six interleavings of the four accesses, three final values.
//
// preemptions: 0
//
// The twin is right because both functions hold the same mutex from the read to the write.

#include <mutex>
#include <thread>

int n = 0;

static void func1() {
    int tmp1 = n + 1; //~ also data-race
    n = tmp1;         //~ data-race
}

static void func2() {
    int tmp2 = n + 2; //~ also data-race
    n = tmp2;         //~ data-race
}

int main() {
    std::thread th1(func1);
    std::thread th2(func2);
    th1.join();
    th2.join();
    return n < 0;
}
