//~ about: two threads set the width of std::cout, which the standard does not let them do at the same time; such races are excused, and the claim says so
//~ truth: race
//~ cross: no
//~ unless-assumes: standard streams
#include <iostream>
#include <thread>
int main()
{
    std::thread other([] { std::cout.width(5); });
    std::cout.width(3);
    other.join();
}
