//! A model that labels: opened from a file or from bytes, shared by any number of workers.

use std::path::Path;
use std::sync::Arc;

use seqoia_core::{Example, Sequence, SequenceView};
use seqoia_data::features::{
    ClustersView, Extractor, Frozen, KeysView, LexicaView, NamesView, Program, StringsView, WordListView,
};
use seqoia_data::format::{self, Block, Blocks, Kind};
use seqoia_data::open::Input;
use seqoia_data::scheme::{self, Scheme};
use seqoia_model::{Container, Error as ModelError};
use seqoia_structures::chain::{Decoder, Known, Labelling, Limits, Rules, Space, SpaceView};

use crate::checkpoint;
use crate::coded::{self, Bits};
use crate::error::{Error, Result, counted};
use crate::known::KnownLabels;
use crate::labels::Schemes;
use crate::meta::Meta;

/// An immutable model.
pub struct Labeller {
    container: Container,
    meta: Meta,
    program: Arc<Program>,
    schemes: Schemes,
    kind: Kind,
    rules: Option<Rules>,
    decoded: Option<Vec<f32>>, // weights that are not stored in single precision
}

impl Labeller {
    /// Maps a model file.
    ///
    /// # Errors
    /// When it cannot be read, is no model, or is damaged.
    pub fn open(path: &Path) -> Result<Labeller> {
        Self::check(Container::open(path)?)
    }

