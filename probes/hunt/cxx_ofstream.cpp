//~ about: one file stream for two threads, or one for each
//~ revisions: bug fixed
//~[bug] truth: race crash
//~[fixed] truth: clean
#include <fstream>
#include <thread>
static std::ofstream one("/dev/null"), two("/dev/null");
int main()
{
    std::thread a([] { one << 1 << "one"; });
#ifdef BUG
    std::thread b([] { one << 2 << "two"; });
#else
    std::thread b([] { two << 2 << "two"; });
#endif
    a.join();
    b.join();
}
