//~ about: an object made by new behind a lock that is checked twice, the first time by a relaxed load, or by one that acquires
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <atomic>
#include <mutex>
#include <thread>
struct Settings {
    int port, workers;
    Settings() : port(80), workers(4) {}
};
static std::atomic<Settings *> instance;
static std::mutex guard;
static Settings *settings()
{
#ifdef BUG
    Settings *found = instance.load(std::memory_order_relaxed);
#else
    Settings *found = instance.load(std::memory_order_acquire);
#endif
    if (!found) {
        std::lock_guard<std::mutex> lock(guard);
        found = instance.load(std::memory_order_relaxed);
        if (!found) {
            found = new Settings;
            instance.store(found, std::memory_order_release);
        }
    }
    return found;
}
static volatile int port, workers;
int main()
{
    std::thread one([] { port = settings()->port; });
    std::thread two([] { workers = settings()->workers; });
    one.join();
    two.join();
}
