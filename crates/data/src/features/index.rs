//! Collects a training set: attributes get numbers as they come, then those that are too rare are
//! dropped and the pairs of attributes and labels that occur are counted.

use std::ops::Range;
use std::sync::Arc;

use super::outside::{Away, Gold, Room};
use super::pairs::{counts, few_labels, frequent, pairs, pairs_of_masks};
use super::{Extractor, Growing, Lexica, Matched, Memory, NONE, Program, Strings};
use crate::error::{Error, Result};
use crate::format::Block;
use seqoia_core::cast::{label, narrow};
use seqoia_core::{Pairs, Ragged};

/// The most labels that can be learned. Label pairs have a square of weights: beyond this the wrong column was
/// read.
pub const MOST_LABELS: usize = 8_000; // four times as many in another scheme fit into 15 bits

/// Label names with numbers in order of arrival.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    names: Strings,
}

impl Labels {
    /// The number of a label, a new one if it is new; `None` beyond 65,535.
    pub fn intern(&mut self, name: &str) -> Option<u16> {
        let id = self.names.intern(name.as_bytes())?;
        u16::try_from(id).ok().filter(|id| *id < u16::MAX)
    }

    /// The name of a label.
    #[must_use]
    pub fn name(&self, id: u16) -> &str {
        self.names.view().get(u32::from(id)).and_then(|n| std::str::from_utf8(n).ok()).unwrap_or("")
    }

    /// Number of labels.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.view().len()
    }

    /// No labels.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All names in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> + Clone {
        (0..self.len()).map(|i| self.name(label(i)))
    }
}

/// Between the labels of which a gold label that is known in part may be one; alone: any.
pub const OR: &str = "\n";

/// Takes in sentences.
pub struct Indexer {
    pub(super) dictionary: Growing,
    pub(super) extractor: Extractor,
    pub(super) labels: Labels,
    pub(super) corpus: Memory,
    pub(super) lines: Option<Vec<u32>>, // of each token, if they are wanted
    pub(super) away: Option<(Away, Gold)>, // what does not stay in memory
    pub(super) room: Option<Arc<Room>>,
}

/// An [`Indexer`] in parts.
pub(super) struct Parts<'a> {
    pub(super) dictionary: &'a mut Growing,
    pub(super) extractor: &'a mut Extractor,
    pub(super) nodes: &'a mut Ragged,
    pub(super) edges: &'a mut Ragged,
    pub(super) rest: Rest<'a>,
    pub(super) away: Option<&'a mut Away>,
    pub(super) room: Option<&'a Room>,
}

/// All of a training set but its attributes.
pub(super) struct Rest<'a> {
    labels: &'a mut Labels,
    gold: &'a mut Vec<u16>,
    ends: &'a mut Vec<u32>,
    weights: &'a mut Vec<f64>,
    lines: Option<&'a mut Vec<u32>>,
    away: Option<&'a mut Gold>,
}

impl Rest<'_> {
    /// Number of sentences so far.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Takes in the gold labels of a sentence, its lines and its weight.
    pub(super) fn push<'a>(
        &mut self,
        file: &str,
        block: &Block,
        tokens: Range<usize>,
        gold: impl Iterator<Item = &'a str>,
    ) -> Result<()> {
        if let Some(lines) = &mut self.lines {
            lines.extend(tokens.clone().map(|i| u32::try_from(block.line(i)).unwrap_or(u32::MAX)));
        }
        if let Some(convert) = self.away.as_mut().and_then(|away| away.convert.as_mut()) {
            let (names, mut new): (Vec<&str>, _) = (gold.collect(), vec![]);
            convert(&names, &mut new);
            // A scheme has a few labels for each that there was, so they still fit.
            self.gold.extend(new.iter().map(|name| self.labels.intern(name).unwrap_or(0)));
            return self.end(block.weight(tokens.start));
        }
        for (i, name) in tokens.clone().zip(gold) {
            if name.contains(OR) {
                return Err(Error::at(file, block.line(i), format!("the label {name:?} holds a line end"))
                    .help("a label is a word: take it out"));
            }
            let id = self.labels.intern(name).filter(|&id| usize::from(id) < MOST_LABELS);
            self.gold.push(id.ok_or_else(|| {
                Error::at(file, block.line(i), format!("there are more than {MOST_LABELS} different labels"))
                    .help("is `label` the right column?")
            })?);
        }
        self.end(block.weight(tokens.start))
    }

    /// A sentence ends here.
    fn end(&mut self, weight: f64) -> Result<()> {
        if weight != 1.0 || !self.weights.is_empty() {
            self.weights.resize(self.ends.len(), 1.0);
            self.weights.push(weight);
        }
        let before = self.away.as_ref().map_or(0, |away| away.tokens);
        self.ends.push(narrow(before + self.gold.len()));
        Ok(())
    }

    /// Takes labels away, where they do not stay in memory.
    pub(super) fn settle(&mut self) -> Result<()> {
        match &mut self.away {
            Some(away) => away.take(self.gold, self.lines.as_deref_mut()),
            None => Ok(()),
        }
    }

    /// Bytes of what stays.
    pub(super) fn bytes(&self) -> usize {
        let lines = self.lines.as_ref().map_or(0, |lines| lines.len());
        2 * self.gold.len() + 4 * (lines + self.ends.len()) + 8 * self.weights.len()
    }
}

