//! What attributes a token has: templates, and the program they are compiled to.

use super::Function;
use serde::{Deserialize, Serialize};

/// What a piece reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A function of a column of the file.
    Column(u16, Function),
    /// `first` at the first token of a sentence, else `inner`.
    Place,
    /// Fires at the first token of a sentence.
    First,
    /// Fires if a column is the same here and so many tokens further on.
    Twin(u16, i16),
    /// The cluster of a column: its path, cut to so many steps.
    Cluster(u16, u8),
    /// Where a token stands in an entry of a list of names, by the list's number.
    Listed(u16, u8),
    /// The same in lower case.
    ListedLower(u16, u8),
    /// The attributes that the file gives the token: as many as there are, with their values.
    Given,
}

impl Source {
    /// The column that it reads.
    #[must_use]
    pub fn column(self) -> Option<u16> {
        match self {
            Source::Column(c, _)
            | Source::Twin(c, _)
            | Source::Cluster(c, _)
            | Source::Listed(c, _)
            | Source::ListedLower(c, _) => Some(c),
            Source::Place | Source::First | Source::Given => None,
        }
    }
}

/// What a piece reads outside the sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Boundary {
    /// `_B-1`, `_B-2`, ... before it and `_B+1`, ... behind it, as CRF++ does.
    Numbered,
    /// `<s>` before it and `</s>` behind it.
    Plain,
    /// Nothing: there is no attribute.
    Nothing,
}

/// One piece of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// What it reads.
    pub source: Source,
    /// Where: relative to the current token.
    pub offset: i16,
    /// What it reads outside the sentence.
    pub boundary: Boundary,
}

/// A part of an attribute's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// As it stands.
    Text(String),
    /// The value of a piece.
    Piece(usize),
}

/// One kind of attribute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    /// How its attributes are called. Templates whose texts are equal share their attributes (in
    /// CRF++ a template without an identifier makes a bag of words).
    pub name: Vec<Part>,
    /// What identifies an attribute.
    pub pieces: Vec<Piece>,
    /// Column and offset of a number that is the attribute's value; 1 if there is none.
    pub value: Option<(u16, i16)>,
    /// The attribute is one of the edge into the token: its weights go with label pairs.
    pub edge: bool,
}

impl Template {
    /// The attributes that the file has, under their own names.
    #[must_use]
    pub fn given() -> Self {
        let piece = Piece { source: Source::Given, offset: 0, boundary: Boundary::Plain };
        Template { name: vec![Part::Piece(0)], pieces: vec![piece], value: None, edge: false }
    }

    fn is_given(&self) -> bool {
        self.pieces.iter().any(|piece| piece.source == Source::Given)
    }

    /// The name of the attribute with these values.
    #[must_use]
    pub fn render(&self, value: impl Fn(usize) -> String) -> String {
        self.name
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.clone(),
                Part::Piece(i) => value(*i),
            })
            .collect()
    }

    /// Templates of equal skeletons share their attributes.
    fn skeleton(&self) -> (String, bool) {
        (self.render(|_| '\0'.to_string()), self.edge)
    }

    /// The highest column it reads.
    #[must_use]
    pub fn last_column(&self) -> Option<u16> {
        let read = self.pieces.iter().filter_map(|p| p.source.column());
        read.chain(self.value.map(|v| v.0)).max()
    }

    /// Whether it reads this column.
    #[must_use]
    pub fn reads(&self, column: u16) -> bool {
        self.value.is_some_and(|v| v.0 == column)
            || self.pieces.iter().any(|p| p.source.column() == Some(column))
    }
}

/// A view of the sentence that pieces read: one array of numbers with room for the boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct View {
    pub(super) source: Source,
    pub(super) boundary: Boundary,
}

/// A template with its pieces resolved.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    pub(super) group: u32,
    pub(super) pieces: Vec<(usize, isize)>, // view, offset
    pub(super) value: Option<(usize, isize)>,
    pub(super) edge: bool,
}

