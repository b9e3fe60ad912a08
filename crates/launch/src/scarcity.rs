//! System limits that prevent a program from being started, with the option that changes them.

use std::io;

/// Number of descriptors that a hunt needs: the runtime uses numbers out of the program's way.
const DESCRIPTORS: u64 = 256;

/// Returns a limit of this process, if it has one.
fn limit(resource: libc::__rlimit_resource_t) -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is valid, and the call writes nothing else.
    let failed = unsafe { libc::getrlimit(resource, &mut limit) } != 0;
    (!failed && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Returns why a program could not be started, if a limit explains the error.
pub(crate) fn of_start(error: &io::Error) -> Option<String> {
    let code = error.raw_os_error()?;
    let files = limit(libc::RLIMIT_NOFILE).filter(|&files| files < DESCRIPTORS);
    match (code, files) {
        (libc::EMFILE | libc::EINVAL, Some(files)) => Some(format!(
            "only {files} files may be open at the same time, and {DESCRIPTORS} are needed: `ulimit -n {DESCRIPTORS}`"
        )),
        (libc::EMFILE | libc::ENFILE, None) => {
            Some("too many files are open: raise `ulimit -n`, or give fewer --jobs".to_owned())
        }
        (libc::EAGAIN, _) => Some(
            "no further process or thread can be created: raise `ulimit -u` (or the limit of the container), or give fewer --jobs"
                .to_owned(),
        ),
        (libc::ENOMEM, _) => Some("there is not enough memory: see `ulimit -v`, and vm.overcommit_memory".to_owned()),
        (libc::EPERM | libc::ENOSYS, _) => Some(format!(
            "the system forbids a call that is needed ({error}): a filter of system calls (seccomp), as containers have, may be why"
        )),
        _ => None,
    }
}

/// Returns why no thread can be created here, if that is so. A program then ends early and need not say why: it has the
/// limits and filters of this process.
#[must_use]
pub fn why_no_threads() -> Option<String> {
    let error = std::thread::Builder::new().spawn(|| {}).err()?;
    Some(of_start(&error).unwrap_or_else(|| format!("no thread can be created here ({error})")))
}

/// Returns why there may be no room for shadow memory.
pub(crate) fn of_shadow() -> String {
    match (limit(libc::RLIMIT_AS), limit(libc::RLIMIT_STACK)) {
        (Some(bytes), _) => format!("its address space is limited to {} MiB: `ulimit -v unlimited`", bytes >> 20),
        (None, None) => "with `ulimit -s unlimited` the kernel puts memory elsewhere: `ulimit -s 8192`".to_owned(),
        (None, Some(_)) => "vm.overcommit_memory must not be 2".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_explained_by_limits() {
        let told = |code: i32| of_start(&io::Error::from_raw_os_error(code)).unwrap_or_default();
        assert!(told(libc::EAGAIN).contains("ulimit -u"));
        assert!(told(libc::EMFILE).contains("ulimit -n"));
        assert!(told(libc::EPERM).contains("seccomp"));
        assert_eq!(why_no_threads(), None);
        assert_eq!(told(libc::ENOENT), "");
    }
}
