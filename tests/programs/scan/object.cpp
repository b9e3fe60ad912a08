// verdict: race C
// Objects that are made for a thread, and one that all have, with a lock that nobody takes.
#include <pthread.h>

class Account {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    int balance = 0;

    struct Guard {
        pthread_mutex_t &lock;
        explicit Guard(pthread_mutex_t &lock) : lock(lock) { pthread_mutex_lock(&lock); }
        ~Guard() { pthread_mutex_unlock(&lock); }
    };

public:
    void add(int amount) {
        balance += amount;
    }
};

static Account common;

static void *work(void *) {
    Account *own = new Account;
    own->add(1);
    common.add(1);
    delete own;
    return nullptr;
}

int main() {
    pthread_t thread;
    pthread_create(&thread, nullptr, work, nullptr);
    work(nullptr);
    pthread_join(thread, nullptr);
    return 0;
}
