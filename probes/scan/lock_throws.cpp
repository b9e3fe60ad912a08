//~ about: a lock that cannot be taken again throws, and its handler does not have it
//~ truth: race
//~[fixed] truth: clean
//~ revisions: racy fixed
#include <mutex>
#include <system_error>
#include <thread>

static std::recursive_mutex lock;
static int shared;

// A recursive mutex cannot be taken more often than an unspecified number of times.
static void descend()
{
    std::lock_guard<std::recursive_mutex> guard(lock);
    std::lock_guard<std::recursive_mutex> again(lock);
}

int main()
{
    std::thread thread([] {
        try {
            descend();
        } catch (std::system_error &) {
#ifdef RACY
            shared++;
#endif
        }
    });
    {
        std::lock_guard<std::recursive_mutex> guard(lock);
        shared++;
    }
    thread.join();
    return 0;
}
