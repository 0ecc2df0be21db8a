//! The report: a page of its own with plots and tables, the plots as files, and the table of scores for the terminal.

use std::path::Path;

use seqoia::LabelColumn;
use seqoia::score::{self, Trials};
use seqoia_report::{Axis, Curve as Drawn, Page, Plot, Table, bytes, grouped};

use super::curves::{Curve, Optima, below_reference, of_data, optima, ranked};
use super::plan::{Planned, Whose};
use super::recipe::{PlotWish, Recipe, Show};
use super::store::Store;
use crate::flags::open_as;

/// A mean over seeds, and its deviation.
type Score = (f64, Option<f64>);

/// Swaps of sentences for a test of significance.
const SHUFFLES: usize = 9_999;

/// What a data set has to show.
struct Section<'a> {
    data: usize,
    curves: Vec<Curve<'a>>,
    optima: Optima,
}

/// What is made of all runs.
pub(super) struct Report {
    pub(super) page: String,
    /// Plots by name.
    pub(super) plots: Vec<(String, String)>,
    /// For the terminal.
    pub(super) table: String,
}

pub(super) fn report(
    recipe: &Recipe,
    plan: &[Planned],
    keys: &[(String, String)],
    store: &Store,
    missing: &[String],
) -> Report {
    let sections: Vec<Section<'_>> = (0..recipe.data.len())
        .filter(|data| plan.iter().any(|planned| planned.data == *data))
        .map(|data| {
            let curves = of_data(data, plan, keys, store);
            let optima = optima(&curves);
            Section { data, curves, optima }
        })
        .collect();
    let mut page = Page::wide(&recipe.title);
    recipe
        .about
        .split("\n\n")
        .filter(|text| !text.trim().is_empty())
        .for_each(|text| page.paragraph(text.trim()));
    page.paragraph(&provenance(plan, keys, store));
    missing.iter().for_each(|text| page.paragraph(text));
    let matrix = matrix(recipe, &sections);
    page.heading("Test scores");
    page.table(&matrix);
    page.paragraph(
        "F1, or accuracy where labels are not chunks; the mean over seeds and ± its standard deviation. * the best of \
         its column.",
    );
    let mut plots = vec![];
    for section in &sections {
        let data = &recipe.data[section.data];
        page.heading(&data.name);
        page.paragraph(&described(section, recipe));
        if let Some(name) = below_reference(&section.curves) {
            page.paragraph(&format!(
                "The reference did not reach the optimum: {name} came lower, so gaps are too small by an unknown amount."
            ));
        }
        let drawn = drawn(recipe, section);
        for (number, plot) in drawn.iter().enumerate() {
            plots.push((format!("{}-{}", file_name(&data.name), number + 1), plot.svg()));
        }
        page.plots(&drawn);
        page.table(&finals(recipe, section, plan, store));
        if let Some(tables) = tables(section) {
            page.paragraph(
                "Gradients remembered for each example, beside a table that would hold all of them in full:",
            );
            page.table(&tables);
        }
        if section.curves.iter().any(|curve| !curve.failed.is_empty()) {
            for curve in &section.curves {
                if let Some(why) = curve.failed.first() {
                    page.paragraph(&format!("{}: {why}", curve.name));
                }
            }
        }
        let commands: Vec<&str> =
            section.curves.iter().flat_map(|curve| curve.shown.iter().copied()).collect();
        page.lines("Commands", &commands.join("\n"));
    }
    page.heading("How to read this");
    page.paragraph(
        "effective passes: evaluations of examples, those of line searches included, divided by the number of \
         examples. CPU s: time in passes, on all threads, without reading, scoring and the sweeps that compute an \
         objective for the record. gap: (F - F*) / F*, where F* is the lowest objective that the reference or any run \
         on the same problem reached; runs with other penalties have no gap.",
    );
    page.paragraph(
        "p: approximate randomisation over sentences against the best mean of the table, 9,999 shuffles, first seed of \
         each, multiplied as Holm has it for the number of tests in the table.",
    );
    Report { page: page.finish(), plots, table: matrix.text() }
}

