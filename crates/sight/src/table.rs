//! The reviewed functions.
//!
//! An entry is a name, then positions of arguments after colons: those whose memory is accessed where the detector does not see
//! it, the file (a path, a descriptor or a stream), and the flags or the mode. A `+` means all arguments from there on.
//! `fgets:0:2` writes to its first argument and reads from the stream that is its third.
//!
//! Before you add a function, check what it does to its caller's memory, to state inside the library, and to the kernel. If in
//! doubt, leave it out: that only costs a claim.

use crate::Effect;

/// All entries. Each name occurs once.
pub const ALL: [(Effect, &str); 24] = [
    (Effect::None, THREADS),
    (Effect::None, SIGNALS),
    (Effect::None, TIME),
    (Effect::None, MEMORY),
    (Effect::None, INPUT),
    (Effect::None, PROCESS),
    (Effect::None, TEXT),
    (Effect::None, CXX),
    (Effect::HiddenState, HIDDEN),
    (Effect::KernelState, KERNEL),
    (Effect::ProcessState, PROCESS_STATE),
    (Effect::DescriptorLook, DESCRIPTOR_LOOKS),
    (Effect::DescriptorChange, DESCRIPTOR_CHANGES),
    (Effect::Setting, SETTINGS),
    (Effect::Print, PRINTS),
    (Effect::Random, RANDOM),
    (Effect::Alias, "shmat"),
    (Effect::FileLook, LOOKS),
    (Effect::FileChange, CHANGES),
    (Effect::FileBoth, BOTH),
    (Effect::FilePosition, POSITIONS),
    (Effect::FileOpen, "open:0:0:1 __open_2:0:0:1 __open64_2:0:0:1 openat:1:1:2 __openat_2:1:1:2 __openat64_2:1:1:2"),
    (Effect::FileTemporary, "mkstemp mkostemp mkstemps mkostemps mkdtemp mktemp"),
    (Effect::FileOpenMode, "fopen:01:0:1 freopen:01:0:1"),
];

/// Prefixes of names that belong to the runtime, or to other instrumentation that does not affect the program.
pub const PREFIXES: [&str; 11] = [
    "__rh_",
    "racehunter_",
    "__tsan_",
    "Annotate",
    "WTFAnnotate",
    "__ubsan_handle_",
    "__sanitizer_",
    "__interceptor_",
    "__llvm_profile_",
    "llvm_gcda_",
    "__VERIFIER_",
];

/// The functions that Rust's compiler generates for the allocator of a program.
pub const ALLOCATOR_SHIM: [&str; 7] = [
    "__rust_alloc",
    "__rust_alloc_zeroed",
    "__rust_dealloc",
    "__rust_realloc",
    "__rust_alloc_error_handler",
    "__rust_alloc_error_handler_should_panic_v2",
    "__rust_no_alloc_shim_is_unstable_v2",
];

/// `<math.h>` and `<complex.h>`, except functions that write through pointers or to `signgam`. `errno` and the floating-point
/// environment belong to the thread.
pub const MATHEMATICS: &str = "
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 exp10 expm1 fabs fdim floor fma fmax
    fmin fmod hypot ilogb ldexp llrint llround log log10 log1p log2 logb lrint lround nearbyint nextafter nexttoward pow
    remainder rint round roundeven scalb scalbln scalbn sin sinh sqrt tan tanh tgamma trunc significand drem
    __finite __isinf __isnan __fpclassify __signbit finite isinf isnan j0 j1 jn y0 y1 yn
    cabs carg cimag creal cexp clog cpow csqrt csin ccos ctan conj cproj
    feclearexcept feraiseexcept fetestexcept fegetround fesetround";

