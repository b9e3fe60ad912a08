//~ about: nodes of lists and trees, and the growth of hash tables, which the C++ library changes in functions of its own
//~ revisions: map_bug map_fixed walk_bug walk_fixed list_bug list_fixed splice_bug splice_fixed hash_bug hash_fixed text_bug text_fixed
//~[map_bug] truth: race crash use-after-free
//~[walk_bug] truth: race crash use-after-free
//~[list_bug] truth: race crash use-after-free
//~[splice_bug] truth: race crash misuse use-after-free
//~[hash_bug] truth: race crash use-after-free
//~[text_bug] truth: race
//~[map_fixed] truth: clean
//~[walk_fixed] truth: clean
//~[list_fixed] truth: clean
//~[splice_fixed] truth: clean
//~[hash_fixed] truth: clean
//~[text_fixed] truth: clean
//~[map_bug] want: found
//~[walk_bug] want: found
//~[list_bug] want: found
//~[splice_bug] want: found
//~[hash_bug] want: found
//~[text_bug] want: found
//~[map_fixed] want: proved
//~[walk_fixed] want: proved
//~[list_fixed] want: proved
//~[splice_fixed] want: proved
//~[hash_fixed] want: proved
//~[text_fixed] want: proved
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

static std::mutex mutex;
static std::map<int, int> tree{{1, 1}, {3, 3}, {5, 5}};
static std::list<int> list{1, 2}, other{3};
static std::unordered_map<int, int> table;
static std::string text = "a key";

#if defined MAP_BUG || defined WALK_BUG || defined LIST_BUG || defined SPLICE_BUG || defined HASH_BUG || defined TEXT_BUG
struct Section {};
#else
struct Section {
    std::lock_guard<std::mutex> guard{mutex};
};
#endif

static void change()
{
    [[maybe_unused]] Section section;
#if defined MAP_BUG || defined MAP_FIXED
    tree.erase(1);
    tree.emplace(4, 4);
#elif defined WALK_BUG || defined WALK_FIXED
    tree.erase(3);
#elif defined LIST_BUG || defined LIST_FIXED
    list.push_back(3);
#elif defined SPLICE_BUG || defined SPLICE_FIXED
    list.splice(list.begin(), other);
#elif defined HASH_BUG || defined HASH_FIXED
    for (int number = 0; number < 14; number++)
        table[number] = number;
#else
    text[0] = 'b';
#endif
}

static int use()
{
    [[maybe_unused]] Section section;
    int sum = 0;
#if defined MAP_BUG || defined MAP_FIXED
    tree.emplace(2, 2);
#elif defined WALK_BUG || defined WALK_FIXED
    for (const auto &pair : tree)
        sum += pair.second;
#elif defined LIST_BUG || defined LIST_FIXED
    list.reverse();
#elif defined SPLICE_BUG || defined SPLICE_FIXED
    std::list<int> mine;
    mine.swap(list);
#elif defined HASH_BUG || defined HASH_FIXED
    sum = static_cast<int>(table.count(7));
#else
    sum = static_cast<int>(std::hash<std::string>()(text) & 1);
#endif
    return sum;
}

int main()
{
    std::thread thread(change);
    const int sum = use();
    thread.join();
    return sum < 0;
}
