//! What attributes a token has: templates, and the program they are compiled to.

use super::view::View;
use super::{Function, Pattern};
use serde::{Deserialize, Serialize};

/// What a piece reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A function of a column of the file.
    Column(u16, Function),
    /// `true` if an expression matches in a column, else `false`.
    Test(u16, Pattern),
    /// What an expression matches in a column; nothing at all is a value too.
    Match(u16, Pattern),
    /// The same in lower case.
    MatchLower(u16, Pattern),
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
    /// The text of a column from this token on, so many tokens, if the dictionary has it as a word; in full width.
    WordStarting(u16, u8),
    /// The same up to this token.
    WordEnding(u16, u8),
    /// How many tokens the longest word of the dictionary has that starts here.
    LongestStarting(u16),
    /// The same for words that end here.
    LongestEnding(u16),
    /// The categories of the word that the longest match finds here in the lexicon, forward or backward (true), with
    /// the token's place in the word: several values.
    Category(u16, bool),
    /// Whether the word that the longest match finds here has one token or more, forward or backward (true).
    Alone(u16, bool),
    /// How many different characters were seen in raw text before (true) or behind the string of so many characters
    /// that starts here, or ends here if the number is below 0.
    Variety(u16, i8, bool),
    /// How much more often than by chance the character before and this one meet in raw text.
    Binding(u16),
    /// In the first or second other mention (0, 1) of the column's word in the document: what stands right
    /// before or behind it (-1, 1), in lower case; at 0 the brief shape of the mention itself.
    Mention(u16, u8, i8),
    /// The same in place of the word beside the mention: the path of its cluster, cut to so many steps.
    MentionPath(u16, u8, i8, u8),
    /// The attributes that the file gives the token: as many as there are, with their values.
    Given,
}

impl Source {
    /// The column that it reads.
    #[must_use]
    pub fn column(&self) -> Option<u16> {
        self.clone().column_mut().copied()
    }

    fn column_mut(&mut self) -> Option<&mut u16> {
        match self {
            Source::Column(c, _)
            | Source::Test(c, _)
            | Source::Match(c, _)
            | Source::MatchLower(c, _)
            | Source::Twin(c, _)
            | Source::Cluster(c, _)
            | Source::Mention(c, ..)
            | Source::MentionPath(c, ..)
            | Source::Listed(c, _)
            | Source::ListedLower(c, _)
            | Source::WordStarting(c, _)
            | Source::WordEnding(c, _)
            | Source::LongestStarting(c)
            | Source::LongestEnding(c)
            | Source::Category(c, _)
            | Source::Alone(c, _)
            | Source::Variety(c, ..)
            | Source::Binding(c) => Some(c),
            Source::Place | Source::First | Source::Given => None,
        }
    }

    /// Whether a token has any number of its values: rows of such views hold numbers of bags.
    #[must_use]
    pub fn has_bags(&self) -> bool {
        matches!(self, Source::Category(..))
    }

    /// Whether it has the same few values in every sentence, which are among the first that are met.
    fn has_few_values(&self) -> bool {
        use Source::{Alone, Binding, First, Listed, ListedLower, Place, Twin, Variety};
        matches!(self, Listed(..) | ListedLower(..) | Place | First | Twin(..))
            || matches!(self, Alone(..) | Variety(..) | Binding(_))
    }

