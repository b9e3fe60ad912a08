//~ about: a standard stream that writes to a string of the program
//~ revisions: bug fixed
//~[bug] truth: race
//~[bug] must-not: proved
//~[fixed] truth: clean
#include <iostream>
#include <pthread.h>
#include <sstream>
static void *print(void *)
{
    std::cout << "text" << 12;
    return nullptr;
}
int main()
{
    std::ostringstream text;
    std::streambuf *before = std::cout.rdbuf(text.rdbuf());
    pthread_t a;
    pthread_create(&a, nullptr, print, nullptr);
#ifdef FIXED
    pthread_join(a, nullptr);
#endif
    print(nullptr);
#ifdef BUG
    pthread_join(a, nullptr);
#endif
    std::cout.rdbuf(before);
    return text.str().empty();
}
