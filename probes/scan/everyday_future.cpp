//~ about: two halves are computed by `std::async`; in one revision both write one variable
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <future>
#include <vector>
static int last;
static int sum(const std::vector<int> &numbers, size_t from, size_t to)
{
    int result = 0;
    for (size_t i = from; i < to; i++)
        result += numbers[i];
#ifdef BUG
    last = result;
#endif
    return result;
}
int main()
{
    std::vector<int> numbers(10, 1);
    auto half = std::async(std::launch::async, [&] { return sum(numbers, 0, 5); });
    int other = sum(numbers, 5, 10);
    return half.get() + other + last < 10;
}
