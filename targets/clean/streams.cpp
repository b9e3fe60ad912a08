// Two threads write to std::cout and std::cerr, which may be used by several threads at once, and each builds its lines
// in a stream of its own.

#include <cassert>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

static void write_lines(int number) {
    for (int line = 0; line < 2; line++) {
        std::ostringstream text;
        text << "thread " << number << std::setw(4) << line << std::hex << 255 << '\n';
        std::cout << text.str();
        std::istringstream back(text.str());
        std::string word;
        int read = -1;
        back >> word >> read;
        assert(word == "thread" && read == number);
    }
    std::cerr << "done\n";
    std::cout << std::flush;
}

int main() {
    std::thread first(write_lines, 1), second(write_lines, 2);
    first.join();
    second.join();
    return 0;
}