/// Refuses what cannot be counted any more, in this line.
pub(super) fn check_room(full: bool, items: usize, file: &str, line: u64) -> Result<()> {
    if full || items > NONE as usize - 64 {
        return Err(Error::at(file, line, "the data has more than four billion attributes")
            .help("split the data, or use fewer templates"));
    }
    Ok(())
}

/// A training set in numbers. Attributes still have the numbers of their arrival.
pub struct Indexed {
    /// The sequences, with the numbers of the dictionary.
    pub corpus: Memory,
    /// The tables of values and attributes.
    pub dictionary: Growing,
    /// The labels.
    pub labels: Labels,
    /// Which labels go with which attributes of tokens; dropped attributes have none.
    pub nodes: Pairs,
    /// Which label pairs `y' * K + y` go with which attributes of edges.
    pub edges: Pairs,
    /// The attributes that are frequent enough, in order of arrival: their numbers among all.
    pub kept_nodes: Vec<u32>,
    /// The same for edges.
    pub kept_edges: Vec<u32>,
    /// Label pairs that occur, ascending.
    pub transitions: Vec<u32>,
    /// Sets of labels: a gold label from the number of labels on is one of them, in this order.
    pub sets: Vec<Vec<u16>>,
    /// The line of each token, if they were wanted.
    pub lines: Vec<u32>,
}

impl Indexer {
    /// For a program of templates and the lists that they look into.
    #[must_use]
    pub fn new(program: Arc<Program>, lexica: Arc<Lexica>) -> Self {
        let mut dictionary = Growing::new(&program, lexica);
        let extractor = Extractor::new(program, &mut dictionary);
        Indexer {
            dictionary,
            extractor,
            labels: Labels::default(),
            corpus: Memory::default(),
            lines: None,
            away: None,
            room: None,
        }
    }

    /// Notes the line of every token.
    #[must_use]
    pub fn with_lines(self) -> Self {
        Indexer { lines: Some(vec![]), ..self }
    }

    /// Stops when tables and examples take more than this: see [`Room`].
    #[must_use]
    pub fn with_room(self, room: Arc<Room>) -> Self {
        Indexer { room: Some(room), ..self }
    }

