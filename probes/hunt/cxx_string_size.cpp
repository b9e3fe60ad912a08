//~ about: a long std::string is inserted into while another thread asks for its size
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <string>
#include <thread>
static std::string s(100, 'x');
int main()
{
#ifdef BUG
    std::thread a([] { s.insert(50, "yyy"); });
#else
    std::thread a([] { volatile size_t n = s.find('x'); (void)n; });
#endif
    std::thread b([] { volatile size_t n = s.size(); (void)n; });
    a.join();
    b.join();
}