    /// Whether it fires or does not.
    fn is_test(&self) -> bool {
        match self {
            Source::Column(_, function) => function.is_test(),
            Source::First | Source::Twin(..) => true,
            _ => false,
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
    /// Words: `_x-1` to `_x-4`, then `_x-#` before it and `_x+1` to `_x+4`, then `_x+#` behind it, as Wapiti
    /// does. What is read of other words is read of these.
    Words,
    /// Nothing: there is no attribute.
    Nothing,
}

/// One piece of a template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// What it reads.
    pub source: Source,
    /// Where: relative to the current token.
    pub offset: i16,
    /// What it reads outside the sentence.
    pub boundary: Boundary,
    /// The offset is the number of a token instead: 1 is the first of the sentence, -1 the last.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fixed: bool,
    /// Text is taken in full width, so that half-width ASCII is the same.
    #[serde(default, skip_serializing_if = "is_false")]
    pub wide: bool,
    /// A test that fails fires too, as `F`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fails: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde calls it so
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Piece {
    /// A plain one.
    #[must_use]
    pub fn new(source: Source, offset: i16, boundary: Boundary) -> Self {
        Piece { source, offset, boundary, fixed: false, wide: false, fails: false }
    }

    fn text(&self) -> String {
        let in_file = matches!(self.boundary, Boundary::Numbered | Boundary::Words);
        let Some(column) = self.source.column().filter(|_| in_file) else { return "*".to_owned() };
        let (letter, pattern) = match &self.source {
            Source::Column(_, Function::Lower) => ("X", None),
            Source::Test(_, pattern) => ("t", Some(pattern)),
            Source::Match(_, pattern) => ("m", Some(pattern)),
            Source::MatchLower(_, pattern) => ("M", Some(pattern)),
            _ => ("x", None),
        };
        let at = if self.fixed { "@" } else { "" };
        let expression = pattern.map_or_else(String::new, |pattern| format!(",\"{pattern}\""));
        format!("%{letter}[{at}{},{column}{expression}]", self.offset)
    }
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
        let piece = Piece::new(Source::Given, 0, Boundary::Plain);
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

    /// The template for a person: `U05:%x[-1,0]/%x[0,0]` as in a file of CRF++ or Wapiti, and `*` for a value
    /// that a feature set makes, since its name says which.
    #[must_use]
    pub fn text(&self) -> String {
        self.render(|i| self.pieces.get(i).map_or_else(String::new, Piece::text))
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

    /// The same for a file that has each column elsewhere.
    #[must_use]
    pub fn moved(&self, to: impl Fn(u16) -> u16) -> Self {
        let mut template = self.clone();
        let pieces = template.pieces.iter_mut().filter_map(|piece| piece.source.column_mut());
        let value = template.value.iter_mut().map(|(column, _)| column);
        pieces.chain(value).for_each(|column| *column = to(*column));
        template
    }

    /// Whether it looks for other mentions of a word in the document.
    #[must_use]
    pub fn reads_mentions(&self) -> bool {
        self.pieces.iter().any(|p| matches!(p.source, Source::Mention(..) | Source::MentionPath(..)))
    }

    /// Lets its tests fire as `F` when they fail; false if it has none.
    pub fn fire_failed_tests(&mut self) -> bool {
        let tests = self.pieces.iter_mut().filter(|p| p.source.is_test());
        tests.map(|piece| piece.fails = true).count() > 0
    }

    /// Reads text in full width, or as the file has it; false if it reads none. Clusters and names are always
    /// searched for what the file has, the dictionary always in full width.
    pub fn set_width(&mut self, full: bool) -> bool {
        let mut reads = false;
        for piece in &mut self.pieces {
            match &mut piece.source {
                Source::Column(_, function @ (Function::Same | Function::FullWidth)) => {
                    *function = if full { Function::FullWidth } else { Function::Same };
                }
                Source::Column(..) | Source::Twin(..) | Source::Mention(..) => piece.wide = full,
                Source::Test(_, pattern) | Source::Match(_, pattern) | Source::MatchLower(_, pattern) => {
                    piece.wide = full;
                    if full {
                        *pattern = pattern.widened();
                    }
                }
                _ => continue,
            }
            reads = true;
        }
        reads
    }

    /// Whether it reads this column.
    #[must_use]
    pub fn reads(&self, column: u16) -> bool {
        self.value.is_some_and(|v| v.0 == column)
            || self.pieces.iter().any(|p| p.source.column() == Some(column))
    }
}

/// A template with its pieces resolved.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    pub(super) group: u32,
    pub(super) pieces: Vec<(usize, isize)>, // view, offset
    pub(super) value: Option<(usize, isize)>,
    pub(super) edge: bool,
    pub(super) column: usize, // among the templates with one piece, if it has one
    pub(super) bags: bool,    // its piece has any number of values
    pub(super) few: bool,     // or among those of them that read views of few values
}

/// Templates, compiled: views are computed once for all templates that read them.
#[derive(Clone, Debug)]
pub struct Program {
    templates: Vec<Template>,
    pub(super) compiled: Vec<Compiled>,
    pub(super) views: Vec<View>,
    pub(super) pad: usize,     // the longest offset
    pub(super) stride: usize,  // numbers of a tuple: group and pieces
    pub(super) singles: usize, // templates with one piece, of which views have many values
    pub(super) few: usize,     // and of which they have few
    pub(super) templates_have_values: bool,
    groups: Vec<usize>, // a template of each group, for names
    given: Option<u32>, // the group of the file's own attributes, which no template computes
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
                let wanted = View::new(piece);
                let at = views.iter().position(|v| *v == wanted).unwrap_or_else(|| {
                    views.push(wanted);
                    views.len() - 1
                });
                (at, if piece.fixed { 0 } else { isize::from(piece.offset) })
            };
            compiled.push(Compiled {
                group: seqoia_core::cast::narrow(group),
                pieces: template.pieces.iter().map(&mut view).collect(),
                value: template.value.map(|(column, offset)| (usize::from(column), isize::from(offset))),
                edge: template.edge,
                column: 0,
                bags: template.pieces.iter().any(|p| p.source.has_bags()),
                few: false,
            });
        }
        // Columns of one view lie together: what a word has at one place it has at others. Those of views that have
        // few values lie apart, so that other values need no room for them.
        let (mut singles, mut few) = (0, 0);
        for (v, view) in views.iter().enumerate() {
            let of_view =
                compiled.iter_mut().filter(|c: &&mut Compiled| matches!(*c.pieces, [(read, _)] if read == v));
            let is_few = view.source.has_few_values();
            let next = if is_few { &mut few } else { &mut singles };
            for template in of_view {
                (template.column, template.few) = (*next, is_few);
                *next += 1;
            }
        }
        let offsets = compiled.iter().flat_map(|c| c.pieces.iter().map(|p| p.1.unsigned_abs()));
        let pad = offsets.max().unwrap_or(0);
        let templates_have_values = templates.iter().any(|t| t.value.is_some());
        let stride = 1 + templates.iter().map(|t| t.pieces.len()).max().unwrap_or(0);
        Program {
            templates,
            compiled,
            views,
            pad,
            stride,
            singles,
            few,
            templates_have_values,
            groups,
            given,
        }
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
        self.templates_have_values || self.given.is_some() && !self.compiled.is_empty()
    }

    /// The group of the file's own attributes, if they are wanted.
    #[must_use]
    pub fn given(&self) -> Option<u32> {
        self.given
    }

    /// Whether all attributes are the file's own.
    #[must_use]
    pub fn is_given_alone(&self) -> bool {
        self.given.is_some() && self.compiled.is_empty()
    }

    /// Whether attributes are looked up in the document: the file is then to be read in whole documents.
    #[must_use]
    pub fn reads_mentions(&self) -> bool {
        self.templates.iter().any(Template::reads_mentions)
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

    /// A template of each group: attributes of one group differ in their values only.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &Template> {
        self.groups.iter().map(|&t| &self.templates[t])
    }

    /// How many pieces the attributes of a group have.
    #[must_use]
    pub fn arity(&self, group: u32) -> usize {
        self.groups.get(group as usize).map_or(0, |&t| self.templates[t].pieces.len())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{sets, wapiti};
    use super::*;

    #[test]
    fn templates_are_written_and_read_as_they_are() {
        let patterns = wapiti::parse("p", "*:%m[@-1,0,\"^\\u\\\"$\"]%X[1,0]\nu:%t[0,1,\"\\**\"]\n").unwrap();
        let set = sets::find("segmentation", sets::Roles { word: 0, pos: 1 }).unwrap();
        for mut template in patterns.templates.into_iter().chain(set) {
            template.fire_failed_tests();
            for full in [true, false] {
                template.set_width(full);
                let json = serde_json::to_string(&template).unwrap();
                assert_eq!(serde_json::from_str::<Template>(&json).unwrap(), template);
            }
        }
        assert!(serde_json::from_str::<Source>("{\"match\":[0,\"a**\"]}").is_err());
    }

    /// Models that were written before there was anything but the first three are read.
    #[test]
    fn plain_pieces_are_written_briefly() {
        let piece = Piece::new(Source::Column(0, Function::Same), -1, Boundary::Numbered);
        let json = "{\"source\":{\"column\":[0,\"same\"]},\"offset\":-1,\"boundary\":\"numbered\"}";
        assert_eq!(serde_json::to_string(&piece).unwrap(), json);
        assert_eq!(serde_json::from_str::<Piece>(json).unwrap(), piece);
    }

    #[test]
    fn what_reads_no_text_has_no_width_and_what_is_no_test_does_not_fail() {
        let mut place =
            Template { pieces: vec![Piece::new(Source::Place, 0, Boundary::Plain)], ..Template::given() };
        assert!(!place.set_width(true) && !place.fire_failed_tests());
        place.pieces.push(Piece::new(Source::Column(0, Function::HasDigit), 0, Boundary::Plain));
        assert!(place.set_width(true) && place.fire_failed_tests());
        let flags: Vec<_> = place.pieces.iter().map(|p| (p.wide, p.fails)).collect();
        assert_eq!(flags, [(false, false), (true, true)]);
    }
}
