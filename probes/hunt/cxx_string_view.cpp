//~ about: a view of a string that another thread makes longer
//~ revisions: dangling copy
//~[dangling] truth: race use-after-free
//~[copy] truth: clean
//~ flags: -std=c++17
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
static std::mutex m;
static std::string text = "a string that is too long to be kept inside of the object itself";
static int sum;
static void look()
{
#ifdef DANGLING
    std::string_view mine;
#else
    std::string mine;
#endif
    {
        std::lock_guard<std::mutex> l(m);
        mine = text;
    }
    for (char c : mine)
        sum += c;
}
int main()
{
    std::thread a(look);
    {
        std::lock_guard<std::mutex> l(m);
        text += text;
    }
    a.join();
    return 0;
}
