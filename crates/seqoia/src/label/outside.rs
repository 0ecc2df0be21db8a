//! A training file whose examples lie on disk, read in two passes: labels and, with a cut-off, attributes are looked at
//! in the first; the second writes the examples. What comes out is what [`TrainingSet::read`] gives, bit for bit.

use std::sync::Arc;

use seqoia_core::cast::real;
use seqoia_data::features::{Growing, Labels, Lexica, MOST_LABELS, OR, Room, Spilled, normalise};
use seqoia_data::format::{Block, Kind, Reader};
use seqoia_structures::chain::{Rules, Sets};

use super::data::{self, Counts, Tally, check_features, check_weights, lay_out, numbers, sets_of};
use super::limit::{Disk, help, size};
use super::options::Schemes;
use super::reading::{Opened, unmatched};
use super::rules::{self, Broken};
use super::schemes::{Recognition, can_be_label, check_names, converter};
use super::{Again, DataOptions, Limit, TrainingSet, Within, raw, roles, weights};
use crate::error::{Error, Result};

/// What the first pass finds.
struct First {
    schemes: Schemes,
    digest: String,
    sentences: usize,
    text: usize,
}

pub(super) fn read(
    source: &Again,
    lexica: Arc<Lexica>,
    options: &DataOptions,
    limit: &Limit,
) -> Result<TrainingSet> {
    let kind = options.format_of_text();
    let tables = limit.for_tables(lexica.bytes())?;
    let (scratch, cutoff, threads) = (&limit.scratch, options.cutoff.max(1), options.threads());
    let mut opened = Opened::new(source.open()?.into(), kind, lexica, options)?;
    let room = Arc::new(Room::new(tables));
    opened.indexer = opened.indexer.with_room(Arc::clone(&room));
    if cutoff > 1 {
        // A third while attributes are counted, half of that or less afterwards.
        opened.indexer = opened.indexer.counting(cutoff, tables / 3);
    }
    let mut sentences = 0;
    let first = first_pass(&mut opened, options, cutoff, &mut sentences).map_err(|error| {
        if room.is_over() { too_small(limit, source.name(), sentences, 0) } else { error }
    })?;

    let Opened { file, format, label, features, program, mut indexer, classes, mut doubts, .. } = opened;
    indexer.writing(scratch, converter(first.schemes, options))?;
    let changed = || {
        seqoia_data::Error::new(file.as_str(), "the file has changed while it was read")
            .help("train again when nobody writes to it")
    };
    let reader = super::Source::from(source.open()?).reader(kind, options.features.reads_mentions());
    let same = |reader: &Reader| {
        let now = reader.format();
        now.kind() == format.kind() && now.columns() == format.columns()
    };
    // What could be read once and cannot be read now has changed.
    let Some(mut reader) = reader.ok().filter(same) else { return Err(changed().into()) };
    let read = indexer.read(&mut reader, label, threads, |_| ());
    let taken = match read {
        Ok(taken) => taken,
        Err(_) if room.is_over() => return Err(too_small(limit, &file, first.sentences, indexer.len())),
        Err(_) if digest(source, kind) != Some(first.digest) => return Err(changed().into()),
        Err(error) => return Err(error.into()),
    };
    if reader.digest() != first.digest {
        return Err(changed().into());
    }
    let text = first.text.max(reader.largest()).max(taken);
    drop(reader);
    doubts.extend(unmatched(&options.features.lexica, indexer.matched(), &file));
    let Some(mut spilled) = indexer.finish_outside(cutoff, tables / 4)? else {
        return Err(changed().into()); // nothing was written
    };

    let (kind, columns) = (format.kind(), format.columns());
    let guess = format.guess().and_then(|guess| guess.doubt());
    doubts.splice(0..0, guess.map(|doubt| format!("{file}: {doubt}")));
    check_features(&program, spilled.total[0], kind, &file)?;
    let schemes = first.schemes;
    let looked = look(&spilled, kind, &file, schemes, options, &mut doubts)?;
    let transitions = features.transitions.then_some(spilled.transitions.as_slice());
    let (space, new) = lay_out(spilled.labels.len(), &spilled.nodes, &spilled.edges, transitions, options)?;
    let mut all_weights = looked.weights;
    let weight = normalise(&mut all_weights, spilled.len());
    check_weights(weight, &all_weights, &file)?;

    let (tokens, disk) = (spilled.tokens(), spilled.disk());
    let dictionary = std::mem::replace(&mut spilled.dictionary, Growing::new(&program, Arc::default()));
    let labels = std::mem::take(&mut spilled.labels);
    let node_numbers = numbers(&spilled.kept_nodes, &new.nodes, dictionary.nodes.view().len());
    let edge_numbers = numbers(&spilled.kept_edges, &new.edges, dictionary.edges.view().len());
    let (cached, [items, edge_items]) =
        spilled.write(scratch, &new.nodes, &new.edges, all_weights, threads)?;
    let disk = disk.max(cached.length());
    Ok(TrainingSet {
        node_numbers,
        edge_numbers,
        counts: Counts { tokens, items, edge_items },
        text,
        corpus: Arc::new(cached),
        weight,
        space: Arc::new(space),
        program,
        dictionary,
        labels,
        schemes,
        kind,
        columns,
        label,
        classes: classes.finish(),
        transitions: features.transitions,
        without_pos: features.without_pos,
        digest: first.digest,
        cutoff,
        pairs: options.pairs_or_default(),
        recipe: options.recipe(),
        terms: data::terms(options, looked.rules.as_deref()),
        rules: looked.rules,
        broken: looked.broken,
        partial: options.partial.clone(),
        sets: looked.sets,
        costs: looked.costs,
        doubts,
        file,
        within: Some(Within { limit: limit.clone(), disk: Some(Disk { bytes: disk, why: String::new() }) }),
    })
}

