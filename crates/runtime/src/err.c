/* err and errx. Those of the C library end the program by its own exit, which cannot be intercepted. */
#include <stdarg.h>

extern void vwarn(const char *format, va_list list);
extern void vwarnx(const char *format, va_list list);
extern void rh_exit(int status, void *code) __attribute__((noreturn));

#define WEAK __attribute__((weak, noreturn))

WEAK void verr(int status, const char *format, va_list list) {
    vwarn(format, list);
    rh_exit(status, __builtin_return_address(0));
}

WEAK void verrx(int status, const char *format, va_list list) {
    vwarnx(format, list);
    rh_exit(status, __builtin_return_address(0));
}

WEAK void err(int status, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vwarn(format, list);
    va_end(list);
    rh_exit(status, __builtin_return_address(0));
}

WEAK void errx(int status, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vwarnx(format, list);
    va_end(list);
    rh_exit(status, __builtin_return_address(0));
}
