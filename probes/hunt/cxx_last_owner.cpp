//~ about: each thread has a shared_ptr of its own; the last one out destroys, after what the others wrote
//~ truth: clean
#include <cassert>
#include <memory>
#include <thread>
struct Pair {
    int a = 0, b = 0;
    ~Pair() { assert(a == 1 && b == 1); }
};
int main()
{
    auto p = std::make_shared<Pair>();
    std::thread x([q = p]() mutable { q->a = 1; q.reset(); });
    std::thread y([q = p]() mutable { q->b = 1; q.reset(); });
    p.reset();
    x.join();
    y.join();
}
