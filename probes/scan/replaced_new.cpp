//~ about: the library's `new[]`, sized `delete` and `new` without exceptions call the `new` and `delete` that the program replaces
//~ truth: race
//~ revisions: array sized nothrow
#include <cstdlib>
#include <new>
#include <pthread.h>

static int count;

void *operator new(std::size_t size)
{
    count++;
    void *block = std::malloc(size);
    if (!block)
        throw std::bad_alloc();
    return block;
}

void operator delete(void *block) noexcept
{
    count--;
    std::free(block);
}

static void *work(void *unused)
{
#ifdef ARRAY
    delete[] new int[3];
#elif defined SIZED
    operator delete(std::malloc(8), std::size_t(8));
#else
    operator delete(operator new(8, std::nothrow));
#endif
    return unused;
}

int main()
{
    pthread_t thread;
    if (pthread_create(&thread, nullptr, work, nullptr))
        return 1;
    work(nullptr);
    pthread_join(thread, nullptr);
    return 0;
}
