//~ about: the C++ library linked statically, or another one
//~ revisions: static libcxx
//~[static] flags: -static-libstdc++ -static-libgcc
//~[libcxx] flags: -stdlib=libc++
//~[libcxx] may: refuse
//~ truth: race use-after-free double-free crash
#include <string>
#include <thread>
static std::string s(40, 'x');
int main()
{
    std::thread a([] { s.append("hello"); }), b([] { s.append("world"); });
    a.join();
    b.join();
}
