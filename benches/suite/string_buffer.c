// bug: assertion
// Appends one buffer to another. The length is read under the lock, the lock is given up, and the other thread erases what was
// to be copied.
#include <assert.h>
#include <pthread.h>
#include <string.h>

struct buffer {
    pthread_mutex_t lock;
    int length;
    char text[16];
};

static struct buffer from = {PTHREAD_MUTEX_INITIALIZER, 3, "abc"}, to = {PTHREAD_MUTEX_INITIALIZER, 0, ""};

static int length(struct buffer *b) {
    pthread_mutex_lock(&b->lock);
    int n = b->length;
    pthread_mutex_unlock(&b->lock);
    return n;
}

static void copy(struct buffer *b, int n, char *out) {
    pthread_mutex_lock(&b->lock);
    assert(n <= b->length);
    memcpy(out, b->text, n);
    pthread_mutex_unlock(&b->lock);
}

static void *append(void *unused) {
    char text[16];
    int n = length(&from);
    copy(&from, n, text);
    pthread_mutex_lock(&to.lock);
    memcpy(to.text + to.length, text, n);
    to.length += n;
    pthread_mutex_unlock(&to.lock);
    return unused;
}

static void *erase(void *unused) {
    pthread_mutex_lock(&from.lock);
    from.length = 0;
    pthread_mutex_unlock(&from.lock);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, append, 0);
    pthread_create(&threads[1], 0, erase, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
