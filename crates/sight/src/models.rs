//! What functions of the C library do to memory of their callers, and to state of their own.
//!
//! An entry is a line: names, a colon, then the accesses of a call. The runtime announces those that are known before the call,
//! and adds those that depend on its result when it has returned. An access is
//!
//! ```text
//! [>] direction place [length] [condition]
//! ```
//!
//! | part | |
//! |---|---|
//! | `>` | known only when the call has returned; before it, the place is a scheduling point and nothing more |
//! | direction | `r` read, `w` written, `m` read and written, `a` changed under a lock of the library's own: a point, never a race |
//! | place | `2` the memory argument 2 points to, `*2` that to which the pointer there points, `=` what the result points to, `$name` hidden state, `@name` a variable of the library that programs can use |
//! | length | `.8` bytes, `s` a string with its end, `s2` one of at most so many bytes as argument 2 says, `l1` as long as the string at argument 1, `n2` argument 2, `n1x2` their product, `n2k4` four times argument 2, `f0` a set of so many descriptors, `i2` the number at argument 2, `v` the result, `v2` the same, at most argument 2, `vk4` four times it, `vx1` times argument 1, `j` the result and one more, `j2` the same, at most argument 2, `e` up to where the result points, or the whole string, `e2` the same for a block |
//! | | `z`, `z2`, `y1`, `t2` and `q`: as `s`, `s2`, `l1`, `j2` and `e`, for wide characters |
//! | condition | `?` the result is not zero, `!` it is zero, `+` it is not negative |
//!
//! `#word` is a routine of the runtime, for what has no such form. `&` says that not everything is covered: the call is noted as
//! not seen beside. Sizes are those of x86-64.
//!
//! What POSIX allows to race inside of the library, and the GNU C library protects by a lock (`rand`), is `a`: schedules in which
//! the order differs are explored, and no race is reported.

/// One access of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch<'a> {
    /// Known only when the call has returned.
    pub is_after: bool,
    /// What happens to the memory.
    pub direction: Direction,
    /// Where it is.
    pub place: Place<'a>,
    /// How much of it.
    pub length: Length,
    /// When it happens, by the result.
    pub condition: Condition,
}

/// What happens to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It is read, then written.
    Modify,
    /// It is changed under a lock that is not seen.
    Locked,
}

/// Where memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// Behind a pointer.
    Argument(u8),
    /// Behind a pointer that is behind a pointer.
    Behind(u8),
    /// Where the result points.
    Result,
    /// Inside the library.
    Hidden(&'a str),
    /// A variable of the library that programs can use too.
    Variable(&'a str),
}

/// How much memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// So many bytes.
    Bytes(u32),
    /// A string with its end, of characters of a size, of at most so many as an argument says.
    Text(u8, Option<u8>),
    /// As much as the string has that another argument points to.
    As(u8, u8),
    /// An argument, times another, times a number.
    Product(u8, Option<u8>, u32),
    /// A set of descriptors.
    Descriptors(u8),
    /// The result, times an argument, times a number.
    Result(Option<u8>, u32),
    /// The result, at most an argument.
    ResultUpTo(u8),
    /// The result and one more, in units of some bytes, at most as many as an argument says.
    ResultAndOne(u8, Option<u8>),
    /// The number of 32 bits to which an argument points.
    Pointed(u8),
    /// Up to where the result points; else the whole string of characters of a size, or as many bytes as an argument says.
    UpToResult(u8, Option<u8>),
}

/// What the result must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Anything.
    Always,
    /// Not zero.
    Something,
    /// Zero.
    Zero,
    /// Not negative.
    Success,
}

/// A part of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// An access.
    Touch(Touch<'a>),
    /// A routine of the runtime with its numbers.
    Routine(&'a str, u8),
    /// Not everything is covered.
    Partly,
}

/// The model of a function, by the name that the linker knows.
#[must_use]
pub fn of(name: &str) -> Option<&'static str> {
    exactly(name).or_else(|| crate::plain(name).and_then(exactly))
}

/// The model of a name as it is.
pub(crate) fn exactly(name: &str) -> Option<&'static str> {
    ALL.iter().find_map(|(names, model)| names.split_ascii_whitespace().any(|known| known == name).then_some(*model))
}

/// The parts of a model. What is not understood ends it.
pub fn parts(model: &str) -> impl Iterator<Item = Part<'_>> {
    model.split_ascii_whitespace().map_while(part)
}

