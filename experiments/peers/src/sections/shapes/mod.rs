//! Every learner and the labelling on a grid of shapes: few and many labels, short and long sequences, few and many
//! attributes, with values and without, and real data. What is fast on one file must be fast on all.
//!
//! Ours and theirs are run in turns, on one thread, on the same attributes; the table has the worst ratio on top.

mod columns;
mod dicts;
mod grid;
mod made;
mod picture;
mod real;
mod row;
mod turns;
mod whole;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use seqoia_report::{bytes, grouped};

pub(crate) use self::columns::Column;
use self::columns::Figure;
use self::row::Row;
use self::turns::Turns;
use crate::bench::Bench;
use crate::measure::{Call, Usage};
use crate::runs::{Fit, Log};
use crate::screen;
use crate::table::{Cell, Table};

/// Options of this section.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Options {
    /// Section shapes: nine rows, once, in minutes
    #[arg(long)]
    pub(crate) quick: bool,
    /// Section shapes: only this column; may be given again
    #[arg(long, value_enum, value_name = "COLUMN")]
    pub(crate) only: Vec<Column>,
    /// Section shapes: only rows whose name contains this; may be given again
    #[arg(long, value_name = "TEXT")]
    pub(crate) rows: Vec<String>,
    /// Section shapes: draw the ratios into this file, as SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) picture: Option<PathBuf>,
}

impl Options {
    /// Whether any of them is given.
    pub(crate) fn given(&self) -> bool {
        self.quick || !self.only.is_empty() || !self.rows.is_empty() || self.picture.is_some()
    }

    fn wants(&self, row: &str) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|text| row.contains(text.as_str()))
    }

    fn columns(&self) -> Vec<Column> {
        let all = Column::value_variants().iter().copied();
        all.filter(|column| self.only.is_empty() || self.only.contains(column)).collect()
    }
}

/// A figure of a row.
#[derive(Clone, Debug, PartialEq)]
struct Measured {
    row: String,
    figure: Figure,
}

/// What a run has found so far.
#[derive(Default)]
struct Found {
    measured: Vec<Measured>,
    commands: Vec<(String, String)>,
    notes: Vec<String>,
    failed: usize,
    /// Figures of the row at hand, for the line that tells them.
    told: Vec<String>,
}

/// Measures the grid and shows it.
pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let options = bench.shapes.clone();
    let mut found = Found::default();
    for shape in grid::shapes(options.quick) {
        if options.wants(&shape.name) {
            found.measure(bench, Row::made(bench, &shape)?)?;
        }
    }
    if !options.quick {
        for corpus in real::corpora(&mut found.notes) {
            if options.wants(corpus.name) {
                match corpus.prepare(bench) {
                    Ok(row) => found.measure(bench, row)?,
                    Err(error) => found.missing(corpus.name, "all", &format!("{error:#}")),
                }
            }
        }
    }
    ensure!(!found.measured.is_empty() || found.failed > 0, "no row has a name with {:?}", options.rows);
    sort(&mut found.measured);
    bench.show(&found.table(bench.repeat))?;
    if let Some(path) = &options.picture {
        let dots: Vec<picture::Dot> = found.measured.iter().filter_map(Measured::dot).collect();
        fs::write(path, picture::svg(&dots)).with_context(|| format!("--picture {}", path.display()))?;
    }
    ensure!(found.failed == 0, "{} figures are missing, see the notes", found.failed);
    Ok(())
}

impl Measured {
    /// Its mark in the picture, which shows ours beside others and one step of the work: what compares ours with ours,
    /// or whole runs, stands in the table only.
    fn dot(&self) -> Option<picture::Dot<'_>> {
        let Figure { column, rival, ratio, .. } = &self.figure;
        let shown = !rival.starts_with("seqoia") && !column.starts_with("whole");
        shown.then_some(picture::Dot { row: &self.row, column, ratio: *ratio })
    }
}

