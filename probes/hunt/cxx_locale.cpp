//~ about: facets of one locale are used by two threads, each with a stream of its own
//~ truth: clean
#include <cassert>
#include <iomanip>
#include <locale>
#include <sstream>
#include <thread>
static std::string text[2];
int main()
{
    auto write = [](int i) {
        std::ostringstream o;
        o.imbue(std::locale::classic());
        o << std::hex << std::setw(6) << 255 << std::boolalpha << true;
        text[i] = o.str();
    };
    std::thread a(write, 0), b(write, 1);
    a.join();
    b.join();
    assert(text[0] == text[1] && text[0] == "    fftrue");
}
