//! Tables for people, records for programs. Every table says on which processor it was made, with
//! which versions and by which commands; so does every record.

use seqoia_report::{bytes, grouped};
use serde_json::{Map, Value, json};

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// Seconds.
    Seconds(f64),
    /// A score in percent.
    Percent(f64),
    /// How many times ours it is.
    Times(f64),
    /// A size.
    Bytes(u64),
    /// A count.
    Count(u64),
    /// So many a second, in thousands.
    Rate(f64),
    /// Something else, with two decimals.
    Number(f64),
    /// A name.
    Word(&'static str),
    /// Not measured or without meaning.
    Empty,
}

impl Cell {
    fn text(&self) -> String {
        match *self {
            // Three digits: loading a model takes milliseconds, the longest runs minutes.
            Cell::Seconds(x) if x.abs() < 0.0995 => format!("{x:.4}"),
            Cell::Seconds(x) if x.abs() < 9.95 => format!("{x:.3}"),
            Cell::Seconds(x) => format!("{x:.1}"),
            Cell::Percent(x) | Cell::Number(x) => format!("{x:.2}"),
            Cell::Times(x) => format!("{x:.2}x"),
            Cell::Bytes(n) => bytes(n),
            Cell::Count(n) => grouped(n),
            Cell::Rate(x) => format!("{:.0} k", x / 1000.0),
            Cell::Word(word) => word.to_owned(),
            Cell::Empty => "-".to_owned(),
        }
    }

    fn json(&self) -> Value {
        match *self {
            Cell::Seconds(x) | Cell::Percent(x) | Cell::Times(x) | Cell::Number(x) | Cell::Rate(x) => {
                x.into()
            }
            Cell::Bytes(n) | Cell::Count(n) => n.into(),
            Cell::Word(word) => word.into(),
            Cell::Empty => Value::Null,
        }
    }
}

/// A table of a section.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    section: &'static str,
    title: String,
    columns: &'static [&'static str],
    rows: Vec<(String, Vec<Cell>)>,
    commands: Vec<(String, String)>,
    notes: Vec<String>,
}

impl Table {
    /// An empty one. Each row has a cell for each column.
    pub(crate) fn new(
        section: &'static str,
        title: impl Into<String>,
        columns: &'static [&'static str],
    ) -> Self {
        Table { section, title: title.into(), columns, rows: vec![], commands: vec![], notes: vec![] }
    }

    /// Names a command that the figures come from, or several, one per line.
    pub(crate) fn command(&mut self, tool: impl Into<String>, line: impl Into<String>) {
        self.commands.push((tool.into(), line.into()));
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, name: impl Into<String>, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push((name.into(), cells.into_iter().collect()));
    }

    /// Adds a sentence below the table.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// For a person, under the lines about the machine.
    pub(crate) fn text(&self, machine: &Machine) -> String {
        let mut out = format!("\n{}: {}\n", self.section, self.title);
        out.push_str(&format!("  processor  {}\n", machine.processor));
        out.push_str(&format!("  versions   {}\n", machine.versions.join(", ")));
        for (tool, line) in &self.commands {
            out.push_str(&format!("  {tool}:\n    {}\n", line.replace('\n', "\n    ")));
        }
        let texts: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.1.iter().map(Cell::text).collect()).collect();
        let names = self.rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|c| {
                let cells = texts.iter().filter_map(|row| row.get(c)).map(String::len);
                cells.max().unwrap_or(0).max(self.columns[c].len())
            })
            .collect();
        let mut line = |name: &str, cells: &mut dyn Iterator<Item = &str>| {
            let mut line = format!("  {name:<names$}");
            for (cell, width) in cells.zip(&widths) {
                line.push_str(&format!("  {cell:>width$}"));
            }
            out.push_str(line.trim_end());
            out.push('\n');
        };
        line("", &mut std::iter::empty());
        line("", &mut self.columns.iter().copied());
        for ((name, _), cells) in self.rows.iter().zip(&texts) {
            line(name, &mut cells.iter().map(String::as_str));
        }
        for note in &self.notes {
            out.push_str(&format!("  {note}\n"));
        }
        out
    }

    /// For a program: one record a row.
    pub(crate) fn records(&self, machine: &Machine) -> Vec<Value> {
        let commands: Map<String, Value> =
            self.commands.iter().map(|(tool, line)| (tool.clone(), line.clone().into())).collect();
        let record = |(name, cells): &(String, Vec<Cell>)| {
            let figures: Map<String, Value> =
                self.columns.iter().zip(cells).map(|(c, cell)| ((*c).to_owned(), cell.json())).collect();
            json!({
                "section": self.section,
                "title": self.title,
                "row": name,
                "figures": figures,
                "commands": commands,
                "notes": self.notes,
                "processor": machine.processor,
                "versions": machine.versions,
            })
        };
        self.rows.iter().map(record).collect()
    }
}

/// Where and with what the figures were made.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// Name of the processor and number of cores.
    pub(crate) processor: String,
    /// Tools with their versions.
    pub(crate) versions: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_aligned_and_says_where_it_comes_from() {
        let machine = Machine { processor: "Z80".into(), versions: vec!["a 1".into(), "b 2".into()] };
        let mut table = Table::new("reading", "a file", &["CPU s", "ratio"]);
        table.command("a", "a read x\na read y");
        table.row("ours", [Cell::Seconds(0.5), Cell::Times(1.0)]);
        table.row("the other", [Cell::Seconds(12.0), Cell::Empty]);
        table.note("as seen.");
        let expected = "\nreading: a file\n  processor  Z80\n  versions   a 1, b 2\n  a:\n    a read x\n    a read y\n\
                        \n             CPU s  ratio\n  ours       0.500  1.00x\n  the other   12.0      -\n  \
                        as seen.\n";
        assert_eq!(table.text(&machine), expected);
        let records = table.records(&machine);
        assert_eq!(records[1]["figures"], json!({"CPU s": 12.0, "ratio": null}));
        assert_eq!(records[0]["commands"]["a"], "a read x\na read y");
    }
}
