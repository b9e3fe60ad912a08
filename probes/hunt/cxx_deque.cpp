//~ about: std::deque: its size is computed from both ends, one of which moves
//~ truth: race crash
#include <deque>
#include <thread>
static std::deque<int> q{1, 2, 3, 4};
int main()
{
    std::thread a([] { q.push_back(5); }), b([] { volatile size_t n = q.size(); (void)n; });
    a.join();
    b.join();
}