    /// Takes in a sentence with its gold labels.
    ///
    /// # Errors
    /// A value that is no number; more of anything than can be counted.
    pub fn push<'a>(
        &mut self,
        file: &str,
        block: &Block,
        tokens: Range<usize>,
        gold: impl Iterator<Item = &'a str>,
    ) -> Result<()> {
        self.dictionary.sentence = narrow(self.corpus.ends.len() + 1);
        let Memory { nodes, edges, .. } = &mut self.corpus;
        self.extractor.extract(&mut self.dictionary, file, block, tokens.clone(), nodes, edges)?;
        let (full, items) = (self.dictionary.is_full(), nodes.items.len().max(edges.items.len()));
        self.split().rest.push(file, block, tokens.clone(), gold)?;
        check_room(full, items, file, block.line(tokens.start))
    }

    /// Its parts, for two threads.
    pub(super) fn split(&mut self) -> Parts<'_> {
        let Indexer { dictionary, extractor, labels, corpus, lines, away, room } = self;
        let Memory { nodes, edges, labels: gold, ends, weights } = corpus;
        let (away, away_gold) = away.as_mut().map(|(away, gold)| (away, gold)).unzip();
        let rest = Rest { labels, gold, ends, weights, lines: lines.as_mut(), away: away_gold };
        Parts { dictionary, extractor, nodes, edges, rest, away, room: room.as_deref() }
    }

    /// What was found in lists so far.
    #[must_use]
    pub fn matched(&self) -> &Matched {
        self.extractor.matched()
    }

    /// Calls `see` with the gold labels of every sentence.
    pub fn for_each_gold(&self, mut see: impl FnMut(&[&str])) {
        let (mut names, mut from) = (vec![], 0);
        for &end in &self.corpus.ends {
            names.clear();
            names.extend(self.corpus.labels[from..end as usize].iter().map(|&y| self.labels.name(y)));
            see(&names);
            from = end as usize;
        }
    }

    /// Replaces the gold labels of every sentence, such as by those of another scheme. Several labels with
    /// [`OR`] between them are a label that is known in part.
    pub fn relabel(&mut self, mut convert: impl FnMut(&[&str], &mut Vec<String>)) {
        let (mut labels, mut ids, mut new) = (Labels::default(), vec![], vec![]);
        self.for_each_gold(|names| {
            convert(names, &mut new);
            // A scheme has a few labels for each that there was, so they still fit.
            ids.extend(new.iter().map(|name| labels.intern(name).unwrap_or(0)));
        });
        (self.labels, self.corpus.labels) = (labels, ids);
    }

    /// Number of sentences so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.corpus.ends.len()
    }

    /// No sentence so far.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Drops attributes that occur fewer than `cutoff` times, over all labels, and counts pairs, on at most so many
    /// threads.
    #[must_use]
    pub fn finish(self, cutoff: u32, threads: usize) -> Indexed {
        let Indexer { mut dictionary, labels, mut corpus, lines, .. } = self;
        dictionary.sentence = 0;
        corpus.shrink();
        let Apart { labels, sets, any, numbers } = take_apart(labels);
        if !sets.is_empty() {
            corpus.labels.iter_mut().for_each(|y| *y = numbers[usize::from(*y)]);
        }
        let k = labels.len();
        let singles: Vec<u16> = (0..k).map(label).collect();
        // What a label may be says something of each; a label that may be any says nothing.
        let known = |t: usize| match corpus.labels[t] {
            y if usize::from(y) < k => &singles[usize::from(y)..][..1],
            y if Some(y) == any => &[],
            y => &sets[usize::from(y) - k][..],
        };
        let attributes = dictionary.nodes.view().len();
        let few = (k <= 64).then(|| few_labels(&corpus.nodes, attributes, threads, known));
        let node_counts = match &few {
            Some(seen) => seen.iter().map(|seen| seen.count).collect(),
            None => counts(&corpus.nodes, attributes),
        };
        let edge_counts = counts(&corpus.edges, dictionary.edges.view().len());
        let kept_nodes = frequent(&node_counts, cutoff);
        let kept_edges = frequent(&edge_counts, cutoff);
        let node = |t: usize| known(t).iter().map(|y| usize::from(*y));
        let nodes = match few {
            Some(seen) => pairs_of_masks(&seen, &kept_nodes),
            None => pairs(&corpus.nodes, &node_counts, &kept_nodes, k, node),
        };
        let mut is_first = vec![false; corpus.labels.len() + 1];
        is_first[0] = true;
        corpus.ends.iter().for_each(|&end| is_first[end as usize] = true);
        let pair = |t: usize| {
            let before = if is_first[t] { &[] } else { known(t - 1) };
            before
                .iter()
                .flat_map(move |x| known(t).iter().map(move |y| usize::from(*x) * k + usize::from(*y)))
        };
        let edges = pairs(&corpus.edges, &edge_counts, &kept_edges, k * k, pair);
        let mut seen = vec![false; k * k];
        (0..corpus.labels.len()).for_each(|t| pair(t).for_each(|p| seen[p] = true));
        let transitions = (0..narrow(k * k)).filter(|&p| seen[p as usize]).collect();
        let lines = lines.unwrap_or_default();
        Indexed { corpus, dictionary, labels, nodes, edges, kept_nodes, kept_edges, transitions, sets, lines }
    }
}

/// Labels, and sets of them.
pub(super) struct Apart {
    pub(super) labels: Labels,
    pub(super) sets: Vec<Vec<u16>>,
    pub(super) any: Option<u16>, // the number of the set that holds all, whatever they are
    pub(super) numbers: Vec<u16>, // of each label as it was
}