/// Threads and synchronisation. The objects themselves have models; attributes, times and results are memory.
const THREADS: &str = "
    pthread_create:1 pthread_join pthread_tryjoin_np pthread_timedjoin_np:2 pthread_clockjoin_np:3 pthread_detach
    pthread_exit pthread_yield sched_yield pthread_self pthread_equal
    pthread_mutex_init:1 pthread_mutex_destroy pthread_mutex_lock pthread_mutex_trylock pthread_mutex_timedlock:1
    pthread_mutex_clocklock:2 pthread_mutex_unlock pthread_mutex_consistent pthread_mutex_consistent_np
    pthread_spin_init pthread_spin_destroy pthread_spin_lock pthread_spin_trylock pthread_spin_unlock
    pthread_cond_init:1 pthread_cond_destroy pthread_cond_wait pthread_cond_timedwait:2 pthread_cond_clockwait:3
    pthread_cond_signal pthread_cond_broadcast
    pthread_rwlock_init:1 pthread_rwlock_destroy pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_rwlock_tryrdlock
    pthread_rwlock_trywrlock pthread_rwlock_timedrdlock:1 pthread_rwlock_timedwrlock:1 pthread_rwlock_clockrdlock:2
    pthread_rwlock_clockwrlock:2 pthread_rwlock_unlock
    pthread_barrier_init:1 pthread_barrier_destroy pthread_barrier_wait
    sem_init sem_destroy sem_wait sem_trywait sem_timedwait:1 sem_clockwait:2 sem_post sem_getvalue:1 sem_close

    flockfile ftrylockfile funlockfile
    pthread_once call_once
    pthread_key_create:0 pthread_getspecific pthread_setspecific tss_create:0 tss_get tss_set
    thrd_create:0 thrd_join:1 thrd_detach thrd_exit thrd_yield thrd_sleep:01 thrd_current thrd_equal
    mtx_init mtx_lock mtx_trylock mtx_timedlock:1 mtx_unlock mtx_destroy
    cnd_init cnd_signal cnd_broadcast cnd_wait cnd_timedwait:2 cnd_destroy
    pthread_cancel pthread_testcancel pthread_setcancelstate:1 pthread_setcanceltype:1
    __pthread_register_cancel __pthread_unregister_cancel __pthread_unwind_next _pthread_cleanup_push
    _pthread_cleanup_pop
    pthread_attr_init:0 pthread_attr_destroy:0 pthread_attr_setdetachstate:0 pthread_attr_getdetachstate:01
    __pthread_get_minstack pthread_attr_setstacksize:0 pthread_attr_getstacksize:01 pthread_attr_setstack:0 pthread_attr_getstack:012
    pthread_attr_setguardsize:0 pthread_attr_getguardsize:01 pthread_attr_setscope:0 pthread_attr_setinheritsched:0
    pthread_attr_setschedpolicy:0 pthread_attr_setschedparam:01 pthread_attr_setaffinity_np:02 pthread_getattr_np:1
    pthread_mutexattr_init:0 pthread_mutexattr_destroy:0 pthread_mutexattr_settype:0 pthread_mutexattr_gettype:01
    pthread_mutexattr_setpshared:0 pthread_mutexattr_setrobust:0 pthread_mutexattr_setrobust_np:0 pthread_mutexattr_getrobust_np:01
    pthread_mutexattr_setprotocol:0 pthread_mutexattr_setprioceiling:0
    pthread_condattr_init:0 pthread_condattr_destroy:0 pthread_condattr_setclock:0 pthread_condattr_setpshared:0
    pthread_rwlockattr_init:0 pthread_rwlockattr_destroy:0 pthread_rwlockattr_setkind_np:0 pthread_rwlockattr_setpshared:0
    pthread_barrierattr_init:0 pthread_barrierattr_destroy:0 pthread_barrierattr_setpshared:0
    pthread_setaffinity_np:2 pthread_getaffinity_np:2 pthread_setname_np:1 pthread_getname_np:1 pthread_setschedparam:2
    pthread_getschedparam:12 pthread_setschedprio sched_get_priority_max
    sched_get_priority_min sched_setaffinity:2 sched_getaffinity:2 sched_setscheduler:2 sched_getscheduler sched_setparam:1 sched_getparam:1 nice setpriority getpriority __sched_cpucount:1
    __sched_cpualloc __sched_cpufree";

/// Signals, and jumps out of their handlers. Signal sets and jump buffers are memory.
const SIGNALS: &str = "
    __libc_current_sigrtmin __libc_current_sigrtmax sigprocmask:12 pthread_sigmask:12 sigpending:0
    sighold sigrelse sigblock sigsetmask siggetmask sigpause __sigpause __xpg_sigpause gsignal
    sigsuspend:0 pause sigwait:01 sigwaitinfo:01 sigtimedwait:012 kill killpg raise pthread_kill tgkill sigqueue
    pthread_sigqueue sigaltstack:01 abort sigemptyset:0 sigfillset:0 sigaddset:0 sigdelset:0 sigismember:0
    sigandset:012 sigorset:012 sigisemptyset:0
    setjmp:0 _setjmp:0 sigsetjmp:0 __sigsetjmp:0 longjmp:0 _longjmp:0 siglongjmp:0 __longjmp_chk:0
    timer_create:12 timerfd_create alarm ualarm setitimer:12 timer_settime:23 timer_delete timerfd_settime:23";