/// CPU seconds of the epochs that would be measured; none if a run fails, which is told later.
fn epochs_of(bench: &Bench, row: &Row) -> Option<f64> {
    let [few, more] = row.ap.map(|passes| columns::epochs(&bench.tools, row, 1, passes).run().ok());
    Some(more?.cpu - few?.cpu)
}

/// Worst ratio on top.
fn sort(measured: &mut [Measured]) {
    measured.sort_by(|a, b| a.figure.ratio.total_cmp(&b.figure.ratio));
}

impl Found {
    /// All columns of a row, told in one line, since the table comes at the end of a long run.
    fn measure(&mut self, bench: &Bench, mut row: Row) -> Result<()> {
        let tools = &bench.tools;
        let columns: Vec<Column> =
            bench.shapes.columns().into_iter().filter(|column| column.fits(&row)).collect();
        if columns.contains(&Column::Ap)
            && let Some(seconds) = epochs_of(bench, &row)
        {
            row.ap = columns::enough(row.ap, seconds);
        }
        let row = &row;
        let mut turns = Turns::default();
        let mut needs = vec![];
        for &column in &columns {
            let calls = column.calls(tools, row);
            needs.push(calls.into_iter().map(|call| turns.add(call)).collect::<Vec<usize>>());
        }
        for call in columns.iter().flat_map(|column| column.models(tools, row)) {
            if turns.position(&call.line()).is_none() {
                call.run().map_or_else(|error| screen::note(&format!("  failed: {error:#}")), drop);
            }
        }
        let runs = turns.run(bench.repeat);
        self.compare_weights(row, &runs);
        self.check_memory(row, &runs);
        if row.passes[0] == 2 {
            self.notes.push(format!("{}: iterations 3 and 4 and epoch 2, since they are long", row.name));
        }
        for (column, needed) in columns.into_iter().zip(&needs) {
            let name = column.to_possible_value().context("every column has a name")?;
            let name = name.get_name();
            self.show_commands(name, needed.iter().map(|&number| turns.line(number)));
            let all: Option<Vec<&[Usage]>> = needed.iter().map(|&number| runs[number].as_deref()).collect();
            let Some(all) = all else {
                self.missing(&row.name, name, "a call failed");
                continue;
            };
            let figures = match column {
                Column::Whole => self.whole(bench, row),
                _ => column.figures(row, &all),
            };
            match figures {
                Ok(figures) => figures.into_iter().for_each(|figure| self.keep(row, figure)),
                Err(error) => self.missing(&row.name, name, &format!("{error:#}")),
            }
        }
        screen::note(&format!("{}: {}", row.name, self.told.join(", ")));
        self.told.clear();
        Ok(())
    }

    /// Whole training, once.
    fn whole(&mut self, bench: &Bench, row: &Row) -> Result<Vec<Figure>> {
        let Some(calls) = whole::calls(&bench.tools, row) else { return Ok(vec![]) };
        self.show_commands("whole", calls.iter().map(Call::line));
        let [ours, theirs] = [calls[0].run()?, calls[1].run()?];
        self.check_memory(row, &[Some(vec![ours.clone()])]);
        whole::figures(&bench.tools, row, [&ours, &theirs])
    }

    /// Keeps the commands of a column, those of the first row: others differ in the flags that say what is read.
    fn show_commands(&mut self, column: &str, lines: impl Iterator<Item = String>) {
        if self.commands.iter().any(|known| known.0 == column) {
            return;
        }
        let shown =
            |line: &String| self.commands.iter().any(|known| known.1.lines().any(|known| known == line));
        let lines: Vec<String> = lines.filter(|line| !shown(line)).collect(); // columns share runs
        if !lines.is_empty() {
            self.commands.push((column.to_owned(), lines.join("\n")));
        }
    }

    /// Keeps a figure if it is one.
    fn keep(&mut self, row: &Row, figure: Figure) {
        let Figure { column, ratio, .. } = figure;
        if ratio.is_finite() && ratio > 0.0 {
            self.told.push(format!("{column} {ratio:.2}x"));
            self.measured.push(Measured { row: row.name.clone(), figure });
        } else {
            self.missing(&row.name, column, "too short to be measured");
        }
    }