/// Labels that are known in part get numbers behind all others.
pub(super) fn take_apart(labels: Labels) -> Apart {
    if labels.iter().all(|name| !name.contains(OR)) {
        let numbers = (0..labels.len()).map(label).collect();
        return Apart { labels, sets: vec![], any: None, numbers };
    }
    let mut plain = Labels::default();
    // What is joined is no more than there were labels in the scheme that was read, so numbers suffice.
    let mut number = |name: &str| plain.intern(name).unwrap_or(0);
    let mut numbers: Vec<u16> =
        labels.iter().map(|name| if name.contains(OR) { 0 } else { number(name) }).collect();
    let joined = labels.iter().filter(|name| name.contains(OR));
    let mut sets: Vec<Vec<u16>> = joined
        .map(|name| name.split(OR).filter(|part| !part.is_empty()).map(&mut number).collect())
        .collect();
    let all: Vec<u16> = (0..plain.len()).map(label).collect();
    sets.iter_mut().filter(|set| set.is_empty()).for_each(|set| set.clone_from(&all));
    let (mut next, mut any) = (plain.len(), None);
    for (number, name) in numbers.iter_mut().zip(labels.iter()) {
        if name.contains(OR) {
            *number = label(next);
            any = any.or(Some(*number).filter(|_| name == OR));
            next += 1;
        }
    }
    Apart { labels: plain, sets, any, numbers }
}

#[cfg(test)]
mod tests {
    use super::super::{Frozen, LexicaView, crfpp};
    use super::*;
    use crate::format;
    use crate::open::Input;

    fn read(text: &str) -> Block {
        let mut blocks = format::Blocks::new(Input::from_bytes("x", text).unwrap());
        let mut block = Block::default();
        let format = format::first(&mut blocks, &mut block, None).unwrap();
        format.parse("x", &mut block).unwrap();
        block
    }

    fn index(templates: &str, text: &str, cutoff: u32) -> (Arc<Program>, Indexed) {
        let program = Arc::new(Program::new(crfpp::parse("t", templates).unwrap().templates));
        let (mut indexer, block) = (Indexer::new(Arc::clone(&program), Arc::default()), read(text));
        for s in block.sentences() {
            let last = |i| block.columns(i).last().unwrap_or("");
            indexer.push("x", &block, s.tokens.clone(), s.tokens.map(last)).unwrap();
        }
        (program, indexer.finish(cutoff, 1))
    }

    fn names(program: &Program, indexed: &Indexed, t: usize) -> Vec<String> {
        let kept = |a: &&u32| indexed.kept_nodes.contains(a);
        let key = |a| indexed.dictionary.nodes.view().get(a).unwrap();
        let items = indexed.corpus.nodes.view().at(t);
        items.iter().filter(kept).map(|a| program.name(key(*a), indexed.dictionary.strings.view())).collect()
    }

    const TEXT: &str = "a X 1\nb Y 2\n\na Z 2\n";

