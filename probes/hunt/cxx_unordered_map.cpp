//~ about: std::unordered_map: operator[] may insert, find does not
//~ revisions: index find
//~[index] truth: race
//~[find] truth: clean
#include <thread>
#include <unordered_map>
static std::unordered_map<int, int> table{{1, 1}, {2, 2}};
static int got[2];
static void look(int me)
{
#ifdef INDEX
    got[me] = table[me + 5];
#else
    auto found = table.find(me + 1);
    got[me] = found == table.end() ? 0 : found->second;
#endif
}
int main()
{
    std::thread a(look, 0), b(look, 1);
    a.join();
    b.join();
    return 0;
}
