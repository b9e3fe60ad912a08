// verdict: race-free A
#include <pthread.h>
#include <stdlib.h>

struct account {
    int balance;
    pthread_mutex_t lock;
};

struct account *accounts[3];

void *work(void *argument) {
    for (int i = 0; i < 3; i++) {
        struct account *account = accounts[i];
        struct account *held = account;
        pthread_mutex_lock(&held->lock);
        account->balance++;
        pthread_mutex_unlock(&held->lock);
    }
    return 0;
}

int main(void) {
    pthread_t one, two;
    for (int i = 0; i < 3; i++) {
        accounts[i] = calloc(1, sizeof(struct account));
        pthread_mutex_init(&accounts[i]->lock, 0);
    }
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, (void *)1);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
