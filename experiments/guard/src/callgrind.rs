//! Runs a program under valgrind's callgrind and reads how many instructions it took.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Valgrind's version, such as `valgrind-3.19.0`; `None` if it is not installed.
pub(crate) fn version() -> Option<String> {
    let out = Command::new("valgrind").arg("--version").output().ok()?;
    out.status.success().then(|| String::from_utf8_lossy(&out.stdout).trim().to_owned())
}

/// Instructions of a program, of all its threads; with `within`, only those between call and return of the
/// function whose name has this in it.
///
/// # Errors
/// The program or valgrind fails.
pub(crate) fn count(program: &Command, within: Option<&str>) -> Result<u64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    if let Some(name) = within {
        valgrind.arg(format!("--toggle-collect=*{name}*"));
    }
    valgrind.arg(program.get_program()).args(program.get_args());
    // Whoever calls it: a search path for libraries alone is forty thousand instructions.
    valgrind.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    if let Some(folder) = program.get_current_dir() {
        valgrind.current_dir(folder);
    }
    let out = valgrind.stdin(Stdio::null()).stdout(Stdio::null()).output().context("valgrind")?;
    let said = String::from_utf8_lossy(&out.stderr);
    match collected(&said) {
        Some(count) if out.status.success() && count > 0 => Ok(count),
        _ => bail!("{program:?} under valgrind: {}\n{said}", out.status),
    }
}

/// The count in what callgrind says at its end: `==12== Collected : 34567`.
fn collected(said: &str) -> Option<u64> {
    let lines = said.lines().filter(|line| line.starts_with("=="));
    lines.filter_map(|line| line.split_once("Collected :")).next_back()?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_found_among_other_lines() {
        let said = "==7== Callgrind, a call-graph generating cache profiler\n==7== \nCollected : 5\n\
                    ==7== Events    : Ir\n==7== Collected : 962887337\n==7== \n==7== I   refs:      962,887,337\n";
        assert_eq!(collected(said), Some(962_887_337));
        assert_eq!(collected("valgrind: no such program\n"), None);
        assert_eq!(collected("==7== Collected : \n"), None);
    }
}
