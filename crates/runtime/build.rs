//! Compiles the functions that must be C: exceptions may pass through them, or they have variable arguments.

fn main() {
    const FILES: [&str; 3] = ["src/once.c", "src/new.c", "src/err.c"];
    for file in FILES {
        println!("cargo:rerun-if-changed={file}");
    }
    cc::Build::new().files(FILES).flag("-fexceptions").flag("-O2").pic(true).compile("racehunter_once");
}
