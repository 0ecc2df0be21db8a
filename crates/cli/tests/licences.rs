//! Every library that the program is built from has a licence that goes with MIT OR Apache-2.0. A list of names and a
//! few lines serve as well as a tool that would have to be installed first.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

use std::process::Command;

use serde_json::Value;

/// Licences that ask for no more than a notice.
const ALLOWED: [&str; 11] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "ISC",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "0BSD",
];

/// Whether an SPDX expression leaves an allowed choice: `OR` needs one side, `AND` both.
fn allowed(expression: &str) -> bool {
    let plain = expression.replace('/', " OR ").replace(['(', ')'], " ");
    // In the expressions of libraries AND binds groups of OR in brackets; without brackets it binds tighter.
    match expression.contains(") AND ") || expression.contains(" AND (") {
        true => {
            plain.split(" AND ").all(|side| side.split(" OR ").any(|name| ALLOWED.contains(&name.trim())))
        }
        false => {
            plain.split(" OR ").any(|side| side.split(" AND ").all(|name| ALLOWED.contains(&name.trim())))
        }
    }
}

#[test]
fn libraries_have_licences_that_go_with_ours() {
    let host = Command::new("rustc").arg("-vV").output().unwrap().stdout;
    let host = String::from_utf8(host).unwrap();
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let told = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", host])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    let packages = told["packages"].as_array().unwrap();
    assert!(packages.len() > 50, "{} packages", packages.len());
    let wrong: Vec<String> = packages
        .iter()
        .filter(|package| !package["license"].as_str().is_some_and(allowed))
        .map(|package| format!("{} {}: {}", package["name"], package["version"], package["license"]))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn expressions_are_read() {
    assert!(allowed("MIT") && allowed("GPL-3.0 OR MIT") && allowed("MIT/Apache-2.0"));
    assert!(allowed("(MIT OR GPL-2.0) AND Unicode-3.0") && allowed("MIT AND Zlib"));
    assert!(
        !allowed("GPL-3.0") && !allowed("MIT AND GPL-3.0") && !allowed("(MIT OR Apache-2.0) AND GPL-3.0")
    );
}
