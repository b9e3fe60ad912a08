//! The C library's own functions, on which models build.

use crate::{Global, sys};
use core::ffi::{CStr, c_char};

unsafe extern "C" {
    fn dlsym(handle: *mut u8, name: *const c_char) -> *mut u8;
}

/// Returns the next definition after the runtime's.
pub(crate) unsafe fn next(name: &CStr) -> usize {
    const RTLD_NEXT: *mut u8 = usize::MAX as *mut u8;
    let found = dlsym(RTLD_NEXT, name.as_ptr()) as usize;
    if found == 0 {
        sys::complain(&["racehunter: the C library has no ", name.to_str().unwrap_or("?")], None);
        sys::exit_group(98);
    }
    found
}

/// The same for a name from assembly.
pub(crate) unsafe fn next_by_pointer(name: *const c_char) -> usize {
    next(CStr::from_ptr(name))
}

macro_rules! functions {
    ($($name:ident = $symbol:literal;)*) => { $(
        pub(crate) unsafe fn $name() -> usize {
            static FOUND: Global<usize> = Global::new(0);
            if FOUND.get() == 0 {
                FOUND.set(next($symbol));
            }
            FOUND.get()
        }
    )* };
}

functions! {
    create = c"pthread_create";
    set_specific = c"pthread_setspecific";
    get_specific = c"pthread_getspecific";
    key_create = c"pthread_key_create";
    key_delete = c"pthread_key_delete";
    c11_key_create = c"tss_create";
    mutex_init = c"pthread_mutex_init";
    cond_init = c"pthread_cond_init";
    start_main = c"__libc_start_main";
    exit_thread = c"pthread_exit";
    assert_fail = c"__assert_fail";
    exit = c"exit";
    quick_exit = c"quick_exit";
    at_quick_exit = c"__cxa_at_quick_exit";
    at_exit = c"__cxa_atexit";
    fork = c"fork";
    close_library = c"dlclose";
    abort = c"abort";
    set_jump = c"__sigsetjmp";
    long_jump = c"siglongjmp";
    cxx_start = c"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE";
    cxx_join = c"_ZNSt6thread4joinEv";
    make_ready = c"_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv";
    cxx_detach = c"_ZNSt6thread6detachEv";
    end_catch = c"__cxa_end_catch";
    exception_release = c"_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv";
    exception_destroy = c"_ZNSt15__exception_ptr13exception_ptrD1Ev";
    exception_destroy_base = c"_ZNSt15__exception_ptr13exception_ptrD2Ev";
    exception_assign = c"_ZNSt15__exception_ptr13exception_ptraSERKS0_";
    get_attributes = c"pthread_getattr_np";
    get_affinity = c"pthread_getaffinity_np";
    set_affinity = c"pthread_setaffinity_np";
    get_priority = c"pthread_getschedparam";
    set_priority = c"pthread_setschedparam";
    get_name = c"pthread_getname_np";
    set_name = c"pthread_setname_np";
    get_clock = c"pthread_getcpuclockid";
    lock_section = c"lockf";
    spawn = c"posix_spawn";
    spawn_by_name = c"posix_spawnp";
    spawn_actions_init = c"posix_spawn_file_actions_init";
    spawn_actions_copy = c"posix_spawn_file_actions_adddup2";
    spawn_actions_destroy = c"posix_spawn_file_actions_destroy";
    set_buffer_and_mode = c"setvbuf";
    set_buffer = c"setbuf";
    set_sized_buffer = c"setbuffer";
    open_stream = c"fdopen";
    open_named_stream = c"fopen";
    reopen_stream = c"freopen";
    open_temporary_stream = c"tmpfile";
    close_stream = c"fclose";
    close_process = c"pclose";
    underflow = c"__underflow";
    get_character = c"fgetc";
    get_line = c"fgets";
    get_items = c"fread";
    get_up_to = c"getdelim";
}
