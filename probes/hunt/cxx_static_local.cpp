//~ about: the first of two threads initialises a static local
//~ truth: clean
#include <cassert>
#include <string>
#include <thread>
static int made;
struct Table {
    std::string name = "a name of more than fifteen letters";
    Table() { made++; }
};
static const Table &table()
{
    static const Table only;
    return only;
}
int main()
{
    auto look = [] { assert(table().name.size() == 35); };
    std::thread a(look), b(look);
    a.join();
    b.join();
    assert(made == 1);
}
