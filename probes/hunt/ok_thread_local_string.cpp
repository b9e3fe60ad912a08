//~ about: a string for each thread, destroyed at its end
//~ truth: clean
#include <cassert>
#include <string>
#include <thread>
static thread_local std::string buffer;
static void work(char c)
{
    for (int i = 0; i < 30; i++)
        buffer += c;
    assert(buffer == std::string(30, c));
}
int main()
{
    std::thread a(work, 'a'), b(work, 'b');
    work('m');
    a.join();
    b.join();
}
