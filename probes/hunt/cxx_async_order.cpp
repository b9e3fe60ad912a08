//~ about: std::async: who waits for the future is ordered, who does not is not
//~ revisions: racy ok
//~[racy] truth: race exit-status
//~[ok] truth: clean
#include <future>
static int n;
int main()
{
    auto f = std::async(std::launch::async, [] { n++; });
#ifdef OK
    f.wait();
#endif
    n++;
    f.wait();
    return n - 2;
}
