//! Tells the program which compiler builds it: counts of different compilers cannot be compared.

use std::process::Command;

fn main() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = Command::new(rustc).arg("-vV").output().map(|out| out.stdout).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let field = |name: &str| said.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("unknown");
    #[allow(clippy::print_stdout)] // how a build script talks to cargo
    {
        println!("cargo::rustc-env=COMPILER=rustc {} {}", field("release: "), field("host: "));
        println!("cargo::rerun-if-changed=build.rs");
    }
}
