//~ about: the result of a future is taken twice
//~ revisions: twice once
//~[twice] truth: crash exit-status
//~[once] truth: clean
#include <future>
#include <thread>
int main()
{
    std::packaged_task<int()> task([] { return 3; });
    std::future<int> result = task.get_future();
    std::thread t(std::move(task));
    int got = result.get();
#ifdef TWICE
    got += result.get();
#endif
    t.join();
    return got - 3;
}
