//! Compiles the one function that must be C: see `src/once.c`.

fn main() {
    println!("cargo:rerun-if-changed=src/once.c");
    cc::Build::new().file("src/once.c").flag("-fexceptions").flag("-O2").pic(true).compile("racehunter_once");
}
