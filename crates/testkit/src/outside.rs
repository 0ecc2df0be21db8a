//! Outside data, found through the variable `SEQOIA_DATA`.

use std::path::PathBuf;

/// The folder; `None`, and a line that says so, where the variable is not set.
#[must_use]
pub fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("SEQOIA_DATA").filter(|value| !value.is_empty()).map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: SEQOIA_DATA is not set");
    }
    folder
}
