// A derived class may place its members into the tail padding of its base. Writing the last member of the base
// must not count as writing them.

#include <thread>

class Base {
public:
    int number = 0;
    char base_flag = 0;
    virtual ~Base() = default;
};

class Derived : public Base {
public:
    char derived_flag = 0;
};

int main() {
    Derived object;
    std::thread first([&object] { object.base_flag = 1; });
    std::thread second([&object] { object.derived_flag = 2; });
    first.join();
    second.join();
    return object.base_flag + object.derived_flag != 3;
}