/// Clocks are virtual, and the same in every execution. Broken-down time is memory; the time zone is read at the start.
const TIME: &str = "
    nanosleep:01 clock_nanosleep:23 usleep sleep clock_gettime clock_getres:1 clock_getcpuclockid:1 pthread_getcpuclockid:1 gettimeofday:1 time timespec_get clock
    times:0 difftime gmtime_r:01 localtime_r:01 timegm:0 mktime:0 strftime:023 asctime_r:01 ctime_r:01
    _ZNSt6chrono3_V212system_clock3nowEv _ZNSt6chrono3_V212steady_clock3nowEv
    _ZNSt11this_thread11__sleep_forENSt6chrono8durationIlSt5ratioILl1ELl1EEEENS1_IlS2_ILl1ELl1000000000EEEE";

/// Allocation and mappings. The models of calls that map, unmap, lock and advise are points of their own.
const MEMORY: &str = "
    malloc calloc realloc reallocarray memalign aligned_alloc posix_memalign valloc pvalloc free cfree malloc_usable_size
    free_sized free_aligned_sized     malloc_trim mallopt mmap madvise mlock mlock2 mlockall munmap mremap mprotect
    _Znwm _Znam _ZdlPv _ZdlPvm _ZdaPv _ZdaPvm _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t _ZdlPvRKSt9nothrow_t
    _ZdaPvRKSt9nothrow_t _ZnwmSt11align_val_t _ZnamSt11align_val_t _ZdlPvSt11align_val_t _ZdaPvSt11align_val_t
    _ZdlPvmSt11align_val_t _ZdaPvmSt11align_val_t _ZnwmSt11align_val_tRKSt9nothrow_t _ZnamSt11align_val_tRKSt9nothrow_t";

/// Descriptors, pipes, sockets, and functions that wait for them. The runtime sees the data of `read`, `write` and similar
/// functions, but not the other memory involved.
const INPUT: &str = "
     close_range closefrom dup dup2 dup3 pipe pipe2 socket socketpair:3 eventfd epoll_create epoll_create1
    eventfd_read:1 eventfd_write fileno fileno_unlocked
    recv recvfrom:45 recvmsg:1 recvmmsg:14 send sendto:4 sendmsg:1 sendmmsg:1 accept:12 accept4:12
    shutdown __recv_chk __recvfrom_chk:56
    poll:0 ppoll:023 __poll_chk:0 __ppoll_chk:023 select:1234 pselect:12345 epoll_ctl:3 epoll_wait:1 epoll_pwait:14
    epoll_pwait2:134 __fdelt_chk __fdelt_warn flock lockf htonl htons ntohl ntohs inet_aton:01 inet_pton:12 inet_ntop:12

    memfd_create:0 tmpfile";

/// The process: its start, its end, its children (each of which the runtime notes), and constants.
const PROCESS: &str = "
    exit _exit _Exit quick_exit atexit at_quick_exit on_exit __assert_fail __assert __assert_perror_fail
    __stack_chk_fail __chk_fail __libc_start_main __errno_location errx:1+ err:1+
    fork vfork posix_spawn posix_spawnp system daemon wait waitpid wait3 wait4 waitid execl execle execlp execv execve
    execvp execvpe fexecve popen pclose pthread_atfork
    sysconf __sysconf getpagesize get_nprocs get_nprocs_conf getuid geteuid getgid getegid gnu_get_libc_version
    getauxval dlsym dlvsym dladdr:01 dlerror dl_iterate_phdr
    aio_read aio_write lio_listio aio_suspend swapcontext setcontext preadv2 pwritev2 semop semtimedop msgsnd msgrcv mq_send
    mq_receive mq_timedsend mq_timedreceive signalfd syscall getcontext:0 makecontext:0";

