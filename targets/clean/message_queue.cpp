// Messages go through a queue with a mutex and a condition variable; the receiver then works on the message
// without the lock.

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

struct Message {
    int number;
};

static std::deque<std::unique_ptr<Message>> queue;
static std::mutex lock;
static std::condition_variable not_empty;

static void send(int number) {
    auto message = std::make_unique<Message>();
    message->number = number;
    std::lock_guard<std::mutex> hold(lock);
    queue.push_back(std::move(message));
    not_empty.notify_one();
}

static std::unique_ptr<Message> receive() {
    std::unique_lock<std::mutex> hold(lock);
    not_empty.wait(hold, [] { return !queue.empty(); });
    auto message = std::move(queue.front());
    queue.pop_front();
    return message;
}

int main() {
    std::thread sender([] {
        for (int i = 1; i <= 3; i++)
            send(i);
    });
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        auto message = receive();
        message->number *= 2;
        sum += message->number;
    }
    sender.join();
    return sum != 12;
}