    /// A model that is in memory; `name` is for errors.
    ///
    /// # Errors
    /// When it is no model or is damaged.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Labeller> {
        Self::check(Container::from_bytes(name, bytes)?)
    }

    /// Everything that decoding relies on is looked at here, once.
    fn check(container: Container) -> Result<Labeller> {
        let damaged = |what: &str| {
            ModelError::new(
                container.file(),
                what,
                "the file is damaged: copy it again, or train the model anew",
            )
        };
        if container.has(checkpoint::SECTION) {
            let help = "train --resume goes on with it and writes a model";
            return Err(ModelError::new(container.file(), "this is a checkpoint, not a model", help).into());
        }
        let meta: Meta = serde_json::from_slice(container.get("meta")?)
            .map_err(|e| damaged(&format!("its description cannot be read: {e}")))?;
        let piece_fits = |t: &seqoia_data::features::Template| {
            let parts = t
                .name
                .iter()
                .all(|p| !matches!(p, seqoia_data::features::Part::Piece(i) if *i >= t.pieces.len()));
            let given = |p: &seqoia_data::features::Piece| p.source == seqoia_data::features::Source::Given;
            let whole = !t.pieces.iter().any(given) || *t == seqoia_data::features::Template::given();
            parts
                && whole
                && t.pieces.len() <= seqoia_data::features::crfpp::MOST_PIECES
                && t.pieces.iter().all(|p| p.offset.unsigned_abs() <= 1000)
        };
        if !meta.templates.iter().all(piece_fits) {
            return Err(damaged("a template is broken").into());
        }
        if meta.structure != "chain" {
            return Err(damaged(&format!("it holds a '{}', not a chain", meta.structure)).into());
        }
        let scheme = |name: &Option<String>| match name {
            None => Ok(None),
            Some(name) => Scheme::parse(name).map(Some).ok_or_else(|| damaged("its label scheme is unknown")),
        };
        let schemes = Schemes { file: scheme(&meta.file_scheme)?, model: scheme(&meta.model_scheme)? };
        let kind = Kind::parse(&meta.format).ok_or_else(|| damaged("its data format is unknown"))?;
        let program = Arc::new(Program::new(meta.templates.clone()));
        let rules = match container.has("rules") {
            false => None,
            true => {
                let rules = Rules::from_bits(meta.labels.len(), container.get("rules")?);
                Some(rules.ok_or_else(|| damaged("its rules do not fit its labels"))?)
            }
        };
        let decoded = coded::read(&container)?;
        let labeller = Labeller { container, meta, program, schemes, kind, rules, decoded };
        let fits = {
            let (space, frozen) = (labeller.space()?, labeller.frozen()?);
            space.is_sound()
                && space.weights() == labeller.weights()?.len()
                && frozen.node_numbers.is_some_and(|numbers| {
                    numbers.len() == frozen.nodes.len() && numbers.iter().all(|&a| space.has(a))
                })
                && space.edge_attributes() == frozen.edges.len()
                && labeller.weights()?.iter().all(|w| w.is_finite())
                && labeller.meta.label_column < labeller.meta.columns
                && labeller
                    .meta
                    .templates
                    .iter()
                    .all(|t| t.last_column().is_none_or(|c| usize::from(c) < labeller.meta.columns))
        };
        if !fits {
            let file = labeller.container.file();
            let help = "the file is damaged: copy it again, or train the model anew";
            return Err(ModelError::new(file, "its parts do not fit together", help).into());
        }
        Ok(labeller)
    }

    /// What the model says about itself.
    #[must_use]
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The format of its training data.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Size of the file.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.container.len()
    }

    /// Names of the labels one by one: in the scheme of the training file, if a label has a name there
    /// whatever stands beside it; else in the model's scheme, which is then given.
    pub(crate) fn single_names(&self) -> (Vec<String>, Option<Scheme>) {
        let Schemes { file: Some(file), model: Some(model) } = self.schemes else {
            return (self.meta.labels.clone(), None);
        };
        match self.meta.labels.iter().map(|l| scheme::rename(model, file, l)).collect() {
            Some(names) => (names, None),
            None => (self.meta.labels.clone(), Some(model)),
        }
    }

    /// Columns that templates read, from the first on.
    pub(crate) fn columns_read(&self) -> usize {
        let last = self.meta.templates.iter().filter_map(|t| t.last_column()).max();
        last.map_or(0, |c| usize::from(c) + 1)
    }

    pub(crate) fn rules(&self) -> Option<&Rules> {
        self.rules.as_ref()
    }

    /// How its weights are stored.
    #[must_use]
    pub fn bits(&self) -> Bits {
        Bits::of(&self.container)
    }

    pub(crate) fn container(&self) -> &Container {
        &self.container
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    pub(crate) fn space(&self) -> Result<SpaceView<'_>> {
        let labels = self.meta.labels.len();
        Ok(SpaceView {
            labels,
            width: Space::padded(labels),
            dense: self.meta.dense,
            singles: self.container.get("space.singles")?,
            edge_starts: self.container.get("space.estarts")?,
            edge_pairs: self.container.get("space.epairs")?,
        })
    }

    pub(crate) fn weights(&self) -> Result<&[f32]> {
        match &self.decoded {
            Some(weights) => Ok(weights),
            None => Ok(coded::plain(&self.container)?),
        }
    }

    pub(crate) fn frozen(&self) -> Result<Frozen<'_>> {
        let stride = self.program.stride();
        let keys = |keys, slots| -> Result<KeysView<'_>> {
            Ok(KeysView { stride, keys: self.container.get(keys)?, slots: self.container.get(slots)? })
        };
        Ok(Frozen {
            strings: self.strings(["strings.text", "strings.starts", "strings.slots"])?,
            nodes: keys("nodes.keys", "nodes.slots")?,
            edges: keys("edges.keys", "edges.slots")?,
            node_numbers: Some(self.container.get("nodes.numbers")?),
            edge_numbers: None,
            dense: u32::try_from(self.meta.dense).unwrap_or(u32::MAX),
            lexica: self.lexica()?,
        })
    }

    fn strings(&self, names: [&str; 3]) -> Result<StringsView<'_>> {
        let [text, starts, slots] = names;
        Ok(StringsView {
            text: self.container.get(text)?,
            starts: self.container.get(starts)?,
            slots: self.container.get(slots)?,
        })
    }

    /// The lists from outside; empty ones if the model has none.
    fn lexica(&self) -> Result<LexicaView<'_>> {
        let mut lexica = LexicaView::default();
        if self.container.has("clusters.paths") {
            lexica.clusters = ClustersView {
                words: self.strings(["clusters.text", "clusters.starts", "clusters.slots"])?,
                paths: self.strings(["paths.text", "paths.starts", "paths.slots"])?,
                path_of: self.container.get("clusters.paths")?,
            };
        }
        if self.container.has("names.lists") {
            let strings = self.strings(["names.text", "names.starts", "names.slots"])?;
            lexica.names = NamesView { strings, masks: self.container.get("names.lists")? };
            let strings = self.strings(["lower.text", "lower.starts", "lower.slots"])?;
            lexica.lower = NamesView { strings, masks: self.container.get("lower.lists")? };
        }
        if self.container.has("words.marks") {
            let strings = self.strings(["words.text", "words.starts", "words.slots"])?;
            lexica.words = WordListView { strings, marks: self.container.get("words.marks")?, sentence: 0 };
        }
        Ok(lexica)
    }
}