/// Numbers, characters and text. Accesses that the compiler plugin announces are listed here too, for calls that it does not
/// understand.
const TEXT: &str = "
    abs labs llabs imaxabs div ldiv lldiv imaxdiv ffs ffsl ffsll a64l
    frexp:1 frexpf:1 frexpl:1 modf:1 modff:1 modfl:1 sincos:12 sincosf:12 sincosl:12 remquo:2 remquof:2 remquol:2
    lgamma_r:1 lgammaf_r:1 nan:0 nanf:0 nanl:0
    __udivti3 __umodti3 __divti3 __modti3 __multi3 __muloti4 __mulodi4 __popcountdi2 __powidf2 __powisf2 __powixf2
    __mulsc3 __muldc3 __mulxc3 __divsc3 __divdc3 __divxc3 __addtf3 __subtf3 __multf3 __divtf3 __fixunsxfti __fixxfti
    __floatuntixf __floattixf __floatuntidf __floattidf __floatuntisf __fixdfti __fixunsdfti __extendxftf2 __trunctfxf2
    isalnum isalpha isascii isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit toascii tolower
    toupper __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __ctype_get_mb_cur_max
    iswalnum iswalpha iswblank iswcntrl iswdigit iswgraph iswlower iswprint iswpunct iswspace iswupper iswxdigit towlower
    towupper btowc wctob
    atoi:0 atol:0 atoll:0 atof:0 strtol:01 strtoul:01 strtoll:01 strtoull:01 strtoq:01 strtouq:01 strtoimax:01 strtoumax:01
    strtod:01 strtof:01 strtold:01 rand_r:0
    strlen:0 strnlen:0 strcpy:01 strncpy:01 stpcpy:01 stpncpy:01 strcat:01 strncat:01 strcmp:01 strncmp:01 strcasecmp:01
    strncasecmp:01 strcoll:01 strxfrm:01 strchr:0 strrchr:0 strchrnul:0 strdup:0 strndup:0 strstr:01 strcasestr:01 strspn:01
    strcspn:01 strpbrk:01 strtok_r:012 strsep:01 strlcpy:01 strlcat:01 strverscmp:01 index:0 rindex:0 basename:0
    memcmp:01 bcmp:01 memchr:0 memrchr:0 rawmemchr:0 memcpy:01 mempcpy:01 memmove:01 memset:0 memccpy:01 memmem:02 memfrob:0
    bcopy:01 bzero:0 explicit_bzero:0 swab:01 __rawmemchr:0 __strdup:0 __strtok_r:012 __stpcpy:01 __mempcpy:01
    __strndup:0
    wcslen:0 wcscpy:01 wcscat:01 wcscmp:01 wcsncmp:01 wcschr:0 wmemcpy:01 wmemset:0 mbstowcs:01 wcstombs:01
    sprintf:0+ snprintf:02+ vsprintf:0+ vsnprintf:02+ asprintf:0+ vasprintf:0+ __sprintf_chk:03+ __snprintf_chk:04+
    __vsprintf_chk:03+ __vsnprintf_chk:04+ sscanf:0+ vsscanf:0+
    qsort:0 qsort_r:03 bsearch:01 getsubopt:012 strerror_r:1 __xpg_strerror_r:1
    insque:01 remque:0 uname:0";

