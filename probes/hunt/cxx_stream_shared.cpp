//~ about: two threads print with std::cout, as the standard lets them; watchpoints must not call that a race
//~ truth: clean
//~ options: --analysis watchpoint
#include <iostream>
#include <thread>
int main()
{
    std::thread other([] { std::cout << "abc"; });
    std::cout << "def";
    other.join();
}