/// One worker with a model.
pub struct Predictor {
    labeller: Arc<Labeller>,
    extractor: Option<Extractor>,
    decoder: Decoder<f32>,
    sequence: Sequence, // its labels are those that are known
    known: Option<KnownLabels>,
    best: Vec<u16>,
    place: (String, u64), // file and line of the sentence
}

/// Probabilities of one sentence.
pub(crate) struct Probabilities {
    /// Of the best labelling.
    pub(crate) sequence: f64,
    /// Of each label at each token: `[T][K]`.
    pub(crate) marginals: Vec<Vec<f64>>,
    /// log Z.
    pub(crate) log_z: f64,
}

impl Predictor {
    /// A worker.
    #[must_use]
    pub fn new(labeller: Arc<Labeller>) -> Self {
        Predictor {
            labeller,
            extractor: None,
            decoder: Decoder::default(),
            sequence: Sequence::default(),
            known: None,
            best: vec![],
            place: Default::default(),
        }
    }

    /// Keeps to the labels that stand in the data; `mark` stands where none is known.
    #[must_use]
    pub fn with_known(self, mark: &str) -> Self {
        let known = KnownLabels::new(&self.labeller.meta, self.labeller.schemes, mark);
        Predictor { known: Some(known), ..self }
    }

    /// The model.
    #[must_use]
    pub fn labeller(&self) -> &Labeller {
        &self.labeller
    }

    /// Labels a sentence given as rows of fields, without the label; in the scheme of the training
    /// file. If the model was trained on a file that has attributes (CRFsuite's text, for one), a row is
    /// the attributes of a token.
    ///
    /// # Errors
    /// When a row has too few fields, or a field is empty or holds a tab or a line end.
    pub fn label(&mut self, rows: &[&[&str]]) -> Result<Vec<String>> {
        if rows.is_empty() {
            return Ok(vec![]);
        }
        self.read_rows(rows)?;
        let best = self.best_labels()?.to_vec();
        let mut out = vec![];
        self.names(&best, &mut out);
        Ok(out)
    }

    /// Extracts the attributes of a sentence given as rows, of which there is at least one.
    pub(crate) fn read_rows(&mut self, rows: &[&[&str]]) -> Result<()> {
        let labeller = Arc::clone(&self.labeller);
        let (given, needed) = (labeller.program.given().is_some(), labeller.columns_read().max(1));
        let mut text = String::new();
        for row in rows {
            if !given && row.len() < needed {
                return Err(Error::Option(format!(
                    "a token has {}, the model reads {needed}",
                    counted(row.len(), "field")
                )));
            }
            if row.iter().any(|f| f.is_empty() || f.contains(['\t', '\n', '\r'])) {
                return Err(Error::Option("a field is empty or holds a tab or a line end".to_owned()));
            }
            if given {
                let escaped =
                    row.iter().map(|a| format!("\t{}", a.replace('\\', "\\\\").replace(':', "\\:")));
                text.push('_');
                text.extend(escaped);
                text.push('\n');
                continue;
            }
            text.push_str(&row.join("\t"));
            text.push_str("\t_\n"); // in place of the label, so that there is always a tab
        }
        let (mut blocks, mut block) = (Blocks::new(Input::from_bytes("sentence", text)?), Block::default());
        let kind = if given { Kind::Crfsuite } else { Kind::Columns };
        let format = format::first(&mut blocks, &mut block, Some(kind))?;
        format.parse("sentence", &mut block)?;
        if block.tokens().len() != rows.len() {
            return Err(Error::Option("-DOCSTART- is no word: it stands between documents".to_owned()));
        }
        self.read("sentence", &block, 0..rows.len(), 0)
    }

