//! A model that labels: opened from a file or from bytes, shared by any number of workers.

use std::path::Path;
use std::sync::Arc;

use seqoia_data::features::{
    ClustersView, Frozen, KeysView, Labels, LexicaView, NamesView, Program, StringsView, ThesaurusView,
    VarietiesView, WordListView,
};
use seqoia_data::format::Kind;
use seqoia_data::scheme::{self, Scheme};
use seqoia_model::codes::{self, Bits};
use seqoia_model::{Container, Error as ModelError, write_atomically};
use seqoia_structures::chain::{Rules, Space, SpaceView};

use super::meta::{Description, KIND, Meta};
use super::options::{RuleChoice, Schemes};
use super::rules;
use crate::error::Result;
use crate::run::Head;

/// An immutable model. A clone is another handle of the same one.
///
/// ```no_run
/// let model = seqoia::Labeller::open("ner.seqoia")?;
/// println!("{:?}", model.predictor().label(&["Ada", "Lovelace", "lived", "in", "London"])?);
/// # Ok::<(), seqoia::Error>(())
/// ```
#[derive(Clone)]
pub struct Labeller {
    parts: Arc<Parts>,
    rules: Option<Arc<Rules>>,
    well_formed: Option<Arc<Rules>>, // see `rules::well_formed`
}

/// What labelling looks into: found in the file once for many sentences.
#[derive(Clone, Copy)]
pub(crate) struct Opened<'a> {
    pub(crate) frozen: Frozen<'a>,
    pub(crate) space: SpaceView<'a>,
    pub(crate) weights: &'a [f32],
}

struct Parts {
    container: Container,
    head: Head,
    meta: Meta,
    program: Arc<Program>,
    schemes: Schemes,
    kind: Kind,
    decoded: Option<Vec<f32>>, // weights that are not stored in single precision
}

