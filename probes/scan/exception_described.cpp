//~ about: the library asks an exception that ends the program what it is, which counts beside another thread
//~ truth: race
//~[fixed] truth: clean
//~ revisions: racy fixed
#include <exception>
#include <pthread.h>

static int asked;

struct Failure : std::exception {
    const char *what() const noexcept override
    {
#ifdef RACY
        asked++;
#endif
        return "failure";
    }
};

static void *work(void *)
{
    throw Failure();
}

int main()
{
    pthread_t thread;
    if (pthread_create(&thread, nullptr, work, nullptr))
        return 1;
    asked++;
    pthread_join(thread, nullptr);
    return 0;
}
