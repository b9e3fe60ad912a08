//~ about: a cast reads the class of an object while another thread destroys it
//~ truth: data-race use-after-free crash
#include <new>
#include <pthread.h>
struct Base {
    int kept = 1;
    virtual ~Base() { kept = 0; }
};
struct Derived : Base {
    int number = 1;
    ~Derived() override { number = 0; }
};
alignas(Derived) static char memory[sizeof(Derived)];
static Base *object;
static volatile bool seen;
static void *work(void *p)
{
    seen = dynamic_cast<Derived *>(object) != nullptr;
    return p;
}
int main()
{
    pthread_t thread;
    object = new (memory) Derived;
    pthread_create(&thread, nullptr, work, nullptr);
    object->~Base();
    pthread_join(thread, nullptr);
    return 0;
}