    #[test]
    fn attributes_have_the_names_that_crfpp_gives_them() {
        let (program, indexed) = index("U0:%x[-1,0]/%x[0,1]\nU1:%x[1,0]", TEXT, 1);
        assert_eq!(names(&program, &indexed, 0), ["U0:_B-1/X", "U1:b"]);
        assert_eq!(names(&program, &indexed, 1), ["U0:a/Y", "U1:_B+1"]);
        assert_eq!(names(&program, &indexed, 2), ["U0:_B-1/Z", "U1:_B+1"]);
        assert_eq!(indexed.labels.iter().collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(indexed.transitions, [1]);
        assert_eq!(indexed.corpus.ends, [2, 3]);
    }

    #[test]
    fn pairs_are_those_that_occur_and_rare_attributes_go() {
        let (program, indexed) = index("U0:%x[0,0]\nU1:%x[0,1]", TEXT, 2);
        assert_eq!(names(&program, &indexed, 0), ["U0:a"]);
        assert_eq!(names(&program, &indexed, 1), [""; 0]);
        assert_eq!((indexed.nodes.of(0), indexed.nodes.counts[0]), (&[0, 1][..], 2));
    }

    #[test]
    fn templates_without_identifier_share_their_attributes() {
        let (program, indexed) = index("U:%x[-1,0]\nU:%x[1,0]", "a 1\nb 1\na 1\n", 1);
        assert_eq!(names(&program, &indexed, 1), ["U:a", "U:a"]);
    }

    #[test]
    fn edges_and_values() {
        let text = "a 0.5 1\nb 2 2\n\nb 3 2\n";
        let (_, indexed) = index("U0:%v[0,1]\nU1:%x[0,0]\nB1:%x[0,0]", text, 1);
        assert_eq!(indexed.corpus.nodes.values, [0.5, 1.0, 2.0, 1.0, 3.0, 1.0]);
        assert_eq!(indexed.corpus.edges.starts, [0, 1, 2, 3]);
        // `b` enters an edge once, with the label pair 1 2; the first token of a sentence has none.
        assert_eq!((indexed.edges.of(0), indexed.edges.of(1)), (&[][..], &[1][..]));
        let program = Arc::new(Program::new(crfpp::parse("t", "U0:%v[0,0]").unwrap().templates));
        let block = read(text);
        let error = Indexer::new(program, Arc::default())
            .push("x", &block, 0..2, ["1", "2"].into_iter())
            .unwrap_err();
        assert!(error.to_string().starts_with("x:1: 'a' in column 0 is no number"));
    }

    #[test]
    fn labels_known_in_part_become_sets() {
        let program = Arc::new(Program::new(crfpp::parse("t", "U0:%x[0,0]").unwrap().templates));
        let (mut indexer, block) =
            (Indexer::new(program, Arc::default()).with_lines(), read("a 1\nb _\na 2\n\nc 3\na 2\n"));
        for s in block.sentences() {
            let last = |i| block.columns(i).last().unwrap_or("");
            indexer.push("x", &block, s.tokens.clone(), s.tokens.map(last)).unwrap();
        }
        let joined = |name: &str| match name {
            "_" => OR.to_owned(),
            "3" => "3\n1".to_owned(),
            name => name.to_owned(),
        };
        indexer.relabel(|names, out| {
            out.clear();
            out.extend(names.iter().map(|name| joined(name)));
        });
        let indexed = indexer.finish(1, 1);
        assert_eq!(indexed.labels.iter().collect::<Vec<_>>(), ["1", "2", "3"]);
        assert_eq!(indexed.corpus.labels, [0, 3, 1, 4, 1]);
        assert_eq!(indexed.sets, [vec![0, 1, 2], vec![2, 0]]);
        assert_eq!(indexed.lines, [1, 2, 3, 5, 6]);
        // 1 2 and 3 2: what may be either may be each; what may be any says nothing.
        assert_eq!(indexed.transitions, [1, 7]);
        let labels = |word: u32| indexed.nodes.of(word as usize);
        assert_eq!([labels(0), labels(1), labels(2)], [&[0, 1][..], &[], &[0, 2]]);
    }

    #[test]
    fn too_many_labels_are_a_wrong_column() {
        let text: String = (0..=MOST_LABELS).map(|i| format!("a {i}\n")).collect();
        let (program, block) = (Arc::new(Program::new(vec![])), read(&text));
        let push = |tokens: Range<usize>| {
            let gold = tokens.clone().map(|i| block.columns(i).last().unwrap_or(""));
            Indexer::new(Arc::clone(&program), Arc::default()).push("x", &block, tokens, gold)
        };
        push(0..MOST_LABELS).unwrap();
        let error = push(0..MOST_LABELS + 1).unwrap_err().to_string();
        assert!(error.starts_with("x:8001: there are more than 8000 different labels"), "{error}");
    }

    #[test]
    fn what_was_never_seen_is_left_out() {
        let (program, indexed) = index("U0:%x[0,0]\nU1:%x[0,0]/%x[0,1]", TEXT, 1);
        let d = &indexed.dictionary;
        let mut frozen = Frozen {
            strings: d.strings.view(),
            nodes: d.nodes.view(),
            edges: d.edges.view(),
            node_numbers: None,
            edge_numbers: None,
            dense: 0,
            lexica: LexicaView::default(),
        };
        let block = read("a Y\nc X\n");
        let (mut nodes, mut edges) = (Ragged::default(), Ragged::default());
        let mut extractor = Extractor::new(program, &mut frozen);
        extractor.extract(&mut frozen, "x", &block, 0..2, &mut nodes, &mut edges).unwrap();
        assert_eq!(nodes.starts, [0, 1, 1]);
        assert!(edges.items.is_empty());
    }
}
