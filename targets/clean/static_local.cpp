// A static local variable is initialised once, however many threads come at the same time; the compiler's guard
// orders its constructor before every use.

#include <thread>

struct Table {
    int cells[4];
    Table() {
        for (int i = 0; i < 4; i++)
            cells[i] = i * i;
    }
};

static const Table &table() {
    static Table instance;
    return instance;
}

static void look_up(int index, int &result) { result = table().cells[index]; }

int main() {
    int first_result = 0, second_result = 0;
    std::thread first(look_up, 2, std::ref(first_result));
    std::thread second(look_up, 3, std::ref(second_result));
    first.join();
    second.join();
    return first_result != 4 || second_result != 9;
}
