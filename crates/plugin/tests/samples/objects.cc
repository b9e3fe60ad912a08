// C++: threads, exceptions, virtual functions, containers, coroutine-free but otherwise ordinary code.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

extern "C" int unknown(int);

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
  int tag = 0;
};
struct Square : Shape {
  double side;
  explicit Square(double s) : side(s) {}
  double area() const override { return side * side; }
};
struct Circle final : Shape {
  double radius;
  explicit Circle(double r) : radius(r) {}
  double area() const override { return 3.14159 * radius * radius; }
};

std::unique_ptr<Shape> make(bool round) {
  if (round)
    return std::make_unique<Circle>(2);
  return std::make_unique<Square>(3);
}

double total(const std::vector<std::unique_ptr<Shape>> &shapes) {
  double sum = 0;
  for (const auto &shape : shapes)
    sum += shape->area();
  return sum;
}

struct Guard {
  int *where;
  ~Guard() { *where = unknown(*where); }
};

int caught;
int guarded(int n) {
  Guard guard{&caught};
  try {
    if (unknown(n) > 3)
      throw std::runtime_error("too many");
    return caught;
  } catch (const std::runtime_error &error) {
    caught = static_cast<int>(std::string(error.what()).size());
    return -1;
  } catch (...) {
    caught = 0;
    throw;
  }
}

class Queue {
  std::mutex mutex;
  std::condition_variable filled;
  std::vector<int> items;

public:
  void push(int item) {
    std::lock_guard<std::mutex> lock(mutex);
    items.push_back(item);
    filled.notify_one();
  }
  int pop() {
    std::unique_lock<std::mutex> lock(mutex);
    filled.wait(lock, [this] { return !items.empty(); });
    int item = items.back();
    items.pop_back();
    return item;
  }
};

std::atomic<int> done{0};
std::map<std::string, int> names;
std::unordered_map<int, std::function<int(int)>> functions;
thread_local std::string own = "mine";

int work() {
  Queue queue;
  std::thread producer([&queue] {
    for (int i = 0; i < 10; i++)
      queue.push(i);
    done.fetch_add(1, std::memory_order_release);
  });
  int sum = 0;
  for (int i = 0; i < 10; i++)
    sum += queue.pop();
  producer.join();
  while (done.load(std::memory_order_acquire) == 0)
    std::this_thread::yield();
  names["sum"] += sum;
  functions[1] = [sum](int n) { return n + sum; };
  std::vector<int> sorted{3, 1, 2, sum};
  std::sort(sorted.begin(), sorted.end());
  own += std::to_string(sorted[0]);
  return functions[1](sorted.back()) + static_cast<int>(own.size());
}

static int singleton() {
  static const int value = unknown(5);
  return value;
}
int global = singleton();
