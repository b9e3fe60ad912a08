//~ about: an address taken for identity: `new` gives it again after `delete`
//~ truth: assertion
//~ unless-assumes: address reuse reused freed
#include <cassert>
#include <cstdint>
#include <mutex>
#include <thread>
struct Node {
    int data[6];
};
static std::mutex m;
static std::uintptr_t head;
static int version;
int main()
{
    head = reinterpret_cast<std::uintptr_t>(new Node);
    std::thread a([] {
        std::uintptr_t seen;
        int v;
        {
            std::lock_guard<std::mutex> g(m);
            seen = head;
            v = version;
        }
        std::lock_guard<std::mutex> g(m);
        if (seen == head)
            assert(v == version);
    });
    std::thread b([] {
        std::lock_guard<std::mutex> g(m);
        delete reinterpret_cast<Node *>(head);
        head = reinterpret_cast<std::uintptr_t>(new Node);
        version++;
    });
    a.join();
    b.join();
}