fn part(text: &str) -> Option<Part<'_>> {
    if text == "&" {
        return Some(Part::Partly);
    }
    if let Some(routine) = text.strip_prefix('#') {
        let end = routine.find(|letter: char| letter.is_ascii_digit()).unwrap_or(routine.len());
        return Some(Part::Routine(&routine[..end], routine[end..].parse().unwrap_or(u8::MAX)));
    }
    let (is_after, text) = match text.strip_prefix('>') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (direction, rest) = text.split_at_checked(1)?;
    let direction = match direction {
        "r" => Direction::Read,
        "w" => Direction::Write,
        "m" => Direction::Modify,
        "a" => Direction::Locked,
        _ => return None,
    };
    if let Some(name) = rest.strip_prefix('$') {
        let touch = Touch {
            is_after,
            direction,
            place: Place::Hidden(name),
            length: Length::Bytes(1),
            condition: Condition::Always,
        };
        return Some(Part::Touch(touch));
    }
    if let Some(named) = rest.strip_prefix('@') {
        let (name, bytes) = named.split_once('.')?;
        let (place, length) = (Place::Variable(name), Length::Bytes(bytes.parse().ok()?));
        return Some(Part::Touch(Touch { is_after, direction, place, length, condition: Condition::Always }));
    }
    let mut bytes = rest.bytes();
    let place = match bytes.next()? {
        b'*' => Place::Behind(digit(bytes.next()?)?),
        b'=' => Place::Result,
        byte => Place::Argument(digit(byte)?),
    };
    let rest = &rest[rest.len() - bytes.len()..];
    let (rest, condition) = match rest.as_bytes().last() {
        Some(b'?') => (&rest[..rest.len() - 1], Condition::Something),
        Some(b'!') => (&rest[..rest.len() - 1], Condition::Zero),
        Some(b'+') => (&rest[..rest.len() - 1], Condition::Success),
        _ => (rest, Condition::Always),
    };
    Some(Part::Touch(Touch { is_after, direction, place, length: length(rest)?, condition }))
}

fn digit(byte: u8) -> Option<u8> {
    byte.is_ascii_digit().then(|| byte - b'0')
}

fn length(text: &str) -> Option<Length> {
    let (kind, rest) = text.split_at_checked(1)?;
    let argument = |text: &str| text.bytes().next().and_then(digit);
    let factor = |rest: &str| rest.strip_prefix('k').map_or(Some(1), |number| number.parse().ok());
    Some(match kind {
        "." => Length::Bytes(rest.parse().ok()?),
        "s" => Length::Text(1, argument(rest)),
        "z" => Length::Text(4, argument(rest)),
        "l" => Length::As(1, argument(rest)?),
        "y" => Length::As(4, argument(rest)?),
        "n" => {
            let first = argument(rest)?;
            let rest = &rest[1..];
            match rest.strip_prefix('x') {
                Some(second) => Length::Product(first, Some(argument(second)?), 1),
                None => Length::Product(first, None, factor(rest)?),
            }
        }
        "f" => Length::Descriptors(argument(rest)?),
        "v" => match rest.strip_prefix('x') {
            Some(second) => Length::Result(Some(argument(second)?), 1),
            None => match argument(rest) {
                Some(most) => Length::ResultUpTo(most),
                None => Length::Result(None, factor(rest)?),
            },
        },
        "j" => Length::ResultAndOne(1, argument(rest)),
        "t" => Length::ResultAndOne(4, argument(rest)),
        "i" => Length::Pointed(argument(rest)?),
        "e" => Length::UpToResult(1, argument(rest)),
        "q" => Length::UpToResult(4, argument(rest)),
        _ => return None,
    })
}

/// The names of hidden state. What they are in the runtime must be the same, in the same order.
pub const HIDDEN: &[&str] = &[
    "asctime",
    "crypt",
    "ctermid",
    "drand48",
    "ecvt",
    "environment",
    "ether_aton",
    "ether_ntoa",
    "getdate",
    "getfsent",
    "getgrent",
    "getgrnam",
    "gethostbyname",
    "gethostent",
    "getlogin",
    "getmntent",
    "getnetbyname",
    "getnetent",
    "getopt",
    "getpass",
    "getprotobyname",
    "getprotoent",
    "getpwent",
    "getpwnam",
    "getservbyname",
    "getservent",
    "getttyent",
    "getusershell",
    "getutent",
    "hsearch",
    "l64a",
    "locale",
    "localeconv",
    "mblen",
    "mbrlen",
    "mbrtowc",
    "mbtowc",
    "ptsname",
    "random",
    "strtok",
    "syslog",
    "timezone",
    "tm",
    "tmpnam",
    "ttyname",
    "wcrtomb",
    "wctomb",
];