/// Machine, version and date.
fn provenance(plan: &[Planned], keys: &[(String, String)], store: &Store) -> String {
    let lines: Vec<_> = plan.iter().zip(keys).filter_map(|(_, key)| store.get(key)).collect();
    let mut machines: Vec<&str> = lines.iter().map(|line| line.machine.as_str()).collect();
    machines.sort_unstable();
    machines.dedup();
    let mut versions: Vec<&str> = lines.iter().map(|line| line.version.as_str()).collect();
    versions.sort_unstable();
    versions.dedup();
    let days: Vec<u64> = lines.iter().map(|line| line.ended / 86_400).collect();
    let date = |day: Option<u64>| day.map_or(String::new(), date);
    let (first, last) = (date(days.iter().min().copied()), date(days.iter().max().copied()));
    let when = if first == last { first } else { format!("{first} to {last}") };
    let old = plan.iter().zip(keys).filter_map(|(_, key)| Some((store.get(key)?, key)));
    let old = old.filter(|(line, key)| line.key != key.0).count();
    let old =
        if old > 0 { format!(" {old} of them by another build of the program.") } else { String::new() };
    let (done, all) = (lines.len(), plan.len());
    format!("{done} of {all} runs, Seqoia {}, {}, {when}.{old}", versions.join(", "), machines.join("; "))
}

/// Year, month and day, from days since 1970 (Howard Hinnant, chrono-compatible date algorithms).
fn date(days: u64) -> String {
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}

fn described(section: &Section<'_>, recipe: &Recipe) -> String {
    let data = &recipe.data[section.data];
    let start = section.curves.iter().flat_map(|c| &c.lines).find(|line| line.start.is_object());
    let count = |name: &str| start.and_then(|line| line.start[name].as_u64()).map(grouped);
    let mut text = String::new();
    if let (Some(sequences), Some(tokens), Some(labels)) =
        (count("sequences"), count("tokens"), count("labels"))
    {
        text = format!("{sequences} sequences, {tokens} tokens, {labels} labels. ");
    }
    text.push_str(match data.dev {
        Some(_) => "Curves are of dev data; test data is scored once, at the end. ",
        None => "Curves are of test data, which is scored after every pass; nothing is chosen on it. ",
    });
    text.push_str(&data.about);
    text
}

