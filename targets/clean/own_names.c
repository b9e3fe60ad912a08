// Functions of the program that happen to have names of the C library's, and nothing to do with them.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int edges[4][4];

void connect(int from, int to) {
    pthread_mutex_lock(&lock);
    edges[from][to]++;
    pthread_mutex_unlock(&lock);
}

int select(int row) {
    pthread_mutex_lock(&lock);
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += edges[row][i];
    pthread_mutex_unlock(&lock);
    return sum;
}

void pause(int times) {
    for (int i = 0; i < times; i++)
        connect(i % 4, 3);
}

static void *work(void *unused) {
    pause(2);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pause(2);
    pthread_join(thread, NULL);
    assert(select(0) == 2 && select(1) == 2);
    return 0;
}