/// All models. A name is in one of them only.
pub const ALL: &[(&str, &str)] = &[
    // Blocks of memory.
    ("memcpy memmove mempcpy __mempcpy __memcpy_chk __memmove_chk __mempcpy_chk", "r1n2 w0n2"),
    ("bcopy", "r0n2 w1n2"),
    ("memset __memset_chk", "w0n2"),
    ("bzero explicit_bzero __bzero __explicit_bzero_chk", "w0n1"),
    ("memcmp bcmp", "#mem2"),
    ("memchr", "r0.1 >r0e2"),
    ("rawmemchr __rawmemchr", ">r0e"),
    ("memrchr", "#backwards2"),
    ("memmem", "r2n3 >r0e1"),
    ("memccpy", "#copyto"),
    ("memfrob", "m0n1"),
    ("swab", "r0n2 w1n2"),
    // Strings.
    ("strlen strdup __strdup", "r0s"),
    ("strnlen strndup __strndup", "r0s1"),
    ("strcpy stpcpy __stpcpy __strcpy_chk __stpcpy_chk", "r1s w0l1"),
    ("strncpy stpncpy __strncpy_chk __stpncpy_chk", "r1s2 w0n2"),
    ("strcat __strcat_chk", "#cat"),
    ("strncat __strncat_chk", "#cat2"),
    ("strlcpy", "r1s &"),
    ("strlcat", "r1s &"),
    ("strcmp strcoll strverscmp", "#cmp"),
    ("strncmp", "#cmp2"),
    ("strcasecmp __strcasecmp strcasecmp_l", "#case"),
    ("strncasecmp strncasecmp_l", "#case2"),
    ("strchr index strchrnul", ">r0e"),
    ("strrchr rindex", "r0s"),
    ("strstr strcasestr", "r1s >r0e"),
    ("strspn strcspn", "r1s >r0j"),
    ("strpbrk", "r1s >r0e"),
    ("strsep", "r1s m0.8 #separate"),
    ("strtok_r __strtok_r", "r1s m2.8 #token2"),
    ("strtok", "r1s m$strtok #token"),
    ("strxfrm strxfrm_l __strxfrm_l", "r1s >w0j2+"),
    ("strcoll_l", "#cmp"),
    ("basename", "r0s"),
    ("__xpg_basename dirname", "r0s &"),
    ("getsubopt", "m0.8 &"),
    // Numbers in strings.
    ("atoi atol atoll", "#int"),
    (
        "strtol strtoul strtoll strtoull strtoq strtouq strtoimax strtoumax strtol_l strtoul_l strtoll_l strtoull_l __strtol_internal",
        "#int2 w1.8",
    ),
    ("strtod strtof strtold strtod_l strtof_l strtold_l", "#float w1.8"),
    ("atof", "#float"),
    ("a64l", "r0.1 &"),
    ("wcstol wcstoul wcstoll wcstoull wcstoimax wcstoumax wcstod wcstof wcstold", "r0.4 w1.8 &"),
    ("ecvt fcvt qecvt qfcvt", "w2.4 w3.4 m$ecvt"),
    ("gcvt qgcvt", ">w2s?"),
    ("ecvt_r fcvt_r qecvt_r qfcvt_r", "w2.4 w3.4 >w4s!"),
    // Wide characters.
    ("wcslen wcsdup", "r0z"),
    ("wcsnlen", "r0z1"),
    ("wcscpy wcpcpy", "r1z w0y1"),
    ("wcsncpy wcpncpy", "r1z2 w0n2k4"),
    ("wcscat", "#wcat"),
    ("wcsncat", "#wcat2"),
    ("wcscmp wcscoll", "#wcmp"),
    ("wcsncmp", "#wcmp2"),
    ("wcscasecmp", "#wcase"),
    ("wcsncasecmp", "#wcase2"),
    ("wcschr wcschrnul", ">r0q"),
    ("wcsrchr", "r0z"),
    ("wcsstr wcspbrk", "r1z >r0q"),
    ("wcsspn wcscspn", "r1z r0.4 &"),
    ("wcstok", "r1z m2.8 &"),
    ("wcsxfrm wcsxfrm_l __wcsxfrm_l", "r1z &"),
    ("wmemcpy wmemmove wmempcpy", "r1n2k4 w0n2k4"),
    ("wmemset", "w0n2k4"),
    ("wmemcmp", "#wmem2"),
    ("wmemchr", ">r0q2"),
    ("mbstowcs", ">r1j2+ >w0t2+"),
    ("wcstombs", "r1.4 >w0j2+ &"),
    ("mbsrtowcs mbsnrtowcs", "m1.8 r*1.1 &"),
    ("wcsrtombs wcsnrtombs", "m1.8 r*1.4 &"),
    ("mbrtowc", "r1.1 m3.8 >r1v+ >w0.4+ a$mbrtowc"),
    ("wcrtomb", "m2.8 >w0v a$wcrtomb"),
    ("mbrlen", "r0.1 m2.8 >r0v+ a$mbrlen"),
    ("mbtowc", "r1.1 >r1v+ >w0.4+ a$mbtowc"),
    ("wctomb", ">w0v a$wctomb"),
    ("mblen", "r0.1 >r0v+ a$mblen"),
    ("mbsinit", "r0.8"),
    ("iconv", "m1.8 m2.8 m3.8 m4.8 &"),
    ("iconv_open", "r0s r1s"),
    ("swprintf __swprintf_chk", ">w0.4+ &"),
    // Formats: the routines read what the arguments of the format lead to.
    ("printf", "#printf0"),
    ("fprintf dprintf __printf_chk", "#printf1"),
    ("sprintf", "#printf1"),
    ("snprintf", "#printf2"),
    ("__fprintf_chk __dprintf_chk", "#printf2"),
    ("__sprintf_chk", "#printf3"),
    ("__snprintf_chk", "#printf4"),
    ("asprintf", "#printf1 >w0.8+"),
    ("__asprintf_chk", "#printf2 >w0.8+"),
    ("vprintf", "#vprintf0"),
    ("vfprintf vdprintf __vprintf_chk", "#vprintf1"),
    ("vsprintf", "#vprintf1"),
    ("vsnprintf", "#vprintf2"),
    ("__vfprintf_chk __vdprintf_chk", "#vprintf2"),
    ("__vsprintf_chk", "#vprintf3"),
    ("__vsnprintf_chk", "#vprintf4"),
    ("vasprintf", "#vprintf1 >w0.8+"),
    ("__vasprintf_chk", "#vprintf2 >w0.8+"),
    ("warnx warn", "#printf0"),
    ("errx err", "#printf1"),
    ("scanf", "#scanf0"),
    ("fscanf", "#scanf1"),
    ("sscanf", "r0s #scanf1"),
    ("vscanf", "#vscanf0"),
    ("vfscanf", "#vscanf1"),
    ("vsscanf", "r0s #vscanf1"),
    // Streams.
    ("puts perror", "r0s"),
    ("fputs fputs_unlocked", "r0s"),
    ("fwrite fwrite_unlocked", "r0n1x2"),
    ("fgets fgets_unlocked __fgets_chk", ">w0s?"),
    ("fread fread_unlocked", ">w0vx1"),
    ("__fread_chk", ">w0vx2"),
    ("getline getdelim __getdelim", "m0.8 m1.8 >w*0j+"),
    ("fgetpos", ">w1.16!"),
    ("fsetpos", "r1.16"),
    ("fopen freopen", "r0s r1s"),
    ("fdopen", "r1s"),
    ("popen", "r0s r1s"),
    ("fmemopen", "r2s &"),
    ("open_memstream open_wmemstream", "w0.8 w1.8 &"),
    ("fopencookie", "r1s &"),
    ("setvbuf setbuf setbuffer", "&"),
    ("setlinebuf", ""),
    ("getw", ""),
    ("putw", ""),
    // Descriptors. What `read` and its kin transfer, up to a page, is looked at by their own models.
    ("pread", ">w1v"),
    ("pwrite", "r1n2"),
    ("readv preadv", "#vector1"),
    ("writev pwritev", "#vector0"),
    ("read __read_chk recv __recv_chk", ">w1v"),
    ("recvfrom", ">w1v m5.4 >w4i5+"),
    ("__recvfrom_chk", ">w1v m6.4 >w5i6+"),
    ("write send", "r1n2"),
    ("sendto", "r1n2 r4n5"),
    ("sendmsg", "#message0"),
    ("recvmsg", "#message1"),
    ("recvmmsg sendmmsg", "&"),
    ("accept accept4 getsockname getpeername", "m2.4 >w1i2+"),
    ("connect bind", "r1n2"),
    ("setsockopt", "r3n4"),
    ("getsockopt", "m4.4 >w3i4!"),
    ("socketpair", ">w3.8!"),
    ("pipe pipe2", ""),
    ("eventfd_read", ">w1.8!"),
    ("poll __poll_chk", "#poll"),
    ("ppoll __ppoll_chk", "#poll r2.16 r3.8"),
    ("select", "m1f0 m2f0 m3f0 r4.16"),
    ("pselect", "m1f0 m2f0 m3f0 r4.16 r5.8"),
    ("epoll_ctl", "r3.12"),
    ("epoll_wait", ">w1vk12"),
    ("epoll_pwait", ">w1vk12 r4.8"),
    ("epoll_pwait2", ">w1vk12 r3.16 r4.8"),
    ("splice", "m1.8 m3.8"),
    ("fcntl", "&"),
    ("ioctl", "&"),
    ("inet_aton", "r0s >w1.4?"),
    ("inet_pton", "r1s >w2.4?"),
    ("inet_ntop", "r1.4 >w2s?"),
    ("inet_addr", "r0s"),
    ("inet_ntoa", ""),
    ("ether_aton_r", "r0s >w1.6?"),
    ("ether_ntoa_r", "r0.6 >w1s?"),
    ("ether_aton", "r0s w$ether_aton"),
    ("ether_ntoa", "r0.6 w$ether_ntoa"),
    ("ether_line", "r0s >w1.6! >w2s!"),
    ("ether_hostton", "r0s >w1.6!"),
    ("ether_ntohost", "r1.6 >w0s!"),
    ("if_indextoname", ">w1s?"),
    ("if_nametoindex", "r0s"),
    ("getifaddrs", ">w0.8!"),
    // Files.
    ("stat lstat __stat __lstat", "r0s >w1.144!"),
    ("fstat", ">w1.144!"),
    ("fstatat", "r1s >w2.144!"),
    ("__xstat __lxstat", "r1s >w2.144!"),
    ("__fxstat", ">w2.144!"),
    ("statx", "r1s >w4.256!"),
    ("statfs", "r0s >w1.120!"),
    ("fstatfs", ">w1.120!"),
    ("statvfs", "r0s >w1.112!"),
    ("fstatvfs", ">w1.112!"),
    (
        "open __open_2 creat access euidaccess eaccess unlink rmdir mkdir mkfifo mknod chmod chown lchown truncate remove chdir chroot",
        "r0s",
    ),
    ("opendir pathconf shm_open shm_unlink sem_open sem_unlink memfd_create canonicalize_file_name system", "r0s"),
    ("openat __openat_2 faccessat unlinkat mkdirat mkfifoat mknodat fchmodat fchownat", "r1s"),
    ("rename link symlink", "r0s r1s"),
    ("renameat renameat2 linkat", "r1s r3s"),
    ("symlinkat", "r0s r2s"),
    ("readlink", "r0s >w1v"),
    ("readlinkat", "r1s >w2v"),
    ("realpath", "r0s >w1s?"),
    ("getcwd getwd", ">w0s?"),
    ("get_current_dir_name", ""),
    ("utime", "r0s r1.16"),
    ("utimes", "r0s r1.32"),
    ("utimensat", "r1s r2.32"),
    ("futimens futimes", "r1.32"),
    ("sendfile", "m2.8"),
    ("copy_file_range", "m1.8 m3.8"),
    ("scandir", "r0s >w1.8+"),
    ("readdir", "m0.1"),
    ("readdir_r readdir64_r", "m0.1 >w1.24! >w2.8!"),
    ("rewinddir seekdir", "m0.1"),
    ("telldir", "r0.1"),
    ("closedir", "m0.1"),
    ("getxattr lgetxattr", "r0s r1s >w2v"),
    ("fgetxattr", "r1s >w2v"),
    ("listxattr llistxattr", "r0s >w1v"),
    ("flistxattr", ">w1v"),
    ("mkstemp mkostemp mkdtemp mktemp", "m0s"),
    ("tmpnam", ">w0s? m$tmpnam"),
    ("tmpnam_r", ">w0s?"),
    ("tempnam", "r0s r1s"),
    ("name_to_handle_at open_by_handle_at process_vm_readv process_vm_writev", "&"),
    ("glob", "r0s >w3.16!"),
    ("wordexp", "r0s >w1.16!"),
    ("fts_open fts_read fts_children fts_close fts_set nftw ftw", "&"),
    ("getmntent", "m$getmntent"),
    ("getmntent_r", ">w1.32? &"),
    ("getfsent getfsfile getfsspec", "m$getfsent"),
    // Time.
    ("localtime", "r0.8 m$tm >w=.56?"),
    ("gmtime", "r0.8 m$tm >w=.56?"),
    ("ctime", "r0.8 m$tm m$asctime >w=s?"),
    ("asctime", "r0.56 m$asctime >w=s?"),
    ("localtime_r gmtime_r", "r0.8 >w1.56?"),
    ("asctime_r", "r0.56 >w1s?"),
    ("ctime_r", "r0.8 >w1s?"),
    ("mktime timegm timelocal", "m0.36 >w0.56"),
    ("strftime strftime_l", "r2s r3.36 >w0j1?"),
    ("strptime", "r0s r1s &"),
    ("getdate", "r0s m$getdate"),
    ("tzset", "a$timezone"),
    ("clock_gettime gettimeofday time", ""),
    ("clock_getres", ">w1.16!"),
    ("clock_settime", "r1.16"),
    ("timespec_get", ">w0.16?"),
    ("times", ">w0.32+"),
    ("ftime", ">w0.16!"),
    ("nanosleep thrd_sleep", "r0.16"),
    ("clock_nanosleep", "r2.16"),
    ("getitimer timer_gettime timerfd_gettime", ">w1.32!"),
    ("setitimer", "r1.32 >w2.32!"),
    ("timer_settime timerfd_settime", "r2.32 >w3.32!"),
    ("timer_create", "r1.16 >w2.8!"),
    ("adjtime", "r0.16 >w1.16!"),
    // The process and the machine.
    ("uname", ">w0.390!"),
    ("gethostname", ">w0s!"),
    ("getdomainname", ">w0s!"),
    ("sysinfo", ">w0.112!"),
    ("getrlimit", ">w1.16!"),
    ("setrlimit", "r1.16"),
    ("getrusage", ">w1.144!"),
    ("getloadavg", ">w0vk8"),
    ("getgroups", ">w1vk4"),
    ("getgrouplist", "r0s m3.4 >w2.4+"),
    ("initgroups", "r0s"),
    ("getresuid getresgid", ">w0.4! >w1.4! >w2.4!"),
    ("confstr", ">w1v2"),
    ("sched_getaffinity", ">w2n1!"),
    ("sched_setaffinity", "r2n1"),
    ("sched_getparam", ">w1.4!"),
    ("sched_setparam", "r1.4"),
    ("sched_setscheduler", "r2.4"),
    ("getrandom", ">w0v"),
    ("getentropy", ">w0n1!"),
    ("arc4random_buf", "w0n1"),
    ("wait", ">w0.4+"),
    ("waitpid", ">w1.4+"),
    ("wait3", ">w0.4+ >w2.144+"),
    ("wait4", ">w1.4+ >w3.144+"),
    ("prctl ptrace capget capset shmctl sysctl quotactl", "&"),
    ("tcgetattr", ">w1.60!"),
    ("tcsetattr", "r2.60"),
    ("mincore", ">w2.1!"),
    ("backtrace", ">w0vk8"),
    ("backtrace_symbols", "r0n1k8"),
    // Signals.
    ("sigemptyset sigfillset", "w0.8"),
    ("sigaddset sigdelset", "m0.8"),
    ("sigismember", "r0.8"),
    ("sigprocmask pthread_sigmask", "r1.8 >w2.8!"),
    ("sigpending", ">w0.8!"),
    ("sigsuspend", "r0.8"),
    ("sigwait", "r0.8 >w1.4!"),
    ("sigwaitinfo", "r0.8 >w1.12+"),
    ("sigtimedwait", "r0.8 r2.16 >w1.12+"),
    ("sigaction", "r1.152 >w2.152!"),
    ("sigaltstack", "r0.24 >w1.24!"),
    ("sigblock sigsetmask siggetmask", ""),
    ("signalfd", "r1.8"),
    // Threads.
    ("pthread_attr_init", "w0.56"),
    ("pthread_attr_destroy", "m0.1"),
    (
        "pthread_attr_setdetachstate pthread_attr_setstacksize pthread_attr_setguardsize pthread_attr_setscope pthread_attr_setinheritsched pthread_attr_setschedpolicy pthread_attr_setstack",
        "m0.1",
    ),
    ("pthread_attr_setschedparam", "m0.1 r1.4"),
    ("pthread_attr_setaffinity_np", "m0.1 r2n1"),
    (
        "pthread_attr_getdetachstate pthread_attr_getscope pthread_attr_getinheritsched pthread_attr_getschedpolicy pthread_attr_getschedparam",
        "r0.1 >w1.4!",
    ),
    ("pthread_attr_getstacksize pthread_attr_getguardsize", "r0.1 >w1.8!"),
    ("pthread_attr_getstack", "r0.1 >w1.8! >w2.8!"),
    ("pthread_attr_getaffinity_np", "r0.1 >w2n1!"),
    ("pthread_getattr_np", ">w1.56!"),
    ("pthread_mutexattr_init pthread_condattr_init pthread_barrierattr_init", "w0.4"),
    ("pthread_rwlockattr_init", "w0.8"),
    (
        "pthread_mutexattr_destroy pthread_condattr_destroy pthread_barrierattr_destroy pthread_rwlockattr_destroy",
        "m0.1",
    ),
    (
        "pthread_mutexattr_settype pthread_mutexattr_setpshared pthread_mutexattr_setrobust pthread_mutexattr_setrobust_np pthread_mutexattr_setprotocol pthread_mutexattr_setprioceiling",
        "m0.4",
    ),
    (
        "pthread_condattr_setclock pthread_condattr_setpshared pthread_rwlockattr_setkind_np pthread_rwlockattr_setpshared pthread_barrierattr_setpshared",
        "m0.4",
    ),
    (
        "pthread_mutexattr_gettype pthread_mutexattr_getpshared pthread_mutexattr_getrobust pthread_mutexattr_getprotocol pthread_mutexattr_getprioceiling pthread_condattr_getclock pthread_condattr_getpshared pthread_rwlockattr_getpshared pthread_rwlockattr_getkind_np pthread_barrierattr_getpshared",
        "r0.4 >w1.4!",
    ),
    ("pthread_mutex_init pthread_cond_init pthread_rwlock_init pthread_barrier_init", "r1.4"),
    (
        "pthread_mutex_timedlock sem_timedwait pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock mtx_timedlock",
        "r1.16",
    ),
    (
        "pthread_mutex_clocklock sem_clockwait pthread_rwlock_clockrdlock pthread_rwlock_clockwrlock pthread_timedjoin_np pthread_cond_timedwait cnd_timedwait",
        "r2.16",
    ),
    ("pthread_clockjoin_np pthread_cond_clockwait", "r3.16"),
    ("sem_getvalue", ">w1.4!"),
    ("pthread_key_create tss_create", ">w0.4!"),
    ("pthread_setcancelstate pthread_setcanceltype", ">w1.4!"),
    ("pthread_setname_np", "r1s"),
    ("pthread_getname_np", ">w1s!"),
    ("pthread_getschedparam", ">w1.4! >w2.4!"),
    ("pthread_setschedparam", "r2.4"),
    ("pthread_getaffinity_np", ">w2n1!"),
    ("pthread_setaffinity_np", "r2n1"),
    ("thrd_join", ">w1.4!"),
    ("thrd_create", ">w0.8!"),
    ("pthread_create", "r1.1"),
    ("__sched_cpucount", "r1n0"),
    // Sorting and searching.
    ("qsort qsort_r", "#sort"),
    ("bsearch", ""),
    ("lfind", "r2.8"),
    ("lsearch", "m2.8 &"),
    ("tsearch tdelete", "m1.8"),
    ("tfind", "r1.8"),
    ("twalk twalk_r", "r0.1"),
    ("tdestroy", "m0.1"),
    ("hcreate hdestroy", "m$hsearch"),
    ("hsearch", "m$hsearch"),
    ("hcreate_r", "m1.16"),
    ("hdestroy_r", "m0.16"),
    ("hsearch_r", ">w2.8 m3.1"),
    ("insque", "m0.16 &"),
    ("remque", "r0.16 &"),
    // Numbers by chance.
    ("rand srand", "a$random"),
    ("random srandom", "a$random"),
    ("initstate", "a$random &"),
    ("setstate", "a$random &"),
    ("rand_r", "m0.4"),
    ("drand48 lrand48 mrand48", "m$drand48"),
    ("srand48", "w$drand48"),
    ("seed48", "r0.6 m$drand48"),
    ("lcong48", "r0.14 w$drand48"),
    ("erand48 nrand48 jrand48", "m0.6 r$drand48"),
    ("drand48_r lrand48_r mrand48_r random_r", "m0.1 >w1.4!"),
    ("erand48_r nrand48_r jrand48_r", "m0.6 m1.1 >w2.4!"),
    ("srandom_r srand48_r", "w1.1"),
    // Numbers through pointers.
    ("frexp frexpf frexpl", "w1.4"),
    ("modff", "w1.4"),
    ("modf", "w1.8"),
    ("modfl", "w1.10"),
    ("sincosf", "w1.4 w2.4"),
    ("sincos", "w1.8 w2.8"),
    ("sincosl", "w1.10 w2.10"),
    ("remquo remquof remquol", "w2.4"),
    ("lgamma_r lgammaf_r lgammal_r", "w1.4"),
    ("lgamma lgammaf lgammal gamma", "&"),
    ("nan nanf nanl", "r0s"),
    // The environment and the locale.
    ("getenv secure_getenv", "r0s r$environment r@environ.8"),
    ("setenv", "r0s r1s m$environment r@environ.8"),
    ("unsetenv putenv", "r0s m$environment"),
    ("clearenv", "m$environment w@environ.8"),
    ("setlocale", "r1s m$locale &"),
    ("localeconv", "m$localeconv r$locale"),
    ("nl_langinfo", "r$locale"),
    ("textdomain bindtextdomain bind_textdomain_codeset gettext catgets", "&"),
    // Messages of errors: the GNU C library has one buffer for each thread.
    ("strerror strsignal", ""),
    ("strerror_r", ">w1.1 &"),
    ("__xpg_strerror_r", ">w1s!"),
    // Databases.
    ("getpwnam getpwuid", "m$getpwnam"),
    ("getpwent setpwent endpwent fgetpwent", "m$getpwent"),
    ("getgrnam getgrgid", "m$getgrnam"),
    ("getgrent setgrent endgrent fgetgrent", "m$getgrent"),
    ("getpwnam_r", "r0s >w1.48! >w4.8"),
    ("getpwuid_r", ">w1.48! >w4.8"),
    ("getgrnam_r", "r0s >w1.32! >w4.8"),
    ("getgrgid_r", ">w1.32! >w4.8"),
    ("getpwent_r", "m$getpwent >w0.48! >w3.8"),
    ("getgrent_r", "m$getgrent >w0.32! >w3.8"),
    ("fgetpwent_r", ">w1.48! >w4.8"),
    ("fgetgrent_r", ">w1.32! >w4.8"),
    ("gethostbyname gethostbyname2", "r0s m$gethostbyname &"),
    ("gethostbyaddr", "r0n1 m$gethostbyname &"),
    ("gethostent", "m$gethostent"),
    ("gethostbyname_r", "r0s >w1.32! >w4.8 >w5.4 &"),
    ("gethostbyname2_r", "r0s >w2.32! >w5.8 >w6.4 &"),
    ("gethostbyaddr_r", "r0n1 >w3.32! >w6.8 >w7.4 &"),
    ("gethostent_r", ">w0.32! >w3.8 >w4.4 &"),
    ("getservbyname", "r0s r1s m$getservbyname"),
    ("getservbyport", "r1s m$getservbyname"),
    ("getservent", "m$getservent"),
    ("getprotobyname", "r0s m$getprotobyname"),
    ("getprotobynumber", "m$getprotobyname"),
    ("getprotoent", "m$getprotoent"),
    ("getnetbyname", "r0s m$getnetbyname"),
    ("getnetbyaddr", "m$getnetbyname"),
    ("getnetent", "m$getnetent"),
    ("getaddrinfo", "r0s r1s r2.16 >w3.8! &"),
    ("freeaddrinfo", "r0.1 &"),
    ("getnameinfo", "r0n1 >w2s! >w4s! &"),
    ("getlogin", "m$getlogin"),
    ("getlogin_r", ">w0s!"),
    ("ttyname", "m$ttyname"),
    ("ttyname_r", ">w1s!"),
    ("ptsname", "m$ptsname"),
    ("ptsname_r", ">w1s!"),
    ("ctermid cuserid", "m$ctermid"),
    ("getpass", "r0s m$getpass &"),
    ("getusershell setusershell endusershell", "m$getusershell"),
    ("getttyent getttynam", "m$getttyent"),
    (
        "getutent getutid getutline setutent endutent pututline getutxent getutxid getutxline setutxent endutxent pututxline",
        "m$getutent",
    ),
    ("getopt getopt_long getopt_long_only", "m$getopt m@optind.4"),
    ("crypt", "r0s r1s m$crypt"),
    ("encrypt setkey", "m0.64 m$crypt"),
    ("crypt_r", "r0s r1s m2.1"),
    ("l64a", "m$l64a"),
    ("regcomp", "r1s >w0.64!"),
    ("regexec", "r0.1 r1s >w3n2k8!"),
    ("regerror", "r1.1 >w2v3"),
    ("regfree", "m0.64"),
    ("xdr_bytes xdr_string xdrmem_create xdrstdio_create _obstack_begin _obstack_begin_1 _obstack_newchunk", "&"),
    ("openlog", "m$syslog &"),
    ("closelog setlogmask", "a$syslog"),
    ("syslog", "#printf1 &"),
    ("__syslog_chk", "#printf2 &"),
    ("mcheck mcheck_pedantic mprobe mtrace acct", "&"),
    ("inotify_init inotify_init1 fanotify_init", "&"),
];

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    #[test]
    fn every_model_is_understood() {
        for (names, model) in ALL {
            assert_eq!(parts(model).count(), model.split_ascii_whitespace().count(), "{names}: {model}");
        }
    }

    #[test]
    fn hidden_state_has_a_name() {
        let all = ALL.iter().flat_map(|(_, model)| parts(model));
        let names: BTreeSet<&str> = all
            .filter_map(|part| match part {
                Part::Touch(Touch { place: Place::Hidden(name), .. }) => Some(name),
                _ => None,
            })
            .collect();
        assert_eq!(names.into_iter().collect::<Vec<_>>(), HIDDEN);
    }

    #[test]
    fn each_function_has_one_model() {
        let mut seen = BTreeSet::new();
        let names = ALL.iter().flat_map(|(names, _)| names.split_ascii_whitespace());
        let twice: Vec<&str> = names.filter(|name| !seen.insert(*name)).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    #[test]
    fn accesses_have_parts() {
        let touches: Vec<Part<'_>> = parts(">w0vx1 m$strtok r*1.4 #printf2 &").collect();
        let touch = |is_after, direction, place, length| {
            Part::Touch(Touch { is_after, direction, place, length, condition: Condition::Always })
        };
        assert_eq!(
            touches,
            [
                touch(true, Direction::Write, Place::Argument(0), Length::Result(Some(1), 1)),
                touch(false, Direction::Modify, Place::Hidden("strtok"), Length::Bytes(1)),
                touch(false, Direction::Read, Place::Behind(1), Length::Bytes(4)),
                Part::Routine("printf", 2),
                Part::Partly,
            ]
        );
        assert_eq!(parts("x0").next(), None);
        assert_eq!(of("__isoc99_sscanf"), of("sscanf"));
        assert_eq!(of("frobnicate"), None);
    }
}
