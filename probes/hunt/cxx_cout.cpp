//~ about: formatted output to std::cout is synchronised by the library; its width is not
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <iostream>
#include <thread>
int main()
{
    std::thread a([] { std::cout << 1; });
    std::thread b([] {
#ifdef BUG
        std::cout.width(4); // not a formatted output function: nothing protects it from the other `<<`, which sets it to 0
#endif
        std::cout << 2;
    });
    a.join();
    b.join();
    std::cout << std::endl;
}
