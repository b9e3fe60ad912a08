//~ about: threads share an object by `shared_ptr` and lock it; in one revision one of them does not
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <memory>
#include <mutex>
#include <thread>
struct Job {
    std::mutex m;
    int steps = 0;
};
int main()
{
    auto job = std::make_shared<Job>();
    std::thread a([job] {
        std::lock_guard<std::mutex> guard(job->m);
        job->steps++;
    });
    std::thread b([job] {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(job->m);
#endif
        job->steps++;
    });
    a.join();
    b.join();
    return job->steps == 2 ? 0 : 1;
}
