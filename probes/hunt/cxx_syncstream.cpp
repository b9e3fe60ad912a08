//~ about: osyncstream: each thread writes its line as a whole
//~ flags: -std=c++20
//~ truth: clean
#include <iostream>
#include <sstream>
#include <syncstream>
#include <thread>
static std::ostringstream out;
int main()
{
    auto say = [](int i) {
        std::osyncstream s(out);
        s << "line " << i << '\n';
    };
    std::thread a(say, 1), b(say, 2);
    a.join();
    b.join();
    return out.str().size() == 14 ? 0 : 1;
}