/// The C++ library: exceptions, threads, and what the headers leave to the shared library.
const CXX: &str = "
    __cxa_allocate_exception __cxa_free_exception __cxa_throw __cxa_rethrow __cxa_begin_catch __cxa_end_catch
    __cxa_get_exception_ptr __cxa_init_primary_exception __cxa_current_exception_type __cxa_pure_virtual
    __cxa_deleted_virtual __cxa_bad_cast __cxa_bad_typeid __cxa_throw_bad_array_new_length __cxa_call_unexpected
    __cxa_call_terminate __cxa_guard_acquire __cxa_guard_release __cxa_guard_abort __cxa_atexit __cxa_thread_atexit
    __cxa_thread_atexit_impl __cxa_finalize __cxa_vec_new __cxa_vec_delete __cxa_vec_ctor __cxa_vec_dtor __dynamic_cast
    __cxa_get_globals __gxx_personality_v0 __gcc_personality_v0
    _Unwind_Resume _Unwind_RaiseException _Unwind_Resume_or_Rethrow _Unwind_DeleteException _Unwind_Backtrace _Unwind_GetIP
    _Unwind_GetIPInfo _Unwind_SetIP _Unwind_GetGR _Unwind_SetGR _Unwind_GetCFA _Unwind_GetLanguageSpecificData
    _Unwind_GetRegionStart _Unwind_GetTextRelBase _Unwind_GetDataRelBase
    _ZSt9terminatev _ZSt15get_new_handlerv _ZSt18uncaught_exceptionv _ZSt19uncaught_exceptionsv
    _ZSt17current_exceptionv _ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE
    _ZNSt15__exception_ptr13exception_ptrC1Ev _ZNSt15__exception_ptr13exception_ptrC1EPv
    _ZNSt15__exception_ptr13exception_ptrC1ERKS0_ _ZNSt15__exception_ptr13exception_ptrD1Ev
    _ZNSt15__exception_ptr13exception_ptr9_M_addrefEv _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv
    _ZNSt15__exception_ptr13exception_ptr4swapERS0_ _ZNKSt15__exception_ptr13exception_ptr20__cxa_exception_typeEv
    _ZNSt15__exception_ptr13exception_ptraSERKS0_
    _ZNSt9exceptionD0Ev _ZNSt9exceptionD1Ev _ZNSt9exceptionD2Ev _ZNKSt9exception4whatEv
    _ZNSt9bad_allocD0Ev _ZNSt9bad_allocD1Ev _ZNSt9bad_allocD2Ev _ZNKSt9bad_alloc4whatEv _ZNSt8bad_castD1Ev _ZNSt8bad_castD2Ev
    _ZNSt11logic_errorC1EPKc:1 _ZNSt11logic_errorC2EPKc:1 _ZNSt13runtime_errorC1EPKc:1 _ZNSt13runtime_errorC2EPKc:1
    _ZNSt16invalid_argumentC1EPKc:1 _ZNSt12out_of_rangeC1EPKc:1 _ZNSt12length_errorC1EPKc:1 _ZNSt12domain_errorC1EPKc:1
    _ZNSt11range_errorC1EPKc:1 _ZNSt14overflow_errorC1EPKc:1 _ZNSt15underflow_errorC1EPKc:1
    _ZNSt11logic_errorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE:1
    _ZNSt11logic_errorC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE:1
    _ZNSt13runtime_errorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE:1
    _ZNSt13runtime_errorC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE:1
    _ZNSt16invalid_argumentC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE:1
    _ZNSt12out_of_rangeC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE:1
    _ZNSt11logic_errorC1ERKS_:1 _ZNSt11logic_errorC2ERKS_:1 _ZNSt13runtime_errorC1ERKS_:1 _ZNSt13runtime_errorC2ERKS_:1
    _ZNSt11logic_errorD0Ev _ZNSt11logic_errorD1Ev _ZNSt11logic_errorD2Ev _ZNKSt11logic_error4whatEv
    _ZNSt13runtime_errorD0Ev _ZNSt13runtime_errorD1Ev _ZNSt13runtime_errorD2Ev _ZNKSt13runtime_error4whatEv
    _ZNSt16invalid_argumentD1Ev _ZNSt12out_of_rangeD1Ev _ZNSt12length_errorD1Ev _ZNSt12domain_errorD1Ev
    _ZNSt11range_errorD1Ev _ZNSt14overflow_errorD1Ev _ZNSt15underflow_errorD1Ev _ZNSt12system_errorD1Ev
    _ZNSt3_V215system_categoryEv _ZNSt3_V216generic_categoryEv _ZSt15future_categoryv _ZNSt12future_errorD1Ev
    _ZNSt12future_errorD2Ev _ZNSt12future_errorD0Ev _ZNKSt12future_error4whatEv _ZNSt13bad_exceptionD1Ev
    _ZNKSt3_V214error_category23default_error_conditionEi _ZNKSt3_V214error_category10equivalentEiRKSt15error_condition
    _ZNKSt3_V214error_category10equivalentERKSt10error_codei
    _ZNSt6threadD1Ev _ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE
    _ZNSt6thread4joinEv _ZNSt6thread6detachEv _ZNSt6thread20hardware_concurrencyEv _ZNSt6thread6_StateD0Ev
    _ZNSt6thread6_StateD1Ev _ZNSt6thread6_StateD2Ev _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv
    _ZNSt18condition_variableC1Ev _ZNSt18condition_variableD1Ev _ZNSt18condition_variable10notify_oneEv
    _ZNSt18condition_variable10notify_allEv _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE
    _ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE
    _ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE
    _ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj
    _ZNSt13__future_base12_Result_baseC1Ev _ZNSt13__future_base12_Result_baseC2Ev _ZNSt13__future_base12_Result_baseD0Ev
    _ZNSt13__future_base12_Result_baseD1Ev _ZNSt13__future_base12_Result_baseD2Ev
    _ZNSt13__future_base19_Async_state_commonD1Ev
    _ZNSt10_Sp_lockerC1EPKv _ZNSt10_Sp_lockerC1EPKvS1_ _ZNSt10_Sp_lockerD1Ev
    _ZNSt19_Sp_make_shared_tag5_S_eqERKSt9type_info _ZNKSt9type_infoeqERKS_ _ZNKSt9type_info6beforeERKS_
    _ZNKSt9type_info15__is_pointer_pEv _ZNSt9type_infoD1Ev __once_proxy
    _ZNSt8ios_base4InitC1Ev _ZNSt8ios_base4InitD1Ev _ZNSt8ios_base7_M_initEv _ZNSt8ios_baseC2Ev _ZNSt8ios_baseD2Ev
    _ZNSt8ios_base15sync_with_stdioEb
    _ZNSt6localeC1Ev _ZNSt6localeC1ERKS_ _ZNSt6localeD1Ev _ZNKSt6locale2id5_M_idEv _ZNSt6locale7classicEv
    _ZNKSt6localeeqERKS_ _ZNKSt5ctypeIcE13_M_widen_initEv _ZNKSt5ctypeIcE14_M_narrow_initEv
    _ZNKSt5ctypeIcE8do_widenEc _ZNKSt5ctypeIcE9do_narrowEcc _ZNKSt5ctypeIcE10do_toupperEc _ZNKSt5ctypeIcE10do_tolowerEc";

