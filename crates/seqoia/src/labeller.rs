//! A model that labels: opened from a file or from bytes, shared by any number of workers.

use std::path::Path;
use std::sync::Arc;

use seqoia_core::{Example, Sequence};
use seqoia_data::features::{
    ClustersView, Extractor, Frozen, KeysView, LexicaView, NamesView, Program, StringsView,
};
use seqoia_data::format::{self, Block, Blocks, Kind};
use seqoia_data::open::Input;
use seqoia_data::scheme::{self, Scheme};
use seqoia_model::{Container, Error as ModelError};
use seqoia_structures::chain::{Decoder, Labelling, Space, SpaceView};

use crate::checkpoint;
use crate::error::{Error, Result, counted};
use crate::meta::Meta;
use crate::training_set::Schemes;

/// An immutable model.
pub struct Labeller {
    container: Container,
    meta: Meta,
    program: Arc<Program>,
    schemes: Schemes,
    kind: Kind,
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
            parts && whole && t.pieces.len() <= 64 && t.pieces.iter().all(|p| p.offset.unsigned_abs() <= 1000)
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
        let labeller = Labeller { container, meta, program, schemes, kind };
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
        Ok(self.container.get("weights")?)
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
        Ok(lexica)
    }
}

/// One worker with a model.
pub struct Predictor {
    labeller: Arc<Labeller>,
    extractor: Option<Extractor>,
    decoder: Decoder<f32>,
    sequence: Sequence,
    best: Vec<u16>,
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
            best: vec![],
        }
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
        if rows.is_empty() {
            return Ok(vec![]);
        }
        let (mut blocks, mut block) = (Blocks::new(Input::from_bytes("sentence", text)?), Block::default());
        let kind = if given { Kind::Crfsuite } else { Kind::Columns };
        let format = format::first(&mut blocks, &mut block, Some(kind))?;
        format.parse("sentence", &mut block)?;
        if block.tokens().len() != rows.len() {
            return Err(Error::Option("-DOCSTART- is no word: it stands between documents".to_owned()));
        }
        self.read("sentence", &block, 0..rows.len())?;
        let best = self.best_labels()?.to_vec();
        let mut out = vec![];
        self.names(&best, &mut out);
        Ok(out)
    }

    /// Extracts the attributes of a sentence.
    pub(crate) fn read(&mut self, file: &str, block: &Block, tokens: std::ops::Range<usize>) -> Result<()> {
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
        self.decoder.best(space, w, self.sequence.view(), &mut self.best);
        Ok(&self.best)
    }

    /// The k best labellings of the sentence that was read.
    pub(crate) fn nbest(&mut self, k: usize) -> Result<Vec<Labelling>> {
        let (space, w) = (self.labeller.space()?, self.labeller.weights()?);
        Ok(self.decoder.nbest(space, w, self.sequence.view(), k))
    }

    /// Probabilities in the sentence that was read; of the sequence, that of `labels`.
    pub(crate) fn probabilities(&mut self, labels: &[u16]) -> Result<Probabilities> {
        let (space, w) = (self.labeller.space()?, self.labeller.weights()?);
        let log_z = self.decoder.marginals(space, w, self.sequence.view());
        let sequence = self.probability(labels, log_z)?;
        let row = |t: usize| {
            (0..space.labels).map(|y| self.decoder.marginal(space, t, seqoia_core::cast::label(y))).collect()
        };
        Ok(Probabilities { sequence, marginals: (0..labels.len()).map(row).collect(), log_z })
    }

    /// Probability of a labelling of the sentence that was scored last.
    pub(crate) fn probability(&self, labels: &[u16], log_z: f64) -> Result<f64> {
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
    }
}
