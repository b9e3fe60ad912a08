// Prints names of places together with their relative addresses.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <vector>

extern "C" const char __ehdr_start;
static unsigned long relative(const volatile void *at) { return (unsigned long)((const char *)at - &__ehdr_start); }

__attribute__((noinline)) static void here(const char *name) {
  printf("code %lx %s\n", relative(__builtin_return_address(0)), name);
  __asm__ volatile("");
}

namespace shop {
struct Base { long serial; };
template <class Item> struct Shelf : Base {
  Item item;
  int count;
  static int total;
  __attribute__((noinline)) void put(Item) { here("shop::Shelf<int>::put"); __asm__ volatile(""); }
};
template <class Item> int Shelf<Item>::total;
Shelf<int> shelf;
std::mutex door;
std::atomic<int> visitors;
namespace {
int secret;
}
__attribute__((noinline)) void open(int) { here("shop::open"); __asm__ volatile(""); }
}  // namespace shop

std::vector<int> numbers;

#define PLACE(expression) printf("data %lx %s\n", relative(&(expression)), #expression)

int main() {
  using namespace shop;
  PLACE(shop::shelf.item);
  PLACE(shop::shelf.count);
  PLACE(shop::shelf.serial);
  PLACE(shop::Shelf<int>::total);
  PLACE(shop::door);
  PLACE(shop::visitors);
  PLACE(numbers);
  printf("data %lx shop::(anonymous namespace)::secret\n", relative(&secret));
  shelf.put(1);
  open(2);
  auto work = [](int) __attribute__((noinline)) { here("main::{lambda}"); __asm__ volatile(""); };
  work(3);
  return 0;
}
