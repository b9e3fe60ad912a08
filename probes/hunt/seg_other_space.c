//~ about: memory is used by pointers of another segment, which nothing tells the address of
//~ truth: race use-after-free
//~ must-not: proved
#include <pthread.h>
static __thread int own;
static int *published;
static pthread_barrier_t barrier;
static void *owns(void *unused) {
    int __seg_fs *through_segment;
    published = &own;
    pthread_barrier_wait(&barrier);
    long base;
    __asm__("mov %%fs:0, %0" : "=r"(base));
    through_segment = (int __seg_fs *)((long)&own - base);
    *through_segment = 1;
    return unused;
}
static void *meddles(void *unused) {
    pthread_barrier_wait(&barrier);
    *published = 2;
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&a, NULL, owns, NULL);
    pthread_create(&b, NULL, meddles, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
