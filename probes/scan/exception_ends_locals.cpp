//~ about: an exception ends a function whose local variable another thread still uses
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static pthread_t helper;
static void *count(void *number)
{
    ++*static_cast<int *>(number);
    return nullptr;
}
static void fail(int code)
{
    if (code)
        throw code;
}
static void work(int code)
{
    int number = 0;
    pthread_create(&helper, nullptr, count, &number);
#ifdef FIXED
    pthread_join(helper, nullptr);
#endif
    fail(code);
#ifdef BUG
    pthread_join(helper, nullptr);
#endif
}
static int reused(int number)
{
    volatile int numbers[16] = {number, 1, 2, 3};
    return numbers[number & 3];
}
int main()
{
    int sum = 0;
    try {
        work(1);
    } catch (int code) {
        sum = reused(code);
#ifdef BUG
        pthread_join(helper, nullptr);
#endif
    }
    return sum < 0;
}
