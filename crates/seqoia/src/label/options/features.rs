//! Where attributes come from: templates, patterns, named sets and lists, found for a file and held against its columns.

use std::sync::Arc;

use seqoia_data::features::{Lexica, Program, Template, crfpp, sets, wapiti};
use seqoia_data::format::{Field, Format, Kind};

use crate::error::{self, BadOption, Result};

/// Where the attributes come from: template files and named sets, taken together.
#[derive(Clone, Debug, Default)]
pub struct FeatureChoice {
    /// CRF++ template files: name and text.
    pub templates: Vec<(String, String)>,
    /// Wapiti pattern files: name and text.
    pub patterns: Vec<(String, String)>,
    /// Named sets.
    pub sets: Vec<String>,
    /// Lists from outside, which add attributes of their own.
    pub lexica: Arc<Lexica>,
    /// The words of the training text are a dictionary, added to that of the lists.
    pub own_words: bool,
    /// Take text in full width (half-width ASCII is mapped to it) or as the file has it; if none, as the
    /// set says.
    pub full_width: Option<bool>,
    /// Tests that fail fire as `F`.
    pub false_features: bool,
}

/// Attributes of a model: templates and whether label pairs have weights.
#[derive(Clone, Debug)]
pub struct Features {
    /// The templates.
    pub templates: Vec<Template>,
    /// What the user calls each of them: its text, or the set that it is from.
    pub origins: Vec<String>,
    /// Plain label pairs have weights.
    pub transitions: bool,
    /// Sets leave out features of parts of speech, which the file does not have.
    pub without_pos: bool,
}

impl FeatureChoice {
    /// Nothing was chosen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.templates.is_empty() && self.patterns.is_empty() && self.sets.is_empty()
    }

    /// Whether something chosen reads the word wherever a format has it, as sets and lists do.
    pub(crate) fn names_word(&self) -> bool {
        let lists = !self.lexica.clusters.is_empty() || !self.lexica.names.lists().is_empty();
        !self.sets.is_empty() || lists || self.own_words || !self.lexica.words.is_empty()
    }

    /// Whether attributes are looked up in the document; asked before the first block of a file is read, which
    /// tells where a format keeps its words.
    pub(crate) fn reads_mentions(&self) -> bool {
        let roles = sets::Roles { word: 0, pos: 1 };
        let mut templates = self.sets.iter().filter_map(|name| sets::find(name, roles)).flatten();
        templates.any(|t| t.reads_mentions())
    }

    /// Finds the templates for a file of this format, in which one column may be the label. The attributes that a
    /// file has need no choice.
    ///
    /// # Errors
    /// A template file with a mistake, a set that does not exist, nothing chosen.
    pub fn resolve(&self, format: &dyn Format, label: Option<usize>) -> Result<Features> {
        let mut roles = match format.kind() {
            Kind::Conllu | Kind::Conllx => {
                sets::Roles { word: column(Field::Form), pos: column(Field::Upos) }
            }
            Kind::Columns if label == Some(0) => sets::Roles { word: 1, pos: 2 }, // the label comes first
            _ => sets::Roles { word: 0, pos: 1 },
        };
        let pos = usize::from(roles.pos);
        if pos >= format.columns() || label == Some(pos) {
            roles.pos = sets::NO_COLUMN;
        }
        let mut features =
            Features { templates: vec![], origins: vec![], transitions: false, without_pos: false };
        let templates =
            self.templates.iter().map(|(name, text)| (name, "template", crfpp::parse(name, text)));
        let patterns = self.patterns.iter().map(|(name, text)| (name, "pattern", wapiti::parse(name, text)));
        for (name, what, file) in templates.chain(patterns) {
            let file = file?;
            features.transitions |= file.transitions;
            let places = file.templates.iter().zip(&file.lines);
            features.origins.extend(places.map(|(t, line)| format!("{name}:{line}: {what} {}", t.text())));
            features.templates.extend(file.templates);
        }
        for name in &self.sets {
            let Some(set) = sets::find(name, roles) else {
                let names: Vec<_> = sets::SETS.iter().map(|s| s.0).collect();
                let nearest = seqoia_core::param::nearest(name, names.iter().copied());
                let other = match nearest {
                    Some(other) => format!("did you mean {other}?"),
                    None => format!("there are: {}", names.join(", ")),
                };
                let what = format!("there is no such feature set; {other}");
                return Err(BadOption::of("features", name, what).into());
            };
            features.transitions = true;
            features.without_pos |= sets::find(name, sets::Roles { pos: 1, ..roles })
                .is_some_and(|whole| whole.len() > set.len());
            features.origins.extend(set.iter().map(|_| format!("`features {name}`")));
            features.templates.extend(set);
        }
        let (clusters, lists) = (!self.lexica.clusters.is_empty(), self.lexica.names.lists());
        let wide = self.lexica.names.are_of_characters();
        let extended = sets::extended(roles, clusters, lists, wide, &features.templates);
        features.origins.extend(extended.iter().map(|_| "`clusters` or `gazetteer`".to_owned()));
        features.templates.extend(extended);
        if self.own_words || !self.lexica.words.is_empty() {
            let words = sets::dictionary(roles);
            features.origins.extend(words.iter().map(|_| "`dictionary`".to_owned()));
            features.templates.extend(words);
        }
        if !self.lexica.thesaurus.is_empty() {
            self.wanted_by("ner-zh", "lexicon")?;
            features.add(sets::categories(roles), "`lexicon`");
        }
        if !self.lexica.varieties.is_empty() {
            self.wanted_by("segmentation", "raw-text")?;
            features.add(sets::varieties(roles), "`raw-text`");
        }
        if format.ready() {
            // As CRFsuite does, which has no other label pairs.
            features.transitions |= self.is_empty();
            features.origins.push("the file".to_owned());
            features.templates.push(Template::given());
        }
        if features.templates.is_empty() && !features.transitions {
            let what = "no features: give a template file with `template FILE` or a set with `features SET`";
            return Err(BadOption::new(what).into());
        }
        self.refine(&mut features)?;
        Ok(features)
    }

    /// Refuses an option that only one set has features for.
    fn wanted_by(&self, set: &str, option: &str) -> Result<()> {
        if self.sets.iter().any(|name| name == set) {
            return Ok(());
        }
        let what = format!("its features go with `features {set}` only, which was not asked for");
        Err(BadOption::of(option, "", what).into())
    }

    /// What holds for templates of every origin.
    fn refine(&self, features: &mut Features) -> Result<()> {
        let (mut read, mut tested) = (self.full_width.is_none(), !self.false_features);
        for template in &mut features.templates {
            if let Some(full) = self.full_width {
                read |= template.set_width(full);
            }
            if self.false_features {
                tested |= template.fire_failed_tests();
            }
        }
        if !read {
            return Err(BadOption::of("width", "", "none of the features reads text of a column").into());
        }
        if !tested {
            let what = "none of the features is a test, such as those of `features pos` are";
            return Err(BadOption::of("false-features", "", what).into());
        }
        Ok(())
    }
}

