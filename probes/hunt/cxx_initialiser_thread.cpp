//~ about: a global object whose constructor starts a thread that uses another global object, which comes later
//~ revisions: racy ordered
//~[racy] truth: race
//~[ordered] truth: clean
#include <thread>
static int plain;
struct starts {
    std::thread t;
    starts() : t([] { plain++; }) {}
    ~starts()
    {
        if (t.joinable())
            t.join();
    }
};
static starts s;
int main()
{
#ifdef ORDERED
    s.t.join();
#endif
    plain++;
    return 0;
}
