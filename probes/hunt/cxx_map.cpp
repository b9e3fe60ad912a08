//~ about: std::map looked up under a shared lock, inserted into under none, or an exclusive one
//~ revisions: bug fixed
//~ flags: -std=c++17
//~[bug] truth: race crash
//~[fixed] truth: clean
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
static std::map<std::string, int> ages{{"ann", 1}, {"bob", 2}};
static std::shared_mutex m;
int main()
{
    std::thread a([] {
#ifdef FIXED
        std::unique_lock<std::shared_mutex> g(m);
#else
        std::shared_lock<std::shared_mutex> g(m);
#endif
        ages["carol with a name that does not fit into the string itself"] = 3;
    });
    std::thread b([] {
        std::shared_lock<std::shared_mutex> g(m);
        volatile bool there = ages.find("bob") != ages.end();
        (void)there;
    });
    a.join();
    b.join();
}