/// Runs against data sets.
fn matrix(recipe: &Recipe, sections: &[Section<'_>]) -> Table {
    let mut table = Table::new().names("", 16);
    for section in sections {
        let name = &recipe.data[section.data].name;
        table = table.numbers(name, name.chars().count().max(10) + 2);
    }
    let mut rows: Vec<(String, Vec<Option<Score>>)> = vec![];
    let score = |curve: Option<&Curve<'_>>| curve.and_then(Curve::test).map(|(_, mean, off)| (mean, off));
    for (entry, run) in recipe.run.iter().enumerate() {
        if run.show == Show::All {
            for (setting, options) in run.settings().iter().enumerate() {
                let own = Whose::Entry { entry, setting };
                let cells =
                    sections.iter().map(|s| score(s.curves.iter().find(|c| c.whose == own))).collect();
                rows.push((
                    super::plan::named(&run.name, options).unwrap_or_else(|_| run.name.clone()),
                    cells,
                ));
            }
        } else {
            let best = |s: &Section<'_>| score(ranked(entry, recipe, &s.curves, &s.optima).first().copied());
            rows.push((run.name.clone(), sections.iter().map(best).collect()));
        }
    }
    for (rival, run) in recipe.rival.iter().enumerate() {
        let own = Whose::Rival(rival);
        let cells = sections.iter().map(|s| score(s.curves.iter().find(|c| c.whose == own))).collect();
        rows.push((format!("{} {}", run.name, run.version), cells));
    }
    let best = |column: usize| {
        let means = rows.iter().filter_map(|(_, cells)| cells[column].map(|c| c.0));
        means.fold(f64::NEG_INFINITY, f64::max)
    };
    let bests: Vec<f64> = (0..sections.len()).map(best).collect();
    for (name, cells) in &rows {
        let cell = |(cell, best): (&Option<Score>, &f64)| match cell {
            None => String::new(),
            Some((mean, off)) => {
                let off = off.map_or(String::new(), |off| format!(" ± {off:.2}"));
                let mark = if mean >= best { " *" } else { "" };
                format!("{mean:.2}{off}{mark}")
            }
        };
        table.row([name.clone()].into_iter().chain(cells.iter().zip(&bests).map(cell)));
    }
    table
}

/// The plots of a data set.
fn drawn(recipe: &Recipe, section: &Section<'_>) -> Vec<Plot> {
    let known =
        |y: &str| section.curves.iter().any(|curve| !curve.points("passes", y, &section.optima).is_empty());
    let wish = |x: &str, y: &str| PlotWish {
        title: None,
        x: x.to_owned(),
        y: y.to_owned(),
        log_x: None,
        log_y: None,
        from: None,
        runs: None,
        data: None,
    };
    let mut wishes = recipe.plot.clone();
    if wishes.is_empty() {
        let value = if known("gap") { "gap" } else { "objective" };
        for y in [value, "score"] {
            wishes.extend(["effective_passes", "cpu_seconds"].map(|x| wish(x, y)));
        }
    }
    let name = &recipe.data[section.data].name;
    let here = |wish: &&PlotWish| wish.data.as_ref().is_none_or(|all| all.contains(name)) && known(&wish.y);
    let plots = wishes.iter().filter(here).map(|wish| plot(wish, recipe, section));
    plots.filter(|plot| !plot.curves.is_empty()).collect()
}

fn plot(wish: &PlotWish, recipe: &Recipe, section: &Section<'_>) -> Plot {
    let mut curves: Vec<Drawn> = vec![];
    let mut colour = 0;
    let mut add = |curve: &Curve<'_>, name: &str, colour: usize, dotted: bool| {
        let points = curve.points(&wish.x, &wish.y, &section.optima);
        if !points.is_empty() {
            let name = if dotted { String::new() } else { name.to_owned() };
            curves.push(Drawn { name, colour, dotted, points });
        }
    };
    // Every run has its colour in all plots, whoever else is in them.
    for (entry, run) in recipe.run.iter().enumerate() {
        let all = ranked(entry, recipe, &section.curves, &section.optima);
        let of = |rank: usize| if run.show == Show::All { colour + rank } else { colour };
        if wish.runs.as_ref().is_none_or(|runs| runs.contains(&run.name)) {
            let shown = match run.show {
                Show::All => all.len(),
                Show::Best2 => 2,
                Show::Best => 1,
            };
            for (rank, curve) in all.iter().enumerate().take(shown) {
                let name = if run.show == Show::All { curve.name } else { &run.name };
                add(curve, name, of(rank), rank > 0 && run.show == Show::Best2);
            }
        }
        colour += if run.show == Show::All { run.settings().len() } else { 1 };
    }
    let label = |quantity: &str| match quantity {
        "effective_passes" => "effective passes".to_owned(),
        "cpu_seconds" => "CPU seconds".to_owned(),
        "gap" => "(F - F*) / F*".to_owned(),
        "objective" => "objective F".to_owned(),
        "score" | "error" => {
            let name = section.curves.iter().find_map(|curve| curve.test().map(|t| t.0)).unwrap_or_default();
            let set = if recipe.data[section.data].dev.is_some() { "dev" } else { "test" };
            if quantity == "score" { format!("{set} {name}") } else { format!("100 - {set} {name}") }
        }
        other => other.to_owned(),
    };
    let (x, y) = (label(&wish.x), label(&wish.y));
    let title = wish.title.clone().unwrap_or_else(|| format!("{y} against {x}"));
    let log_y = wish.log_y.unwrap_or(matches!(wish.y.as_str(), "gap" | "objective"));
    // The first passes of slow learners would flatten all that matters.
    let from = wish.from.or_else(|| (wish.y == "score").then(|| lower_tenth(&curves)).flatten());
    // Times of learners differ by orders of magnitude.
    let log_x = wish.log_x.unwrap_or(wish.x.ends_with("seconds"));
    Plot {
        title: format!("{}: {title}", recipe.data[section.data].name),
        x: Axis { label: x, log: log_x, from: (!log_x).then_some(0.0) },
        y: Axis { label: y, log: log_y, from },
        curves,
    }
}

