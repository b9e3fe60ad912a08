// Four transfers, each from one account to the next, with the locks of both.
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Account {
    std::mutex mutex;
    long balance = 100;
};

class Bank {
  public:
    Bank() {
        for (int account = 0; account < 4; account++)
            accounts_.push_back(std::make_unique<Account>());
    }
    void transfer(std::size_t from, std::size_t to, long amount) {
        std::lock_guard<std::mutex> first(accounts_[from]->mutex);
        std::lock_guard<std::mutex> second(accounts_[to]->mutex);
        accounts_[from]->balance -= amount;
        accounts_[to]->balance += amount;
    }

  private:
    std::vector<std::unique_ptr<Account>> accounts_;
};

int main() {
    Bank bank;
    std::vector<std::thread> threads;
    for (std::size_t from = 0; from < 4; from++)
        threads.emplace_back([&bank, from] { bank.transfer(from, (from + 1) % 4, 10); });
    for (auto &thread : threads)
        thread.join();
}