    fn missing(&mut self, row: &str, column: &str, why: &str) {
        let note = format!("missing: {column} of {row}: {why}");
        screen::note(&note);
        self.failed += 1;
        self.notes.push(note);
    }

    /// Says where the tools did not see the same features.
    fn compare_weights(&mut self, row: &Row, runs: &[Option<Vec<Usage>>]) {
        let outputs = || runs.iter().flatten().flatten().map(|run| run.output.as_str());
        let ours = outputs().find_map(|output| Some(Log::parse(output).ok()?.weights));
        let theirs = outputs().find_map(|output| Some(Fit::parse(output).ok()?.features));
        if let (Some(ours), Some(theirs)) = (ours, theirs)
            && ours != theirs
        {
            let [ours, theirs] = [ours, theirs].map(grouped);
            self.notes.push(format!("{}: {ours} weights, python-crfsuite has {theirs}", row.name));
        }
    }

    /// Says where a run took more memory than it told before.
    fn check_memory(&mut self, row: &Row, runs: &[Option<Vec<Usage>>]) {
        let worst = runs.iter().flatten().flatten().filter_map(|run| {
            let estimate = Log::parse(&run.output).ok()?.estimate;
            (run.peak > estimate).then_some((run.peak, estimate))
        });
        if let Some((peak, estimate)) = worst.max() {
            let [peak, estimate] = [peak, estimate].map(bytes);
            self.notes.push(format!("{}: took {peak}, and said at most {estimate}", row.name));
        }
    }

    fn table(&self, repeat: usize) -> Table {
        let short = repeat * turns::TIMES;
        let title =
            format!("one thread, medians of {repeat} (of runs below 1 s: {short}), worst ratio on top");
        let mut table = Table::new("shapes", title, &["column", "rival", "ours", "theirs", "ratio"]);
        for (column, lines) in &self.commands {
            table.command(column.clone(), lines.clone());
        }
        for Measured { row, figure } in &self.measured {
            let Figure { column, rival, ours, theirs, ratio } = figure.clone();
            table.row(row.clone(), [Cell::Word(column), Cell::Word(rival), ours, theirs, Cell::Times(ratio)]);
        }
        let notes = [
            "seconds are CPU time, labelling is in tokens per second; a ratio above 1 means that ours is better",
            "lbfgs, ap: one iteration; ours by the difference of two runs, python-crfsuite's as it tells them",
            "lbfgs-f32: not where few of many label pairs occur, whose sums are in double precision always",
            "adagrad: one pass with reading and writing, less the start of Python for vowpalwabbit",
            "2 threads: by the clock, against one thread of ours; a busy machine shows less",
            "labelling: ours reads and writes files, python-crfsuite has lists in memory",
            "memory: python-crfsuite is fed line by line, no lists of the whole file count, the interpreter does",
            "whole: ours as `train` does it by itself, theirs L-BFGS with c2 = 1 until it stops; F1 or accuracy on test \
             data, the ratio is one of errors",
        ];
        notes.into_iter().for_each(|note| table.note(note));
        self.notes.iter().for_each(|note| table.note(note.clone()));
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_is_on_top() {
        let measured = |row: &str, ratio| Measured {
            row: row.to_owned(),
            figure: Figure {
                column: "ap",
                rival: "x",
                ours: Cell::Seconds(1.0),
                theirs: Cell::Seconds(ratio),
                ratio,
            },
        };
        let mut all = vec![measured("b", 2.0), measured("a", 0.5), measured("c", 11.0)];
        sort(&mut all);
        assert_eq!(all.iter().map(|m| m.row.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    }

    #[test]
    fn rows_and_columns_can_be_chosen() {
        let options = Options { rows: vec!["dense".into()], only: vec![Column::Ap], ..Options::default() };
        assert!(options.wants("64 labels, dense") && !options.wants("64 labels"));
        assert_eq!(options.columns(), [Column::Ap]);
        assert_eq!(Options::default().columns().len(), 8);
        assert!(options.given() && !Options::default().given());
    }
}
