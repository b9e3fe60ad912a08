// A GoogleTest suite as users write it: the second test fails in some schedules only.
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

class Stock {
    mutable std::mutex mutex;
    int items;

public:
    explicit Stock(int items) : items(items) {}

    int count() const {
        std::lock_guard<std::mutex> guard(mutex);
        return items;
    }

    void take() {
        std::lock_guard<std::mutex> guard(mutex);
        --items;
    }

    // Another customer may take the last item between the two calls.
    bool sell() {
        if (count() == 0)
            return false;
        take();
        return true;
    }
};

TEST(Stock, SellsWhatItHas) {
    Stock stock(1);
    EXPECT_TRUE(stock.sell());
    EXPECT_FALSE(stock.sell());
}

TEST(Stock, NeverSellsMoreThanItHas) {
    Stock stock(1);
    std::thread first([&] { stock.sell(); });
    std::thread second([&] { stock.sell(); });
    first.join();
    second.join();
    EXPECT_GE(stock.count(), 0);
}
