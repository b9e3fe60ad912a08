//! Compiles the functions that must be C because exceptions may pass through them.

fn main() {
    const FILES: [&str; 2] = ["src/once.c", "src/new.c"];
    for file in FILES {
        println!("cargo:rerun-if-changed={file}");
    }
    cc::Build::new().files(FILES).flag("-fexceptions").flag("-O2").pic(true).compile("racehunter_once");
}
