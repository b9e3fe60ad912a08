//~ about: the library is loaded by both threads, and changes a variable of ours
//~ with: foreign/by_pointer.c gcc-loaded
//~ flags: -ldl
//~ args: {dir}/by_pointer.so
//~ truth: assertion race
//~ want: no-claim
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
static int n;
static void *add(void *path)
{
    void *lib = dlopen(path, RTLD_NOW);
    if (!lib)
        abort();
    void (*f)(int *) = (void (*)(int *))dlsym(lib, "add_to");
    f(&n);
    return 0;
}
int main(int argc, char **argv)
{
    pthread_t a, b;
    if (argc < 2)
        return 0;
    pthread_create(&a, 0, add, argv[1]);
    pthread_create(&b, 0, add, argv[1]);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(n == 2);
    return 0;
}
