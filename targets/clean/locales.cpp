// Threads copy the global locale, make locales with their own facets, and format numbers with them.

#include <cassert>
#include <locale>
#include <sstream>
#include <string>
#include <thread>

struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
};

static const std::locale shared(std::locale::classic(), new Comma);

static void format() {
    std::locale copy = shared;
    std::ostringstream text;
    text.imbue(copy);
    text << 1.5;
    assert(text.str() == "1,5");
    std::ostringstream plain;
    plain.imbue(std::locale(std::locale(), new Comma));
    plain << 0.25;
    assert(plain.str() == "0,25");
    std::locale global;
    assert(std::use_facet<std::ctype<char>>(global).is(std::ctype_base::digit, '7'));
    assert(std::toupper('a', std::locale::classic()) == 'A');
}

int main() {
    std::thread first(format), second(format);
    format();
    first.join();
    second.join();
    return 0;
}
