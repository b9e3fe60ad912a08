//~ about: a producer and a consumer with a queue of the library, a global condition variable and a predicate
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>
static std::queue<int> items;
static std::mutex m;
static std::condition_variable changed;
static bool done;
static int sum;
static void produce()
{
    for (int i = 1; i <= 2; i++) {
        {
            std::lock_guard<std::mutex> guard(m);
            items.push(i);
        }
        changed.notify_one();
    }
#ifdef FIXED
    std::lock_guard<std::mutex> guard(m);
#endif
    done = true;
    changed.notify_one();
}
static void consume()
{
    for (;;) {
        std::unique_lock<std::mutex> lock(m);
        changed.wait(lock, [] { return done || !items.empty(); });
        if (items.empty())
            return;
        sum += items.front();
        items.pop();
    }
}
int main()
{
    std::thread producer(produce), consumer(consume);
    producer.join();
    consumer.join();
    return sum == 3 ? 0 : 1;
}
