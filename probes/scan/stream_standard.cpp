//~ about: threads print to a standard stream, which synchronises itself; but not what they print
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <cstring>
#include <iomanip>
#include <iostream>
#include <pthread.h>
static char text[16] = "text";
static int number = 3;
static void *print(void *)
{
    std::cout << text << " " << std::setw(4) << number << '\n' << 2.5 << std::endl;
    return nullptr;
}
int main()
{
    pthread_t a;
    pthread_create(&a, nullptr, print, nullptr);
#ifdef FIXED
    std::cout << text << "\n";
#else
    strcpy(text, "more");
#endif
    pthread_join(a, nullptr);
    std::cerr << number << std::flush;
    return 0;
}
