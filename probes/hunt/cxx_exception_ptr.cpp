//~ about: an exception that is rethrown in two threads is one object
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <cassert>
#include <exception>
#include <thread>
struct Failure {
    int code, seen;
};
static std::exception_ptr failure;
static void look()
{
    try {
        std::rethrow_exception(failure);
    } catch (Failure &f) {
        assert(f.code == 5);
#ifdef BUG
        f.seen++;
#endif
    }
}
int main()
{
    failure = std::make_exception_ptr(Failure{5, 0});
    std::thread a(look), b(look);
    a.join();
    b.join();
}
