//! The hidden state of the C library that functions share: buffers and cursors that no argument names.

/// Calls a macro with the names of hidden state. The runtime makes a symbol of each, which only a macro can do.
#[macro_export]
macro_rules! hidden_state {
    ($then:ident) => {
        $then! {
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
        }
    };
}

macro_rules! names {
    ($($name:literal,)*) => {
        /// The names of hidden state, in alphabetical order.
        pub const HIDDEN: &[&str] = &[$($name,)*];
    };
}

hidden_state!(names);