/// State inside the C library that all callers share.
const HIDDEN: &str = "
    strtok rand srand random srandom initstate setstate drand48 erand48 lrand48 nrand48 mrand48 jrand48 srand48 seed48 lcong48
    getenv secure_getenv setenv putenv unsetenv clearenv localtime gmtime asctime ctime tzset strerror strsignal setlocale
    localeconv nl_langinfo newlocale uselocale duplocale freelocale getpwnam getpwuid getpwent setpwent endpwent getgrnam
    getgrgid getgrent gethostbyname gethostbyaddr gethostent getservbyname getservbyport getprotobyname getnetbyname
    getaddrinfo freeaddrinfo getnameinfo inet_ntoa tmpnam tempnam __xpg_basename
    dirname ttyname getlogin getopt getopt_long getopt_long_only hcreate hsearch hdestroy tsearch tfind tdelete twalk ecvt
    fcvt gcvt crypt encrypt setkey l64a lgamma lgammaf lgammal gamma signgam mblen mbtowc wctomb mbrtowc wcrtomb mbrlen mbsrtowcs wcsrtombs mtrace openlog closelog syslog vsyslog
    setlogmask setvbuf setbuf setlinebuf ungetc fts_open nftw ftw wordexp regcomp fwide catgets gettext textdomain
    ptsname cuserid backtrace backtrace_symbols sbrk brk res_query setutent getutent";

/// State of the kernel, other than files.
const KERNEL: &str = "
    getitimer:1 timer_gettime:1 timer_getoverrun timerfd_gettime:1 dlopen dlclose pthread_key_delete tss_delete setrlimit:1 prlimit:23
    chroot prctl setuid setgid seteuid setegid
    ioctl sethostname setsid setpgid tcgetattr tcsetattr shmget shmctl shmdt semget semctl
    msgget msgctl mq_open mq_close mq_unlink sysinfo klogctl personality ptrace quotactl mount umount
    statvfs:01 statfs:01 fstatfs:1 fstatvfs:1 sched_rr_get_interval inotify_init inotify_init1 inotify_rm_watch inotify_add_watch fanotify_init userfaultfd";

/// Process state in the kernel, and the names of all files: together one object, which has a model.
const PROCESS_STATE: &str = "
    umask chdir:0 fchdir getrlimit:1 getgroups:1 getpgid getpgrp readdir:0 readdir_r:012 seekdir:0 telldir:0
    rewinddir:0 closedir glob:03 getcwd:0 get_current_dir_name";

