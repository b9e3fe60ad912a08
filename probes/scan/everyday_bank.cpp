//~ about: accounts with a mutex each; a transfer locks both by `scoped_lock`, in one revision only one
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <mutex>
#include <thread>
struct Account {
    std::mutex m;
    int balance = 100;
};
static void transfer(Account &from, Account &to, int amount)
{
#ifdef FIXED
    std::scoped_lock lock(from.m, to.m);
#else
    std::lock_guard<std::mutex> lock(from.m);
#endif
    from.balance -= amount;
    to.balance += amount;
}
int main()
{
    Account one, other;
    std::thread a([&] { transfer(one, other, 10); });
    std::thread b([&] { transfer(other, one, 20); });
    a.join();
    b.join();
    return one.balance + other.balance == 200 ? 0 : 1;
}
