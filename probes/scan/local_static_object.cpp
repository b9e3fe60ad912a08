//~ about: function-local static variables of C++, which are initialised once under a lock of the language
//~ revisions: fixed member written early reset
//~[fixed] truth: clean
//~[fixed] want: proved
//~[member] truth: clean
//~[written] truth: race
//~[early] truth: race
//~[reset] truth: race
#include <pthread.h>
struct table {
    int size;
    int entries[8];
    explicit table(int s)
        : size(s)
    {
        for (int i = 0; i < 8; i++)
            entries[i] = i * size;
    }
};
static int seed = 3;
static int *cached;
static table &the_table()
{
#ifdef EARLY
    // Whether it is initialised is looked up without the guard.
    if (cached)
        return *reinterpret_cast<table *>(cached);
#endif
    static table t(seed);
#ifdef EARLY
    cached = &t.size;
#endif
    return t;
}
struct holder {
    static int get()
    {
        static const int value = the_table().entries[2];
        return value;
    }
};
static void *work(void *p)
{
#if defined WRITTEN
    the_table().entries[1]++;
#elif defined RESET
    the_table().size = 0;
#elif defined MEMBER
    volatile int v = holder::get();
    (void)v;
#else
    volatile int v = the_table().entries[1];
    (void)v;
#endif
    return p;
}
int main()
{
    pthread_t a, b;
    (void)cached;
    pthread_create(&a, nullptr, work, nullptr);
    pthread_create(&b, nullptr, work, nullptr);
    pthread_join(a, nullptr);
    pthread_join(b, nullptr);
    return the_table().size == 100;
}