impl Features {
    fn add(&mut self, templates: Vec<Template>, origin: &str) {
        self.origins.extend(templates.iter().map(|_| origin.to_owned()));
        self.templates.extend(templates);
    }

    /// What may not be meant so: in CoNLL-U and CoNLL-X the first column is no word.
    pub(crate) fn doubt(&self, kind: Kind) -> Option<String> {
        let mut reading = self.templates.iter().zip(&self.origins).filter(|(template, _)| template.reads(0));
        let (_, origin) = reading.next().filter(|_| matches!(kind, Kind::Conllu | Kind::Conllx))?;
        Some(format!(
            "{origin} reads column 0, which in {} is the number of the token; the word is column 1",
            kind.name()
        ))
    }

    /// Compiles the templates, after a look at which columns there are.
    ///
    /// # Errors
    /// A template that reads a column that the file does not have, or the label itself.
    pub fn compile(&self, file: &str, columns: usize, label: usize) -> Result<Program> {
        for (template, origin) in self.templates.iter().zip(&self.origins) {
            if let Some(column) = template.last_column().filter(|c| usize::from(*c) >= columns) {
                let have = match columns {
                    0 => "attributes and no columns".to_owned(),
                    _ => error::columns(columns),
                };
                let what = format!("{origin} reads column {column}, but {file} has {have}");
                return Err(BadOption::new(what).into());
            }
            if u16::try_from(label).is_ok_and(|label| template.reads(label)) {
                let help = match columns {
                    1 => "the file has one column: put a tab or a blank between word and label",
                    _ => "",
                };
                let what =
                    format!("{origin} reads column {label} of {file}, which is the label to be learned");
                return Err(BadOption::new(what).help(help).into());
            }
        }
        Ok(Program::new(self.templates.clone()))
    }
}

fn column(field: Field) -> u16 {
    u16::try_from(field.column()).unwrap_or(0)
}
