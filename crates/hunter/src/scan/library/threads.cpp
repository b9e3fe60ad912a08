// C++ library functions that start and join threads and wait on conditions, in terms of POSIX functions, for the analysis
// only. None of this is executed. Each function is defined only if the program calls it.
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <thread>

extern "C" int __racehunter_any_int();

// Too many threads, a thread that cannot be joined: handlers of the program may see that.
[[maybe_unused]] static void may_fail()
{
    if (__racehunter_any_int())
        std::__throw_system_error(1);
}

#ifdef WANT_start
// The state of a thread belongs to the thread once it has started: the remaining pointer to it deletes nothing.
template <> void std::default_delete<std::thread::_State>::operator()(std::thread::_State *) const {}

std::thread::_State::~_State() = default;

extern "C" {
static void *std_thread(void *argument)
{
    auto *state = static_cast<std::thread::_State *>(argument);
    state->_M_run();
    delete state;
    return nullptr;
}
}

void std::thread::_M_start_thread(_State_ptr state, void (*)())
{
    may_fail();
    pthread_create(&_M_id._M_thread, nullptr, std_thread, state.get());
}
#endif

#ifdef WANT_join
void std::thread::join()
{
    may_fail();
    pthread_join(_M_id._M_thread, nullptr);
    _M_id = id();
}
#endif

#ifdef WANT_detach
void std::thread::detach()
{
    may_fail();
    pthread_detach(_M_id._M_thread);
    _M_id = id();
}
#endif

#ifdef WANT_condition
std::condition_variable::condition_variable() noexcept {}
std::condition_variable::~condition_variable() { pthread_cond_destroy(native_handle()); }
void std::condition_variable::wait(std::unique_lock<std::mutex> &lock)
{
    pthread_cond_wait(native_handle(), lock.mutex()->native_handle());
}
void std::condition_variable::notify_one() noexcept { pthread_cond_signal(native_handle()); }
void std::condition_variable::notify_all() noexcept { pthread_cond_broadcast(native_handle()); }
#endif