/// State of a descriptor, their first argument: flags, options, addresses, whether it is open.
const DESCRIPTOR_LOOKS: &str = "isatty fdopen:1 getsockname:12 getpeername:12 getsockopt:34";
const DESCRIPTOR_CHANGES: &str = "fcntl:2 setsockopt:3 close connect:1 bind:1 listen";

/// Other process state: signal actions, names of semaphores, memory protection.
const SETTINGS: &str = "
    signal bsd_signal ssignal sigset sigignore sysv_signal __sysv_signal sigaction:12 siginterrupt
    sem_open:0 sem_unlink:0 pthread_setconcurrency pthread_getconcurrency msync mincore:2 posix_madvise munlock munlockall";

/// What a program prints.
const PRINTS: &str = "printf:0+ vprintf:0+ __printf_chk:1+ __vprintf_chk:1+ puts:0 putchar putchar_unlocked perror:0";

/// Results that vary from execution to execution, or would if the runtime did not always return the same numbers: a claim must
/// not rely on them.
const RANDOM: &str = "
    getrandom getentropy arc4random arc4random_buf arc4random_uniform getpid getppid
    getsid gettid sched_getcpu getcpu gethostid getrusage getloadavg uuid_generate uuid_generate_random RAND_bytes
    _ZNSt13random_device7_M_initERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE _ZNSt13random_device9_M_getvalEv
    _ZNSt13random_device16_M_getval_pretr1Ev";

/// Read files.
const LOOKS: &str = "
    stat:01:0 lstat:01:0 fstat:1:0 fstatat:12:1 statx:14:1 __xstat:12:1 __lxstat:12:1 __fxstat:2:1 access:0:0 faccessat:1:1
    euidaccess:0:0 readlink:01:0 readlinkat:12:1 realpath:01:0 canonicalize_file_name:0:0
    opendir:0:0 fdopendir scandir:01:0 pread:1:0 preadv:1:0 pathconf:0:0";

/// Change files, with results that do not depend on their previous state. A pointer here is a stream.
const CHANGES: &str = "
    fflush::0 fflush_unlocked::0 write::0 writev::0 pwrite:1:0 pwritev:1:0 fsync::0 fdatasync::0 fclose::0
    fprintf:1+:0 vfprintf:1+:0 __fprintf_chk:2+:0 __vfprintf_chk:2+:0 dprintf:1+:0 vdprintf:1+:0
    fputs:0:1 fputs_unlocked:0:1 fputc::1 fputc_unlocked::1 putc::1 putc_unlocked::1 _IO_putc::1 __overflow::0
    fwrite:0:3 fwrite_unlocked:0:3";

/// Change files, with results that depend on their previous state.
const BOTH: &str = "
    creat:0:0 unlink:0:0 unlinkat:1:1 remove:0:0 rename:01:0:1 renameat:13:1:3 renameat2:13:1:3 link:01:0:1 linkat:13:1:3 symlink:01:1
    symlinkat:02:2 mkdir:0:0 mkdirat:1:1 rmdir:0:0 mkfifo:0:0 mknod:0:0 truncate:0:0 ftruncate::0 posix_fallocate::0
    fallocate::0 chmod:0:0 fchmod::0 fchmodat:1:1 chown:0:0 fchown::0 lchown:0:0 utime:01:0 utimes:01:0 utimensat:12:1
    futimens:1:0 shm_open:0:0 shm_unlink:0:0 sendfile:2:0:1 copy_file_range:13:2:0 splice:13:2:0
    _ZNSt12__basic_fileIcE4openEPKcSt13_Ios_Openmodei:1:1";

/// Use the position of a file. A pointer here is a stream; position 9 means standard input.
const POSITIONS: &str = "
    read::0 readv:1:0 __read_chk::0 lseek::0 fgetc::0 getc::0 _IO_getc::0 fgetc_unlocked::0 getc_unlocked::0 __uflow::0
    fgets:0:2 fgets_unlocked:0:2 __fgets_chk:0:3 fread:0:3 fread_unlocked:0:3 __fread_chk:0:4 getline:01:2 getdelim:01:3
    __getdelim:01:3 fscanf:1+:0 vfscanf:1+:0 scanf:0+:9 vscanf:0+:9 getchar::9 getchar_unlocked::9 fseek::0 fseeko::0 ftell::0 ftello::0
    rewind::0 fgetpos:1:0 fsetpos:1:0 feof::0 feof_unlocked::0 ferror::0 ferror_unlocked::0 clearerr::0";
