//~ about: a C++ program has its own malloc and free, which new and delete are to call
//~ revisions: races locked
//~[races] truth: race
//~[locked] truth: clean
//~[locked] want: proved
#include <atomic>
#include <cstddef>
#include <mutex>
#include <thread>

alignas(64) static char heap[1 << 20];
static std::atomic<std::size_t> used;

extern "C" void *malloc(std::size_t size)
{
    return heap + used.fetch_add((size + 15) & ~std::size_t{15});
}
extern "C" void free(void *) {}
extern "C" void *calloc(std::size_t count, std::size_t size)
{
    return malloc(count * size);
}
extern "C" void *realloc(void *, std::size_t size)
{
    return malloc(size);
}

static std::mutex mutex;
static int *shared;

static void replace(int value)
{
    int *fresh = new int(value);
#ifdef LOCKED
    std::lock_guard<std::mutex> lock(mutex);
#endif
    delete shared;
    shared = fresh;
}

int main()
{
    std::thread other(replace, 1);
    replace(2);
    other.join();
    return *shared == 0;
}