impl Labeller {
    /// Maps a model file.
    ///
    /// # Errors
    /// When it cannot be read, is no model, or is damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Labeller> {
        Self::read(Container::open(path.as_ref())?)
    }

    /// Writes the model file: whole, or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(write_atomically(path.as_ref(), self.parts.container.as_bytes())?)
    }

    /// A model that is in memory; `name` is for errors.
    ///
    /// # Errors
    /// When it is no model or is damaged.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Labeller> {
        Self::read(Container::from_bytes(name, bytes)?)
    }

    /// The kind of model, as its head names it.
    pub(crate) const KIND: &'static str = KIND;

    /// Everything that decoding relies on is looked at here, once.
    pub(crate) fn read(container: Container) -> Result<Labeller> {
        let damaged = |what: &str| ModelError::damaged(container.file(), what);
        let head = Head::read(&container)?;
        if head.kind != KIND {
            let what = format!("the model is a {}, not a {KIND}", head.kind);
            return Err(ModelError::new(container.file(), what, "use a model that labels").into());
        }
        let Description { head, labeller: meta } = serde_json::from_slice(container.get("meta")?)
            .map_err(|e| damaged(&format!("its description cannot be read: {e}")))?;
        let kind = Kind::parse(&meta.format).ok_or_else(|| damaged("its data format is unknown"))?;
        meta.check(kind).map_err(|what| damaged(&what))?;
        let scheme = |name: &Option<String>| match name {
            None => Ok(None),
            Some(name) => Scheme::parse(name).map(Some).ok_or_else(|| damaged("its label scheme is unknown")),
        };
        let schemes = Schemes { file: scheme(&meta.file_scheme)?, model: scheme(&meta.model_scheme)? };
        let program = Arc::new(Program::new(meta.templates.clone()));
        let rules = match container.has("rules") {
            false => None,
            true => {
                let rules = Rules::from_bits(meta.labels.len(), container.get("rules")?);
                Some(Arc::new(rules.ok_or_else(|| damaged("its rules do not fit its labels"))?))
            }
        };
        let decoded = codes::decoded(&container)?;
        let parts = Arc::new(Parts { container, head, meta, program, schemes, kind, decoded });
        let mut labeller = Labeller { parts, rules, well_formed: None };
        let fits = {
            let (space, frozen) = (labeller.space()?, labeller.frozen()?);
            space.is_sound()
                && space.weights() == labeller.weights()?.len()
                && frozen.node_numbers.is_some_and(|numbers| {
                    numbers.len() == frozen.nodes.len() && numbers.iter().all(|&a| space.has(a))
                })
                && space.edge_attributes() == frozen.edges.len()
                && labeller.weights()?.iter().all(|w| w.is_finite())
        };
        if !fits {
            return Err(ModelError::damaged(
                labeller.parts.container.file(),
                "its parts do not fit together",
            )
            .into());
        }
        if !labeller.has_sound_tables()? {
            let what = "a table of its features is not one that Seqoia writes";
            return Err(ModelError::damaged(labeller.parts.container.file(), what).into());
        }
        // Every pair of labels is looked at, so there must be a weight for it first.
        labeller.make_well_formed();
        Ok(labeller)
    }

    /// The same with other rules. `name` is for errors.
    ///
    /// # Errors
    /// Rules that are none for its labels.
    pub fn with_rules(mut self, choice: &RuleChoice, name: &str) -> Result<Labeller> {
        let mut labels = Labels::default();
        self.parts.meta.labels.iter().for_each(|label| {
            labels.intern(label);
        });
        self.rules = Some(Arc::new(rules::rules(choice, &labels, self.parts.schemes.model, name, false)?));
        self.make_well_formed();
        Ok(self)
    }

    fn make_well_formed(&mut self) {
        let (Parts { meta, schemes, kind, .. }, rules) = (&*self.parts, self.rules.as_deref());
        let name = |y: u16| meta.labels[usize::from(y)].as_str();
        self.well_formed = rules::well_formed(*schemes, *kind, rules, meta.labels.len(), name).map(Arc::new);
    }

    /// How it was trained.
    #[must_use]
    pub fn head(&self) -> &Head {
        &self.parts.head
    }

    /// What it says about labels, columns and features.
    #[must_use]
    pub fn meta(&self) -> &Meta {
        &self.parts.meta
    }

    /// The format of its training data.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.parts.kind
    }

    /// Whether its features look at the rest of the document, so that a sentence may be labelled otherwise in another
    /// one.
    #[must_use]
    pub fn reads_documents(&self) -> bool {
        self.parts.program.reads_mentions()
    }

    /// Size of the file.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.parts.container.len()
    }

    /// Names of the labels one by one: in the scheme of the training file, if a label has a name there
    /// whatever stands beside it; else in the model's scheme, which is then given.
    pub(crate) fn single_names(&self) -> (Vec<String>, Option<Scheme>) {
        let Schemes { file: Some(file), model: Some(model) } = self.parts.schemes else {
            return (self.parts.meta.labels.clone(), None);
        };
        match self.parts.meta.labels.iter().map(|l| scheme::rename(model, file, l)).collect() {
            Some(names) => (names, None),
            None => (self.parts.meta.labels.clone(), Some(model)),
        }
    }

    /// Columns that templates read, from the first on.
    pub(crate) fn columns_read(&self) -> usize {
        let last = self.parts.meta.templates.iter().filter_map(|t| t.last_column()).max();
        last.map_or(0, |c| usize::from(c) + 1)
    }

    pub(crate) fn rules(&self) -> Option<&Rules> {
        self.rules.as_deref()
    }

    /// See [`rules::well_formed`].
    pub(crate) fn well_formed(&self) -> Option<&Rules> {
        self.well_formed.as_deref()
    }

    /// How its weights are stored.
    #[must_use]
    pub fn bits(&self) -> Bits {
        Bits::of(&self.parts.container)
    }

    pub(crate) fn container(&self) -> &Container {
        &self.parts.container
    }

    pub(crate) fn program(&self) -> &Arc<Program> {
        &self.parts.program
    }

    /// How labels of files and its own go together.
    pub(crate) fn schemes(&self) -> Schemes {
        self.parts.schemes
    }

    pub(crate) fn opened(&self) -> Result<Opened<'_>> {
        Ok(Opened { frozen: self.frozen()?, space: self.space()?, weights: self.weights()? })
    }

    pub(crate) fn space(&self) -> Result<SpaceView<'_>> {
        let (labels, dense) = (self.parts.meta.labels.len(), self.parts.meta.dense);
        let singles: &[u16] = self.parts.container.get("space.singles")?;
        Ok(SpaceView {
            labels,
            width: Space::stored(labels),
            dense,
            singles,
            ones: dense.saturating_add(singles.len()), // a file has lists of any length in any order
            edge_starts: self.parts.container.get("space.estarts")?,
            edge_pairs: self.parts.container.get("space.epairs")?,
        })
    }

    pub(crate) fn weights(&self) -> Result<&[f32]> {
        match &self.parts.decoded {
            Some(weights) => Ok(weights),
            None => Ok(codes::plain(&self.parts.container)?),
        }
    }

    pub(crate) fn frozen(&self) -> Result<Frozen<'_>> {
        let stride = self.parts.program.stride();
        let keys = |keys, slots| -> Result<KeysView<'_>> {
            Ok(KeysView {
                stride,
                keys: self.parts.container.get(keys)?,
                slots: self.parts.container.get(slots)?,
            })
        };
        Ok(Frozen {
            strings: self.strings(["strings.text", "strings.starts", "strings.slots"])?,
            nodes: keys("nodes.keys", "nodes.slots")?,
            edges: keys("edges.keys", "edges.slots")?,
            node_numbers: Some(self.parts.container.get("nodes.numbers")?),
            edge_numbers: None,
            dense: u32::try_from(self.parts.meta.dense).unwrap_or(u32::MAX),
            lexica: self.lexica()?,
        })
    }

    fn strings(&self, names: [&str; 3]) -> Result<StringsView<'_>> {
        let [text, starts, slots] = names;
        Ok(StringsView {
            text: self.parts.container.get(text)?,
            starts: self.parts.container.get(starts)?,
            slots: self.parts.container.get(slots)?,
        })
    }

    /// Whether look-ups take the time that they take in a model that was written here.
    fn has_sound_tables(&self) -> Result<bool> {
        let frozen = self.frozen()?;
        let LexicaView { clusters, names, lower, words, thesaurus, varieties } = frozen.lexica;
        let more = [thesaurus.strings, thesaurus.codes, varieties.strings].into_iter();
        let mut strings =
            [frozen.strings, clusters.words, clusters.paths, names.strings, lower.strings, words.strings]
                .into_iter()
                .chain(more);
        Ok(frozen.nodes.is_sound() && frozen.edges.is_sound() && strings.all(|table| table.is_sound()))
    }

    /// The lists from outside; empty ones if the model has none.
    fn lexica(&self) -> Result<LexicaView<'_>> {
        let mut lexica = LexicaView::default();
        if self.parts.container.has("clusters.paths") {
            lexica.clusters = ClustersView {
                words: self.strings(["clusters.text", "clusters.starts", "clusters.slots"])?,
                paths: self.strings(["paths.text", "paths.starts", "paths.slots"])?,
                path_of: self.parts.container.get("clusters.paths")?,
            };
        }
        if self.parts.container.has("names.lists") {
            let strings = self.strings(["names.text", "names.starts", "names.slots"])?;
            lexica.names = NamesView { strings, masks: self.parts.container.get("names.lists")? };
            let strings = self.strings(["lower.text", "lower.starts", "lower.slots"])?;
            lexica.lower = NamesView { strings, masks: self.parts.container.get("lower.lists")? };
        }
        if self.parts.container.has("words.marks") {
            let strings = self.strings(["words.text", "words.starts", "words.slots"])?;
            lexica.words =
                WordListView { strings, marks: self.parts.container.get("words.marks")?, sentence: 0 };
        }
        if self.parts.container.has("lexicon.ends") {
            lexica.thesaurus = ThesaurusView {
                strings: self.strings(["lexicon.text", "lexicon.starts", "lexicon.slots"])?,
                ends: self.parts.container.get("lexicon.ends")?,
                list: self.parts.container.get("lexicon.codes")?,
                codes: self.strings(["codes.text", "codes.starts", "codes.slots"])?,
            };
        }
        if self.parts.container.has("rawtext.numbers") {
            let strings = self.strings(["rawtext.text", "rawtext.starts", "rawtext.slots"])?;
            lexica.varieties =
                VarietiesView { strings, numbers: self.parts.container.get("rawtext.numbers")? };
        }
        Ok(lexica)
    }
}
