//~ about: an atomic of 32 bytes by the library hands plain data over
//~ truth: clean
//~ flags: -latomic
#include <atomic>
#include <cassert>
#include <thread>
struct Block {
    long count, pad[3];
};
static std::atomic<Block> block;
static int data;
int main()
{
    std::thread x([] {
        data = 5;
        block.store(Block{1, {0, 0, 0}});
    });
    if (block.load().count == 1)
        assert(data == 5);
    x.join();
}
