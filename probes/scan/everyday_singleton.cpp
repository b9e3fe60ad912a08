//~ about: a singleton in a static local, with a lock for its table; one revision reads it without
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <map>
#include <mutex>
#include <thread>
class Registry {
public:
    static Registry &instance()
    {
        static Registry only;
        return only;
    }
    void add(int key, int value)
    {
        std::lock_guard<std::mutex> guard(m);
        table[key] = value;
    }
    int size()
    {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(m);
#endif
        return (int)table.size();
    }

private:
    Registry() = default;
    std::mutex m;
    std::map<int, int> table;
};
int main()
{
    std::thread a([] { Registry::instance().add(1, 2); });
    std::thread b([] { Registry::instance().add(2, 3); });
    int seen = Registry::instance().size();
    a.join();
    b.join();
    return seen > 2;
}