    /// The sentence that was read.
    pub(crate) fn sequence(&self) -> SequenceView<'_> {
        self.sequence.view()
    }

    /// Extracts the attributes of a sentence, and the labels that are known, which stand in column `label`.
    pub(crate) fn read(
        &mut self,
        file: &str,
        block: &Block,
        tokens: std::ops::Range<usize>,
        label: usize,
    ) -> Result<()> {
        if self.place.0 != file {
            file.clone_into(&mut self.place.0);
        }
        self.place.1 = block.line(tokens.start);
        if let Some(known) = &mut self.known {
            let names = tokens.clone().map(|i| block.field(i, label));
            known.read(names, &mut self.sequence.labels).map_err(|t| {
                let (i, mark) = (tokens.start + t, known.mark());
                let what =
                    format!("the label '{}' is given, which the model does not know", block.field(i, label));
                let help = format!("write {mark} where no label is known, or train with it");
                seqoia_data::Error::at(file, block.line(i), what).help(help)
            })?;
        }
        let mut frozen = self.labeller.frozen()?;
        let extractor = self
            .extractor
            .get_or_insert_with(|| Extractor::new(Arc::clone(&self.labeller.program), &mut frozen));
        for lists in [&mut self.sequence.nodes, &mut self.sequence.edges] {
            lists.starts.clear();
            lists.items.clear();
            lists.values.clear();
        }
        let Sequence { nodes, edges, .. } = &mut self.sequence;
        Ok(extractor.extract(&mut frozen, file, block, tokens, nodes, edges)?)
    }

    /// The best labelling of the sentence that was read.
    pub(crate) fn best_labels(&mut self) -> Result<&[u16]> {
        let (space, w) = (self.labeller.space()?, self.labeller.weights()?);
        let limits = limits(&self.labeller, self.known.as_ref(), &self.sequence);
        let score = self.decoder.best(space, w, self.sequence.view(), limits, &mut self.best);
        if !score.is_finite() {
            return Err(self.nothing_allowed());
        }
        Ok(&self.best)
    }

    fn nothing_allowed(&self) -> Error {
        let (file, line) = (&self.place.0, self.place.1);
        if self.labeller.rules.is_none() && self.known.is_none() {
            let what = "the scores of the sentence are beyond all numbers";
            let help = "the weights or the values of attributes are too large: train with a stronger penalty";
            return seqoia_data::Error::at(file, line, what).help(help).into();
        }
        let help = "give fewer labels, or train with rules that leave a way";
        let what = "the sentence has no labelling that the rules and the given labels allow";
        seqoia_data::Error::at(file, line, what).help(help).into()
    }

    /// The k best labellings of the sentence that was read.
    pub(crate) fn nbest(&mut self, k: usize) -> Result<Vec<Labelling>> {
        let (space, w) = (self.labeller.space()?, self.labeller.weights()?);
        let limits = limits(&self.labeller, self.known.as_ref(), &self.sequence);
        let found = self.decoder.nbest(space, w, self.sequence.view(), limits, k);
        if found.is_empty() && k > 0 && !self.sequence.view().is_empty() {
            return Err(self.nothing_allowed());
        }
        Ok(found)
    }

    /// Probabilities in the sentence that was read; of the sequence, that of `labels`.
    pub(crate) fn probabilities(&mut self, labels: &[u16]) -> Result<Probabilities> {
        let (space, w) = (self.labeller.space()?, self.labeller.weights()?);
        let limits = limits(&self.labeller, self.known.as_ref(), &self.sequence);
        let log_z = self.decoder.marginals(space, w, self.sequence.view(), limits);
        let sequence = self.probability(labels, log_z)?;
        let row = |t: usize| {
            (0..space.labels).map(|y| self.decoder.marginal(space, t, seqoia_core::cast::label(y))).collect()
        };
        Ok(Probabilities { sequence, marginals: (0..labels.len()).map(row).collect(), log_z })
    }

    /// Probability of a labelling of the sentence that was scored last.
    pub(crate) fn probability(&self, labels: &[u16], log_z: f64) -> Result<f64> {
        if !log_z.is_finite() {
            return Err(self.nothing_allowed());
        }
        Ok((self.decoder.score_of(self.labeller.space()?, labels) - log_z).exp().min(1.0))
    }

    /// Names of labels, in the scheme of the training file.
    pub(crate) fn names(&self, labels: &[u16], out: &mut Vec<String>) {
        let meta = &self.labeller.meta;
        let names: Vec<&str> = labels.iter().map(|y| meta.labels[usize::from(*y)].as_str()).collect();
        match self.labeller.schemes {
            Schemes { file: Some(file), model: Some(model) } if file != model => {
                scheme::convert(model, file, &names, out);
            }
            _ => {
                out.clear();
                out.extend(names.into_iter().map(str::to_owned));
            }
        }
        // What is known is written as it was, whatever the labels around it make of it in a scheme.
        if let Some(known) = &self.known {
            let given = out.iter_mut().zip(&known.names).filter(|(_, name)| !name.is_empty());
            given.for_each(|(out, name)| out.clone_from(name));
        }
    }
}

/// What labellings of a sentence are held to.
fn limits<'a>(labeller: &'a Labeller, known: Option<&'a KnownLabels>, sequence: &'a Sequence) -> Limits<'a> {
    let known = known.map(|known| Known { labels: &sequence.labels, sets: &known.sets });
    Limits { rules: labeller.rules.as_ref(), known }
}
