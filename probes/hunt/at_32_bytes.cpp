//~ about: an atomic of 32 bytes, read and written in two steps, by the library
//~ truth: assertion
//~ flags: -latomic
#include <atomic>
#include <cassert>
#include <thread>
struct Block {
    long count, pad[3];
};
static std::atomic<Block> block;
static void add()
{
    Block b = block.load();
    b.count++;
    block.store(b);
}
int main()
{
    std::thread x(add), y(add);
    x.join();
    y.join();
    assert(block.load().count == 2);
}