/// What nine tenths of all points are above.
fn lower_tenth(curves: &[Drawn]) -> Option<f64> {
    let mut all: Vec<f64> = curves.iter().flat_map(|curve| &curve.points).map(|point| point.1).collect();
    all.sort_unstable_by(f64::total_cmp);
    all.get(all.len() / 10).copied()
}

/// The final figures of a data set.
fn finals(recipe: &Recipe, section: &Section<'_>, plan: &[Planned], store: &Store) -> Table {
    let mut rows: Vec<&Curve<'_>> = vec![];
    for (entry, run) in recipe.run.iter().enumerate() {
        let all = ranked(entry, recipe, &section.curves, &section.optima);
        let most = if run.show == Show::All { all.len() } else { 1 };
        rows.extend(all.into_iter().take(most));
    }
    rows.extend(section.curves.iter().filter(|c| matches!(c.whose, Whose::Rival(_) | Whose::Reference)));
    let score = rows.iter().find_map(|curve| curve.test().map(|t| t.0)).unwrap_or_default();
    let mut table = Table::new().names("", 24).numbers(&format!("test {score}"), 10).numbers("±", 6);
    for name in ["p", "objective", "gap", "passes", "effective", "CPU s", "peak memory", "model", "weights"] {
        table = table.numbers(name, 9);
    }
    let p = significance(&rows, section, plan, store);
    for (curve, p) in rows.iter().zip(p) {
        let number = |x: Option<f64>, digits: usize| x.map_or(String::new(), |x| format!("{x:.digits$}"));
        let size = |x: Option<f64>| {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // sizes of memory and files
            x.map_or(String::new(), |x| bytes(x.round() as u64))
        };
        let test = curve.test();
        let last = |quantity: &str| curve.last(quantity, &section.optima).map(|v| v.0);
        let gap = last("gap").map_or(String::new(), |gap| format!("{gap:.1e}"));
        let cpu = last("cpu_seconds").or_else(|| curve.mean(|line| line.rival_seconds.map(|s| s.0)));
        #[allow(clippy::cast_precision_loss)] // weights of a model
        let weights = curve.mean(|line| line.weights.map(|n| n as f64));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let weights = weights.map_or(String::new(), |n| grouped(n.round() as u64));
        table.row([
            curve.name.to_owned(),
            number(test.as_ref().map(|t| t.1), 2),
            number(test.as_ref().and_then(|t| t.2), 2),
            p,
            number(last("objective"), 6),
            gap,
            number(last("passes"), 0),
            number(last("effective_passes"), 1),
            number(cpu, 1),
            size(curve.mean(|line| line.end["peak_memory"].as_f64())),
            size(curve.mean(|line| line.end["model_bytes"].as_f64())),
            weights,
        ]);
    }
    table
}

