//! Names as the user wrote them.

use cpp_demangle::{DemangleOptions, Symbol};

/// Returns the readable form of a linker name: without parameters and return types, which make C++ names unreadable in
/// a report and add nothing to a name that is shown with its file and line.
pub fn demangle(name: &str) -> String {
    if is_rust(name)
        && let Ok(rust) = rustc_demangle::try_demangle(name)
    {
        // The alternate form leaves out the hash.
        return format!("{rust:#}");
    }
    if !name.starts_with("_Z") && !name.starts_with("__Z") {
        return name.to_owned();
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    let demangled = Symbol::new(name).ok().and_then(|symbol| symbol.demangle_with_options(&options).ok());
    demangled.map_or_else(|| name.to_owned(), |text| tidy(&text))
}

/// Rewrites names that compilers generate. Threads often start in a lambda, so users see these.
fn tidy(demangled: &str) -> String {
    let text = demangled.strip_suffix(" const").unwrap_or(demangled).replace("_GLOBAL__N_1", "(anonymous namespace)");
    // The version of a library does not matter.
    let text = text.replace("[abi:cxx11]", "");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((start, length)) = first_lambda(rest) {
        out.push_str(&rest[..start]);
        out.push_str("{lambda}");
        rest = &rest[start + length..];
        rest = rest.strip_prefix("::operator()").unwrap_or(rest);
    }
    out + rest
}

/// Returns the position and length of the first lambda: `$_0` of clang, `{lambda(int)#1}` of the standard scheme.
fn first_lambda(text: &str) -> Option<(usize, usize)> {
    let numbered = text.find("$_").map(|start| {
        let digits = text[start + 2..].bytes().take_while(u8::is_ascii_digit).count();
        (start, 2 + digits)
    });
    let braced = text.find("{lambda(").and_then(|start| {
        let end = text[start..].find('}')?;
        Some((start, end + 1))
    });
    numbered.into_iter().chain(braced).min()
}

/// Returns true for the older Rust scheme, which looks like a C++ name; only the hash at its end distinguishes it.
fn is_rust(name: &str) -> bool {
    let hashed = || name.strip_suffix('E').and_then(|name| name.get(name.len().checked_sub(19)?..));
    name.starts_with("_R") || hashed().is_some_and(|end| end.starts_with("17h"))
}

#[cfg(test)]
mod tests {
    use super::demangle;

    #[test]
    fn each_language_by_its_own_rules() {
        assert_eq!(demangle("worker"), "worker");
        assert_eq!(demangle("_ZN5queue4pushEi"), "queue::push");
        assert_eq!(demangle("_ZN2ns3BoxIiE3setEi"), "ns::Box<int>::set");
        assert_eq!(demangle("_ZN2ns12_GLOBAL__N_16secretE"), "ns::(anonymous namespace)::secret");
        assert_eq!(demangle("_ZZ4mainENK3$_0clEi"), "main::{lambda}");
        assert_eq!(demangle("_ZZ4mainENKUliE_clEi"), "main::{lambda}");
        assert_eq!(demangle("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
        assert_eq!(demangle("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"), "core::fmt::Write::write_fmt");
    }

    #[test]
    fn a_name_that_only_looks_mangled_stays() {
        assert_eq!(demangle("_Zzz"), "_Zzz");
        assert_eq!(demangle(""), "");
    }
}
