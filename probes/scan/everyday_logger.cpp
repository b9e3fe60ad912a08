//~ about: a logger collects lines; one revision counts them outside of the lock
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <mutex>
#include <string>
#include <thread>
#include <vector>
class Logger {
public:
    void log(const std::string &line)
    {
        std::lock_guard<std::mutex> guard(m);
        lines.push_back(line);
    }
    size_t count()
    {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(m);
#endif
        return lines.size();
    }

private:
    std::mutex m;
    std::vector<std::string> lines;
};
int main()
{
    Logger logger;
    std::thread a([&] { logger.log("a is here"); });
    logger.log("main is here");
    size_t seen = logger.count();
    a.join();
    return seen > 2;
}
