// Every thread has its own instance of a thread-local variable, built on first use and destroyed at its end.

#include <string>
#include <thread>

static thread_local std::string buffer = "start";

static void fill(char letter, std::size_t &length) {
    for (int i = 0; i < 3; i++)
        buffer += letter;
    length = buffer.size();
}

int main() {
    std::size_t first_length = 0, second_length = 0;
    std::thread first(fill, 'a', std::ref(first_length));
    std::thread second(fill, 'b', std::ref(second_length));
    first.join();
    second.join();
    return first_length != 8 || second_length != 8 || buffer != "start";
}
