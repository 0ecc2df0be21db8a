//! Real rows. None yet.

use anyhow::Result;

use super::row::Row;
use crate::bench::Bench;

pub(super) struct Corpus {
    pub(super) name: &'static str,
}

impl Corpus {
    pub(super) fn prepare(&self, _bench: &Bench) -> Result<Row> {
        anyhow::bail!("{}", self.name)
    }
}

pub(super) fn corpora(_notes: &mut Vec<String>) -> Vec<Corpus> {
    vec![]
}