/// Recognises the scheme, and counts attributes if there is a cut-off.
fn first_pass(
    opened: &mut Opened,
    options: &DataOptions,
    cutoff: u32,
    sentences: &mut usize,
) -> Result<First> {
    let Opened { file, reader, format, label, indexer, classes, .. } = opened;
    let mut recognition = Recognition::new(format.kind(), options);
    let mut raw = raw::Watch::default();
    let mut met = Labels::default();
    let mut see = |block: &Block| {
        classes.add(block);
        raw.look(&**format, block);
        let mut names = vec![];
        for sentence in block.sentences() {
            names.clear();
            names.extend(sentence.tokens.map(|i| block.field(i, *label)));
            recognition.sentence(&names);
            *sentences += 1;
        }
    };
    let mut text = 0;
    if cutoff > 1 {
        text = indexer.read(reader, *label, options.threads(), &mut see)?;
    } else {
        while let Some(block) = reader.next()? {
            see(block);
            check_labels(block, *label, file, &mut met)?;
        }
    }
    if *sentences == 0 {
        return Err(seqoia_data::Error::new(file.as_str(), "there is no sentence to learn from").into());
    }
    let schemes = recognition.finish(format.kind(), file, options)?;
    raw.check(file)?;
    Ok(First { schemes, digest: reader.digest(), sentences: *sentences, text: text.max(reader.largest()) })
}

/// What the file holds now, if it can be read.
fn digest(source: &Again, kind: Option<Kind>) -> Option<String> {
    let mut reader = super::Source::from(source.open().ok()?).reader(kind, false).ok()?;
    let mut block = Block::default();
    while reader.fill(&mut block).ok()? {}
    Some(reader.digest())
}

/// The labels of a block are such as can be learned: what the indexer checks where it reads labels as they are.
fn check_labels(block: &Block, column: usize, file: &str, met: &mut Labels) -> Result<()> {
    for i in 0..block.tokens().len() {
        let name = block.field(i, column);
        let error = if name.contains(OR) {
            seqoia_data::Error::at(file, block.line(i), format!("the label {name:?} holds a line end"))
                .help("a label is a word: take it out")
        } else if met.intern(name).is_none_or(|id| usize::from(id) >= MOST_LABELS) {
            let what = format!("there are more than {MOST_LABELS} different labels");
            seqoia_data::Error::at(file, block.line(i), what).help("is `label` the right column?")
        } else {
            continue;
        };
        return Err(error.into());
    }
    Ok(())
}

/// What is found out about the labels of all sentences.
struct Looked {
    rules: Option<Arc<Rules>>,
    broken: Option<Broken>,
    sets: Sets,
    costs: Vec<f64>,
    weights: Vec<f64>,
}

/// Looks at the labels of all sentences, as is done in memory.
fn look(
    spilled: &Spilled,
    kind: Kind,
    file: &str,
    schemes: Schemes,
    options: &DataOptions,
    doubts: &mut Vec<String>,
) -> Result<Looked> {
    let (names, absent) = (&spilled.labels, options.part_of.is_some());
    let bad = names.iter().position(|name| !can_be_label(name));
    let sets = sets_of(names.len(), &spilled.sets);
    let rules = options.rules.as_ref();
    let rules = rules.map(|choice| rules::rules(choice, names, schemes.model, file, absent)).transpose();
    let table = |given: &[(String, f64)], option| weights::per_label(given, names, option, file, absent);
    let (by_label, costs) =
        (table(&options.label_weights, "label-weight"), table(&options.label_costs, "label-cost"));
    let mut tally = Tally::new(names);
    let mut all: Vec<f64> = vec![];
    let mut broken: Option<Broken> = None;
    let mut unmet = Ok(());
    spilled.each_gold(|first, memory, lines| {
        if bad.is_some_and(|bad| memory.labels.iter().any(|y| usize::from(*y) == bad)) {
            check_names(names, memory, lines, file)?;
        }
        tally.add(memory, lines);
        if let Ok(Some(rules)) = &rules {
            if let Some(more) = rules::broken(rules, &sets, memory, names, lines) {
                let sentences = more.sentences;
                broken.get_or_insert(Broken { sentences: 0, ..more }).sentences += sentences;
            }
            if unmet.is_ok() {
                unmet = rules::can_be_met(rules, memory, lines, file);
            }
        }
        if let Ok(by_label) = &by_label {
            weights::weigh(memory, by_label);
        }
        debug_assert!(all.is_empty() || all.len() == first, "weights of all sentences, or of none");
        all.append(&mut memory.weights);
        Ok::<_, Error>(())
    })?;
    // In the order in which they are found in memory.
    if schemes.file.is_none()
        && let Some(what) = roles::nearly_chunks(names.iter())
    {
        doubts.push(format!("{file}: {what}; {}", roles::MEND));
    }
    if kind == Kind::Columns {
        doubts.extend(tally.suspects(names, file)?);
    }
    let rules = rules?.map(Arc::new);
    unmet?;
    by_label?;
    Ok(Looked { rules, broken, sets, costs: costs?, weights: all })
}

/// Tables that are larger than they may be after some of the sentences.
fn too_small(limit: &Limit, file: &str, all: usize, read: usize) -> Error {
    let what = "the values and attributes of the data are more than fits into it";
    if read == 0 {
        let help = "features that read fewer different values take less";
        return limit.refused(format!("{file}: {what}")).help(help).into();
    }
    // New attributes come less and less often, so this is more than enough.
    let share = real(all) / real(read);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // some times a size of memory
    let enough = size((real(limit.bytes) * share * 1.1).ceil() as usize);
    let what = format!("{file}: {what} after {read} of {all} sentences");
    limit.refused(what).help(help(enough)).into()
}
