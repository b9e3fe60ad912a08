//~ about: strings that are not shared, built, compared and moved by the library in two threads
//~ truth: clean
#include <algorithm>
#include <cassert>
#include <string>
#include <thread>
static std::string made[2];
int main()
{
    auto work = [](int i) {
        std::string s = std::to_string(123456789) + std::string(40, 'a' + i);
        std::reverse(s.begin(), s.end());
        made[i] = std::move(s);
    };
    std::thread a(work, 0), b(work, 1);
    a.join();
    b.join();
    assert(made[0].size() == made[1].size());
    assert(made[0].compare(made[1]) < 0);
}
