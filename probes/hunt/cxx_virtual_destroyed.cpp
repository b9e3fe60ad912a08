//~ about: a virtual function is called while the object is destroyed
//~ revisions: racy joined
//~[racy] truth: race use-after-free crash
//~[joined] truth: clean
#include <thread>
struct base {
    virtual void work() {}
    virtual ~base() {}
};
struct worker : base {
    int n = 0;
    std::thread t;
    worker() : t([this] { work(); }) {}
    void work() override { n++; }
    void join() { t.join(); }
    ~worker() override
    {
        if (t.joinable())
            t.join();
    }
};
struct derived : worker {
    int m = 0;
    void work() override { m++; }
};
int main()
{
#ifdef RACY
    derived d;
#else
    worker w;
    w.join();
#endif
    return 0;
}
