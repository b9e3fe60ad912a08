// Read in place of libstdc++'s <bits/atomic_wait.h>, which it includes.
//
// Before a thread waits for an atomic, libstdc++ looks at it a few times and yields in between. A schedule honours yields, so a
// missing `notify` would hide behind them: the thread that waits would nearly always see the new value before it sleeps. Without the
// yields the thread looks as often, and sleeps like any other that waits. `std::this_thread::yield` is left as it is.

#pragma GCC system_header

#include <bits/c++config.h>

#if defined _GLIBCXX_HAS_GTHREADS
#include <bits/gthr.h>
#define __gthread_yield() ((void)0)
#include_next <bits/atomic_wait.h>
#undef __gthread_yield
#else
#include_next <bits/atomic_wait.h>
#endif
