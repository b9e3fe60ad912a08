// A program that ends, in one thread: what it does is compared with what the hooks said.
#include <atomic>
#include <csetjmp>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

int counter;
std::atomic<long> shared{1};
std::jmp_buf buffer;
volatile int depth = 5;

struct Base {
  virtual ~Base() {}
  virtual int value() { return counter; }
};
struct Derived : Base {
  int value() override { return counter + 1; }
};

[[gnu::noinline]] int thrower(int n) {
  counter++;
  if (n == 0)
    throw std::runtime_error("bottom");
  return thrower(n - 1) + 1;
}
[[gnu::noinline]] int catcher() {
  try {
    return thrower(depth);
  } catch (const std::runtime_error &) {
    counter += 10;
    return -1;
  }
}
[[gnu::noinline]] void jumper(int n) {
  counter++;
  if (n == 0)
    std::longjmp(buffer, 7);
  jumper(n - 1);
  counter++;
}
[[gnu::noinline]] int jumped() {
  int how = setjmp(buffer);
  if (how == 0)
    jumper(depth);
  return how;
}
[[gnu::noinline]] long exchange(long expected) {
  shared.compare_exchange_strong(expected, 5);
  return shared.fetch_add(1);
}
[[gnu::noinline]] void copy(char *to, const char *from, size_t n) { std::memcpy(to, from, n); }

int main() {
  std::unique_ptr<Base> object = std::make_unique<Derived>();
  std::vector<int> values;
  for (int i = 0; i < depth; i++)
    values.push_back(object->value());
  char text[16], other[16] = "hello";
  copy(text, other, static_cast<size_t>(depth));
  bool right = catcher() == -1 && jumped() == 7 && exchange(1) == 5 && values.size() == 5 && values[4] == 1 &&
               std::memcmp(text, "hello", 5) == 0 && counter == 6 + 10 + 6;
  return right ? 0 : 1;
}
