//! Files that a killed program left: it had no chance to rename or remove the one that it was writing.
//!
//! ```text
//! .seqoia-ORIGIN-PID-XXXXXX
//! ```
//!
//! ORIGIN stands for the machine since it was started and for the space of process numbers (a container has its own),
//! so PID means something only where ORIGIN is ours. There a file whose process is gone is removed; any other one
//! when nothing was written to it for a day. Only our own ordinary files are, and nothing fails because of it.

use std::collections::BTreeSet;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64;

const PREFIX: &str = ".seqoia-";
/// No write takes as long.
const LONG: Duration = Duration::from_secs(24 * 3600);

/// The machine since it was started, and the space of process numbers; none if that cannot be known.
static ORIGIN: LazyLock<Option<String>> = LazyLock::new(|| {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let space = std::fs::read_link("/proc/self/ns/pid").ok()?;
    let code = xxh3_64(format!("{boot}{}", space.display()).as_bytes());
    Some(format!("{:08x}", code >> 32))
});

/// How the name of a temporary file of this process begins.
static OURS: LazyLock<String> = LazyLock::new(|| {
    let origin = ORIGIN.as_deref().unwrap_or("0");
    format!("{PREFIX}{origin}-{}-", std::process::id())
});

pub(crate) fn prefix() -> &'static str {
    &OURS
}

/// Removes what dead programs left in a folder, once for each folder; `made` is a file that was just made there.
pub(crate) fn remove_once(folder: &Path, made: &File) {
    static SEEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let first = match (folder.canonicalize(), SEEN.lock()) {
        (Ok(folder), Ok(mut seen)) => seen.insert(folder),
        _ => false,
    };
    if let (true, Ok(made)) = (first, made.metadata()) {
        remove(folder, &made);
    }
}

fn remove(folder: &Path, made: &Metadata) {
    let Ok(entries) = folder.read_dir() else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(process) = name.to_str().and_then(process) else { continue };
        let Ok(about) = entry.path().symlink_metadata() else { continue };
        let dead = match process {
            Some((origin, id)) if Some(origin) == ORIGIN.as_deref() => {
                !Path::new("/proc").join(id.to_string()).exists()
            }
            _ => about.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age > LONG)),
        };
        if dead && about.is_file() && one_owner(&about, made) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Origin and process of a temporary file of ours, as far as its name has them; none for other names.
fn process(name: &str) -> Option<Option<(&str, u32)>> {
    let rest = name.strip_prefix(PREFIX)?;
    let random = |text: &str| text.len() == 6 && text.bytes().all(|b| b.is_ascii_alphanumeric());
    let parts: Vec<&str> = rest.split('-').collect();
    match parts[..] {
        [end] if random(end) => Some(None), // of the first version
        [origin, id, end] if random(end) => Some(Some((origin, id.parse().ok()?))),
        _ => None,
    }
}

#[cfg(unix)]
fn one_owner(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    a.uid() == b.uid()
}

#[cfg(not(unix))]
fn one_owner(_: &Metadata, _: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[cfg(target_os = "linux")]
    #[test]
    fn files_of_dead_programs_are_removed_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let origin = ORIGIN.as_deref().unwrap();
        let dead = format!(".seqoia-{origin}-{}-aB3dE6", child.id());
        let alive = format!(".seqoia-{origin}-1-aB3dE6");
        let own = format!("{}aB3dE6", prefix());
        let elsewhere = format!(".seqoia-00000000-{}-aB3dE6", child.id());
        let old = SystemTime::now() - 2 * LONG;
        let make = |name: &str, old: Option<SystemTime>| {
            let file = File::create(path(name)).unwrap();
            old.into_iter().for_each(|at| file.set_modified(at).unwrap());
        };
        let kept = [
            &*alive,
            &own,
            &elsewhere,
            ".seqoia-aB3dE6",
            ".seqoia-notes",
            ".seqoia-aB3dE6.txt",
            "m.seqoia",
            ".seqoia-x-y-aB3dE6",
        ];
        for name in kept {
            make(name, (!name.ends_with("aB3dE6")).then_some(old));
        }
        make(&dead, None);
        make(".seqoia-zzzzzz", Some(old));
        make(".seqoia-11111111-1-zzzzzz", Some(old));
        let link = format!(".seqoia-{origin}-{}-linked", child.id());
        std::os::unix::fs::symlink("m.seqoia", path(&link)).unwrap();
        std::fs::create_dir(path(&dead.replace("aB3dE6", "folder"))).unwrap();

        remove_once(folder.path(), &File::open(path("m.seqoia")).unwrap());
        let mut left: Vec<String> = folder
            .path()
            .read_dir()
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let folder_of_that_name = dead.replace("aB3dE6", "folder");
        let mut wanted: Vec<&str> = kept.iter().copied().chain([&*link, &*folder_of_that_name]).collect();
        wanted.sort_unstable();
        assert_eq!(left, wanted);
    }
}
