// A regular expression that was made before the threads is used by both of them, and each makes one of its own.

#include <cassert>
#include <regex>
#include <string>
#include <thread>

static const std::regex assignment("([a-z]+)=([0-9]*)");

static void match(const char *text, const char *number) {
    std::smatch found;
    const std::string line(text);
    assert(std::regex_match(line, found, assignment) && found[2] == number);
    const std::regex own("^[xy]");
    assert(std::regex_search(line, own));
}

int main() {
    std::thread first(match, "x=12", "12"), second(match, "y=7", "7");
    first.join();
    second.join();
    return 0;
}
