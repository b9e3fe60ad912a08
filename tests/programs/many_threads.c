// Twelve threads serve a shop: each takes orders from a shelf under a lock, and books what it has sold. The booking reads the number of
// sold articles, lets go of the lock, and writes it back: two bookings at the same time lose one.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

enum { THREADS = 12, ORDERS = 120 };

static pthread_mutex_t shelf_lock = PTHREAD_MUTEX_INITIALIZER, books_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static bool open_for_business;
static int shelf = ORDERS, sold;

static int sold_so_far(void) {
    pthread_mutex_lock(&books_lock);
    int count = sold;
    pthread_mutex_unlock(&books_lock);
    return count;
}

static void book(int count) {
    pthread_mutex_lock(&books_lock);
    sold = count;
    pthread_mutex_unlock(&books_lock);
}

static bool take(void) {
    pthread_mutex_lock(&shelf_lock);
    while (!open_for_business)
        pthread_cond_wait(&opened, &shelf_lock);
    bool taken = shelf > 0;
    shelf -= taken;
    pthread_mutex_unlock(&shelf_lock);
    return taken;
}

static void *serve(void *unused) {
    while (take())
        book(sold_so_far() + 1);
    return unused;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, serve, 0);
    pthread_mutex_lock(&shelf_lock);
    open_for_business = true;
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&shelf_lock);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    assert(sold == ORDERS);
    return 0;
}