/// Templates, compiled: views are computed once for all templates that read them.
#[derive(Clone, Debug)]
pub struct Program {
    templates: Vec<Template>,
    pub(super) compiled: Vec<Compiled>,
    pub(super) views: Vec<View>,
    pub(super) pad: usize,    // the longest offset
    pub(super) stride: usize, // numbers of a tuple: group and pieces
    groups: Vec<usize>,       // a template of each group, for names
    given: Option<u32>,       // the group of the file's own attributes, which no template computes
}

impl Program {
    /// Compiles templates.
    #[must_use]
    pub fn new(templates: Vec<Template>) -> Program {
        let mut views: Vec<View> = vec![];
        let mut skeletons: Vec<(String, bool)> = vec![];
        let mut groups = vec![];
        let mut compiled = vec![];
        let mut given = None;
        for (number, template) in templates.iter().enumerate() {
            let skeleton = template.skeleton();
            let group = skeletons.iter().position(|s| *s == skeleton).unwrap_or_else(|| {
                skeletons.push(skeleton);
                groups.push(number);
                groups.len() - 1
            });
            if template.is_given() {
                given = Some(seqoia_core::cast::narrow(group));
                continue;
            }
            let mut view = |piece: &Piece| {
                let wanted = View { source: piece.source, boundary: piece.boundary };
                let at = views.iter().position(|v| *v == wanted).unwrap_or_else(|| {
                    views.push(wanted);
                    views.len() - 1
                });
                (at, isize::from(piece.offset))
            };
            compiled.push(Compiled {
                group: seqoia_core::cast::narrow(group),
                pieces: template.pieces.iter().map(&mut view).collect(),
                value: template.value.map(|(column, offset)| (usize::from(column), isize::from(offset))),
                edge: template.edge,
            });
        }
        let offsets = compiled.iter().flat_map(|c| c.pieces.iter().map(|p| p.1.unsigned_abs()));
        let pad = offsets.max().unwrap_or(0);
        let stride = 1 + templates.iter().map(|t| t.pieces.len()).max().unwrap_or(0);
        Program { templates, compiled, views, pad, stride, groups, given }
    }

    /// The templates it was made of.
    #[must_use]
    pub fn templates(&self) -> &[Template] {
        &self.templates
    }

    /// Whether attributes have values, though all of them may be 1. Those of the file alone are looked
    /// at as they come.
    #[must_use]
    pub fn has_values(&self) -> bool {
        self.templates.iter().any(|t| t.value.is_some()) || self.given.is_some() && !self.compiled.is_empty()
    }

    /// The group of the file's own attributes, if they are wanted.
    #[must_use]
    pub fn given(&self) -> Option<u32> {
        self.given
    }

    /// Whether edges have attributes.
    #[must_use]
    pub fn has_edges(&self) -> bool {
        self.templates.iter().any(|t| t.edge)
    }

    /// Numbers of a tuple.
    #[must_use]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The name of an attribute, given its tuple and the strings of its values.
    #[must_use]
    pub fn name(&self, key: &[u32], strings: super::StringsView<'_>) -> String {
        let group = key.first().and_then(|&g| self.groups.get(g as usize));
        let Some(template) = group.map(|&t| &self.templates[t]) else { return String::new() };
        template.render(|i| {
            let value = key.get(i + 1).and_then(|&v| strings.get(v)).unwrap_or_default();
            String::from_utf8_lossy(value).into_owned()
        })
    }

    /// For each group of another program, the group of this one whose attributes are the same.
    #[must_use]
    pub fn groups_of(&self, other: &Program) -> Vec<Option<u32>> {
        let same = |t: usize| {
            let wanted = other.templates[t].skeleton();
            let found = self.groups.iter().position(|&own| self.templates[own].skeleton() == wanted);
            found.map(seqoia_core::cast::narrow)
        };
        other.groups.iter().map(|&t| same(t)).collect()
    }

    /// How many pieces the attributes of a group have.
    #[must_use]
    pub fn arity(&self, group: u32) -> usize {
        self.groups.get(group as usize).map_or(0, |&t| self.templates[t].pieces.len())
    }
}
