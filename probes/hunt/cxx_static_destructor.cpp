//~ about: main returns, and static objects go away, while a detached thread still uses one
//~ revisions: bug fixed
//~[bug] truth: race use-after-free double-free crash
//~[fixed] truth: clean
#include <string>
#include <thread>
static std::string log_text(40, 'x');
static void work()
{
    log_text += "done";
}
int main()
{
    std::thread a(work);
#ifdef BUG
    a.detach();
#else
    a.join();
#endif
    return 0;
}