/// What the memory of each example's gradient takes, by the form in which it is stored.
fn tables(section: &Section<'_>) -> Option<Table> {
    let mut table =
        Table::new().names("", 24).names("form", 10).numbers("memory", 10).numbers("of a full table", 16);
    let mut known = vec![];
    for curve in &section.curves {
        let Some(line) = curve.lines.first() else { continue };
        let number = |name: &str| line.end[name].as_f64();
        let (Some(taken), Some(full)) = (number("table_bytes"), number("dense_table_bytes")) else {
            continue;
        };
        let words: Vec<&str> = line.command.split(' ').collect();
        let form = words.iter().position(|word| *word == "--table").and_then(|at| words.get(at + 1));
        let form = (*form.unwrap_or(&"mixed")).to_owned();
        let row = (curve.name.to_owned(), form, taken);
        if !known.contains(&row) {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a size in memory
            let size = bytes(taken as u64);
            table.row([row.0.clone(), row.1.clone(), size, format!("{:.1e}", taken / full)]);
            known.push(row);
        }
    }
    (!known.is_empty()).then_some(table)
}

/// How likely chance alone makes each differ so much from the best.
fn significance(rows: &[&Curve<'_>], section: &Section<'_>, plan: &[Planned], store: &Store) -> Vec<String> {
    let none = vec![String::new(); rows.len()];
    let scores: Vec<f64> = rows.iter().map(|c| c.test().map_or(f64::NEG_INFINITY, |t| t.1)).collect();
    let best = (0..rows.len()).reduce(|a, b| if scores[b] > scores[a] { b } else { a });
    let Some(best) = best.filter(|&i| scores[i].is_finite()) else { return none };
    let Some(planned) = plan.iter().find(|p| p.data == section.data && p.args.is_some()) else { return none };
    let args = planned.args.as_ref();
    let label = args.and_then(|args| args.label.label.as_deref());
    let Ok(label) = label.map_or(Ok(LabelColumn::Last), LabelColumn::parse) else { return none };
    let kind = args.and_then(|args| args.label.format);
    let file = |curve: &Curve<'_>| curve.keys.first().map(|key| store.prediction(key));
    let p = |curve: &Curve<'_>| -> Option<f64> {
        let files = [file(rows[best])?, file(curve)?];
        let open = |path: &Path| open_as(Some(path), None).ok();
        let trials = Trials { resamples: 1, shuffles: SHUFFLES, seed: 1 };
        let gold = open_as(Some(&planned.test), kind).ok()?;
        let both = [open(&files[0])?, open(&files[1])?];
        Some(score::systems_against(gold, both, (kind, &label), false, trials).ok()?.significance.p)
    };
    let found: Vec<Option<f64>> =
        rows.iter().enumerate().map(|(i, curve)| if i == best { None } else { p(curve) }).collect();
    let holm = holm(&found);
    holm.iter()
        .enumerate()
        .map(|(i, p)| match p {
            _ if i == best => "best".to_owned(),
            None => String::new(),
            Some(p) if *p < 1e-3 => "< 0.001".to_owned(),
            Some(p) => format!("{p:.3}"),
        })
        .collect()
}

/// Holm's correction: the smallest of m times m, the next times m - 1, ..., never below the one before.
fn holm(p: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> = p.iter().enumerate().filter_map(|(i, p)| Some((i, (*p)?))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (mut corrected, mut least) = (vec![None; p.len()], 0.0f64);
    for (rank, &(i, p)) in order.iter().enumerate() {
        least = least.max((p * seqoia::core::cast::real(order.len() - rank)).min(1.0));
        corrected[i] = Some(least);
    }
    corrected
}

/// A name that is safe in a folder.
fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        assert_eq!(
            [0, 59, 11_016, 20_776].map(date),
            ["1970-01-01", "1970-03-01", "2000-02-29", "2026-11-19"]
        );
    }

    #[test]
    fn p_values_grow_with_the_number_of_tests() {
        let p = [Some(0.01), None, Some(0.04), Some(0.02), Some(0.9)];
        let corrected = holm(&p);
        let rounded: Vec<Option<i32>> = corrected
            .iter()
            .map(|p| {
                #[allow(clippy::cast_possible_truncation)]
                p.map(|p| (p * 100.0).round() as i32)
            })
            .collect();
        assert_eq!(rounded, [Some(4), None, Some(8), Some(6), Some(90)]);
    }
}
