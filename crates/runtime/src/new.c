/* operator new, for the place that it is called from. In C for one reason: an exception may pass through it.

   Weak, like everything that a program may define itself. It calls whatever malloc the program has. */
extern void *malloc(unsigned long size);
extern void abort(void) __attribute__((noreturn));
/* Those of the C++ library, where there is one. */
extern void (*_ZSt15get_new_handlerv(void))(void) __attribute__((weak));
extern void _ZSt17__throw_bad_allocv(void) __attribute__((weak, noreturn));

/* Where the program has called it. */
void *rh_new_caller;

__attribute__((weak)) void *_Znwm(unsigned long size) {
    void *caller = __builtin_return_address(0);
    for (;;) {
        rh_new_caller = caller;
        void *block = malloc(size ? size : 1);
        if (block)
            return block;
        void (*handler)(void) = _ZSt15get_new_handlerv ? _ZSt15get_new_handlerv() : 0;
        if (handler)
            handler();
        else if (_ZSt17__throw_bad_allocv)
            _ZSt17__throw_bad_allocv();
        else
            abort();
    }
}
