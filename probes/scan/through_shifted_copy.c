//~ about: pointers that are moved within a table, again and again
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <string.h>
static int x, y;
static int *table[4] = {&x, &y, &y, &y};
static void *one(void *p)
{
    *table[2] = 1;
    return p;
}
int main(void)
{
    pthread_t a;
#ifdef BUG
    for (int i = 0; i < 2; i++)
        memmove(table + 1, table, 3 * sizeof *table);
#endif
    pthread_create(&a, 0, one, 0);
    x = 2;
    pthread_join(a, 0);
    return 0;
}
