//~ about: a variable in a section, reached by the symbol that the linker makes for its start
//~ truth: race
#include <pthread.h>
__attribute__((section("probe_table"), used)) int entry = 1;
extern int __start_probe_table[];
static void *one(void *arg) { entry = 2; return arg; }
static void *two(void *arg) { __start_probe_table[0] = 3; return arg; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
