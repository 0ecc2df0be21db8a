//! Training data within a limit of memory: in memory if it fits there with all that learning needs, else on disk.

use std::sync::Arc;

use seqoia_data::features::Room;
use seqoia_report::bytes;

use super::limit::{help, size};
use super::outside;
use super::own_words;
use super::reading::Reading;
use super::{
    Again, ChainOptions, DataOptions, DevSet, LabelTask, Limit, PairChoice, Source, TrainingSet, Within,
};
use crate::error::{BadOption, Result};
use crate::run::{Bill, LearnOptions, Run};

/// Reads data, with its dev data, for training with these options within a limit. Examples lie on disk if they must,
/// and so does what the learner remembers of each, if it can: `learn` is told.
///
/// A recipe may want weights for all pairs. Where these do not fit and the user did not ask for them, those that occur
/// are taken, and a doubt of the set says so.
///
/// # Errors
/// As [`TrainingSet::read`]; a limit that is too small, with what takes how much; temporary files that cannot be
/// written; data that changes while it is read.
pub fn read_within(
    source: &Again,
    dev: Option<&Again>,
    data: &DataOptions,
    chain: ChainOptions,
    learn: &mut LearnOptions,
    limit: &Limit,
) -> Result<(TrainingSet, Option<DevSet>)> {
    match read_as(source, dev, data, chain, learn, limit)? {
        Ok(done) => Ok(done),
        Err(bill) if data.pairs.is_none() && data.pairs_or_default() == PairChoice::All => {
            let fewer = DataOptions { pairs: Some(PairChoice::Observed), ..data.clone() };
            let (mut set, dev) = match read_as(source, dev, &fewer, chain, learn, limit)? {
                Ok(done) => done,
                Err(bill) => return Err(too_small(limit, &bill).into()),
            };
            let all = size(bill.total());
            set.doubts.push(format!(
                "`pairs observed`, since with all pairs training takes {all}, more than `memory-limit` allows; with \
                 `pairs all` this is an error"
            ));
            Ok((set, dev))
        }
        Err(bill) => Err(too_small(limit, &bill).into()),
    }
}

/// The same with the pairs that `data` says; or what is too much.
#[allow(clippy::type_complexity)] // data, or why not
fn read_as(
    source: &Again,
    dev: Option<&Again>,
    data: &DataOptions,
    chain: ChainOptions,
    learn: &mut LearnOptions,
    limit: &Limit,
) -> Result<std::result::Result<(TrainingSet, Option<DevSet>), Bill>> {
    let kind = data.format_of_text();
    let lexica = own_words::collect_again(source, &data.features, kind)?;
    // What training on a set takes, with a table on disk if that helps and can be.
    let mut bill = |set: &TrainingSet| -> Result<(Option<DevSet>, Bill)> {
        let dev = dev.map(|dev| DevSet::read(dev.open()?, set)).transpose()?;
        let task = LabelTask::new(set, dev.as_ref()).with_chain(chain);
        learn.shelves = false;
        let run = Run::new(&task, learn)?;
        let (bill, may_shelve) = (run.bill(), run.may_shelve());
        if bill.total() <= limit.bytes || !may_shelve {
            return Ok((dev, bill));
        }
        learn.shelves = true;
        let bill = Run::new(&task, learn)?.bill();
        Ok((dev, bill))
    };
    let in_memory = || -> Result<std::result::Result<Reading, String>> {
        let room = Arc::new(Room::new(limit.for_tables(lexica.bytes())?));
        if limit.always {
            return Ok(Err("so it was asked for".to_owned()));
        }
        // Attributes of a token take more than its text, but where there are hardly any.
        if source.bytes() > limit.bytes as u64 {
            return Ok(Err("the file alone is larger".to_owned()));
        }
        let text: Source = source.open()?.into();
        match Reading::with_room(text, kind, Arc::clone(&lexica), data, Some(Arc::clone(&room))) {
            Err(_) if room.is_over() => Ok(Err("the examples are more than fits".to_owned())),
            reading => reading.map(Ok),
        }
    };
    let why = match in_memory()? {
        Ok(reading) => {
            let mut set = TrainingSet::index(reading, data)?;
            let (dev, bill) = bill(&set)?;
            if bill.total() <= limit.bytes {
                set.within = Some(Within { limit: limit.clone(), disk: None });
                return Ok(Ok((set, dev)));
            }
            format!("with all examples in memory it would be {}", bytes(bill.total() as u64))
        }
        Err(why) => why,
    };
    let mut set = outside::read(source, lexica, data, limit)?;
    if let Some(disk) = set.within.as_mut().and_then(|within| within.disk.as_mut()) {
        disk.why = why;
    }
    let (dev, bill) = bill(&set)?;
    Ok(if bill.total() <= limit.bytes { Ok((set, dev)) } else { Err(bill) })
}

/// What takes how much.
fn too_small(limit: &Limit, bill: &Bill) -> BadOption {
    let mut items = bill.items.clone();
    items.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let items: Vec<String> = items
        .iter()
        .filter(|(_, bytes)| bytes * 50 > bill.total())
        .map(|(what, size)| format!("{what} {}", bytes(*size as u64)))
        .collect();
    let least = size(bill.total());
    limit
        .refused(format!("training takes {least} even with the examples on disk: {}", items.join(", ")))
        .help(help(least))
}
