//~ about: the last one that has an exception destroys it, after all others have given it up
//~ revisions: clean race
//~[clean] truth: clean
//~[race] truth: race
//~[race] want: found
//~ flags: -std=c++20
#include <cassert>
#include <exception>
#include <thread>
struct Failure {
    int value;
    explicit Failure(int value) : value(value) {}
    Failure(const Failure &) = default;
    ~Failure() { value = -1; }
};
static void look(std::exception_ptr &pointer) {
    try {
        std::rethrow_exception(pointer);
    } catch (Failure &failure) {
        assert(failure.value == 5 || failure.value == 6);
#ifdef RACE
        failure.value = 6;
#endif
    }
    pointer = nullptr;
}
int main() {
    std::exception_ptr pointer;
    try {
        throw Failure(5);
    } catch (...) {
        pointer = std::current_exception();
    }
    std::thread other([copy = pointer]() mutable { look(copy); });
    look(pointer);
    other.join();
}
