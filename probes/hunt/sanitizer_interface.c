//~ about: what programs tell ThreadSanitizer has the same meaning here, and links
//~ revisions: unaligned unaligned_ok range range_ok external external_ok order order_ok
//~[unaligned] truth: race
//~[unaligned] want: found
//~[unaligned_ok] truth: clean
//~[range] truth: race
//~[range] want: found
//~[range_ok] truth: clean
//~[external] truth: race
//~[external] want: found
//~[external_ok] truth: clean
//~[order] truth: race
//~[order] want: found
//~[order_ok] truth: clean
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
void __sanitizer_unaligned_store32(void *p, uint32_t v);
uint32_t __sanitizer_unaligned_load32(const void *p);
void __tsan_write_range_pc(void *p, unsigned long n, void *pc);
void __tsan_external_write(void *p, void *pc, void *tag);
void *__tsan_external_register_tag(const char *name);
int __tsan_get_report_data(void *report, ...);
void __tsan_check_no_mutexes_held(void);
void __sanitizer_syscall_pre_impl_read(long a, long b, long c);
FILE *__interceptor_fopen(const char *path, const char *mode);
void AnnotateIgnoreSyncBegin(const char *file, int line);
void AnnotateIgnoreSyncEnd(const char *file, int line);
#if defined UNALIGNED_OK || defined RANGE_OK || defined EXTERNAL_OK || defined ORDER || defined ORDER_OK
#define LOCKED
#endif
static char data[16];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg)
{
#ifdef ORDER
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
#endif
#ifdef LOCKED
    pthread_mutex_lock(&m);
#endif
#if defined UNALIGNED || defined UNALIGNED_OK
    __sanitizer_unaligned_store32(data + 1, 5);
#elif defined RANGE || defined RANGE_OK
    __tsan_write_range_pc(data, 12, __builtin_return_address(0));
#elif defined EXTERNAL || defined EXTERNAL_OK
    __tsan_external_write(data, __builtin_return_address(0), 0);
#else
    data[0]++;
#endif
#ifdef LOCKED
    pthread_mutex_unlock(&m);
#endif
#ifdef ORDER
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
#endif
    return arg;
}
int main(int count, char **words)
{
    (void)words;
    if (count > 5) {
        __tsan_get_report_data(0);
        __tsan_check_no_mutexes_held();
        __sanitizer_syscall_pre_impl_read(0, 0, 0);
        __interceptor_fopen("/dev/null", "r");
        return (int)__sanitizer_unaligned_load32(data) + (__tsan_external_register_tag("x") != 0);
    }
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
