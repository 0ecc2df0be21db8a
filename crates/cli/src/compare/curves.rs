//! From the records of runs to curves and final figures: means over seeds, gaps to the optimum, the best of a grid.

use std::collections::HashMap;

use seqoia::core::cast::real;
use serde_json::Value;

use super::plan::{Planned, Whose};
use super::recipe::{Choose, Recipe, mean_and_deviation};
use super::store::{Line, Store};

/// Gaps below this are those of rounding.
const SMALLEST: f64 = 1e-12;

/// All seeds of one setting on one data set.
pub(super) struct Curve<'a> {
    pub(super) whose: Whose,
    pub(super) name: &'a str,
    pub(super) shown: Vec<&'a str>,
    pub(super) keys: Vec<&'a str>,
    pub(super) lines: Vec<&'a Line>,
    /// Why seeds have no model.
    pub(super) failed: Vec<&'a str>,
}

/// The curves of a data set, in the order of the plan.
pub(super) fn of_data<'a>(
    data: usize,
    plan: &'a [Planned],
    keys: &'a [(String, String)],
    store: &'a Store,
) -> Vec<Curve<'a>> {
    let mut all: Vec<Curve<'a>> = vec![];
    for (planned, key) in plan.iter().zip(keys).filter(|(planned, _)| planned.data == data) {
        let at = all.iter().position(|curve| curve.whose == planned.whose).unwrap_or_else(|| {
            all.push(Curve {
                whose: planned.whose,
                name: &planned.name,
                shown: vec![],
                keys: vec![],
                lines: vec![],
                failed: vec![],
            });
            all.len() - 1
        });
        all[at].shown.push(&planned.shown);
        if let Some(line) = store.get(key) {
            match &line.failed {
                Some(why) => all[at].failed.push(why),
                None => {
                    all[at].lines.push(line);
                    all[at].keys.push(&line.key);
                }
            }
        }
    }
    all
}

/// What must be equal for objectives to be comparable: data, weights and penalties.
fn problem(line: &Line) -> String {
    let start = &line.start;
    let part = |name: &str| start[name].to_string();
    ["digest", "sequences", "labels", "attributes", "weights", "l1", "l2"].map(part).join(" ")
}

/// The lowest objectives known, for problems with a reference.
pub(super) type Optima = HashMap<String, f64>;

pub(super) fn optima(curves: &[Curve<'_>]) -> Optima {
    let of = |reference: bool| curves.iter().filter(move |c| (c.whose == Whose::Reference) == reference);
    let lowest = |line: &Line| line.passes.iter().filter_map(|p| p["objective"].as_f64()).reduce(f64::min);
    let mut optima = Optima::new();
    for line in of(true).flat_map(|curve| &curve.lines) {
        if let Some(f) = lowest(line) {
            optima.insert(problem(line), f);
        }
    }
    // Others may come lower, by rounding or since the reference stopped early.
    for line in of(false).flat_map(|curve| &curve.lines) {
        if let (Some(best), Some(f)) = (optima.get_mut(&problem(line)), lowest(line)) {
            *best = best.min(f);
        }
    }
    optima
}

/// The curve that came clearly below the reference, which then did not reach the optimum.
pub(super) fn below_reference<'b>(curves: &'b [Curve<'_>]) -> Option<&'b str> {
    let lowest = |line: &Line| line.passes.iter().filter_map(|p| p["objective"].as_f64()).reduce(f64::min);
    let references: HashMap<String, f64> = curves
        .iter()
        .filter(|curve| curve.whose == Whose::Reference)
        .flat_map(|curve| &curve.lines)
        .filter_map(|line| Some((problem(line), lowest(line)?)))
        .collect();
    let is_below = |line: &&Line| match (references.get(&problem(line)), lowest(line)) {
        (Some(best), Some(f)) => best - f > 1e-6 * best.abs(),
        _ => false,
    };
    curves.iter().find(|curve| curve.lines.iter().any(is_below)).map(|curve| curve.name)
}

/// The score that counts first.
pub(super) fn main_score(scores: &Value) -> Option<(&str, f64)> {
    let all = scores.as_object()?;
    let (name, value) =
        all.get_key_value("f1").or_else(|| all.get_key_value("accuracy")).or(all.iter().next())?;
    Some((name, value.as_f64()?))
}

impl Curve<'_> {
    /// The numbers of a quantity after each pass of a run.
    fn of_run(line: &Line, quantity: &str, optima: &Optima) -> Vec<Option<f64>> {
        let sum = |name: &str| {
            let mut total = 0.0;
            let values = line.passes.iter().map(|pass| pass[name].as_f64());
            values
                .map(|x| {
                    x.map(|x| {
                        total += x;
                        total
                    })
                })
                .collect::<Vec<_>>()
        };
        let passes = line.passes.iter();
        match quantity {
            "passes" => (1..=line.passes.len()).map(|n| Some(real(n))).collect(),
            "effective_passes" | "cpu_seconds" | "seconds" => sum(quantity),
            "objective" => passes.map(|pass| pass["objective"].as_f64()).collect(),
            "gap" => {
                let best = optima.get(&problem(line)).copied();
                let gap = |f: f64| best.map(|best| ((f - best) / best.abs()).max(SMALLEST));
                passes.map(|pass| pass["objective"].as_f64().and_then(gap)).collect()
            }
            _ => {
                let of = |score: f64| if quantity == "error" { 100.0 - score } else { score };
                passes.map(|pass| main_score(&pass["scores"]).map(|(_, score)| of(score))).collect()
            }
        }
    }

    /// Points of a curve: means over seeds by pass, as far as all of them came.
    pub(super) fn points(&self, x: &str, y: &str, optima: &Optima) -> Vec<(f64, f64)> {
        let runs: Vec<(Vec<_>, Vec<_>)> = self
            .lines
            .iter()
            .map(|line| (Self::of_run(line, x, optima), Self::of_run(line, y, optima)))
            .collect();
        let length = runs.iter().map(|(x, y)| x.len().min(y.len())).min().unwrap_or(0);
        let mean = |values: Option<Vec<f64>>| values.map(|values| mean_and_deviation(&values).0);
        let at = |i: usize| {
            let xs = mean(runs.iter().map(|(x, _)| x[i]).collect())?;
            Some((xs, mean(runs.iter().map(|(_, y)| y[i]).collect())?))
        };
        (0..length).filter_map(at).collect()
    }

    /// The mean over seeds of a quantity at the end, and its deviation.
    pub(super) fn last(&self, quantity: &str, optima: &Optima) -> Option<(f64, Option<f64>)> {
        let values: Option<Vec<f64>> = self
            .lines
            .iter()
            .map(|line| Self::of_run(line, quantity, optima).into_iter().flatten().next_back())
            .collect();
        values.filter(|values| !values.is_empty()).map(|values| mean_and_deviation(&values))
    }

    /// Mean and deviation of the test score, with its name.
    pub(super) fn test(&self) -> Option<(String, f64, Option<f64>)> {
        let scores: Vec<Value> = self.lines.iter().map(|line| Value::Object(line.scores.clone())).collect();
        let all: Option<Vec<(&str, f64)>> = scores.iter().map(main_score).collect();
        let all = all.filter(|all| !all.is_empty())?;
        let (mean, off) = mean_and_deviation(&all.iter().map(|s| s.1).collect::<Vec<_>>());
        Some((all[0].0.to_owned(), mean, off))
    }

    /// The mean of a number in the records of the end.
    pub(super) fn mean(&self, of: impl Fn(&Line) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self.lines.iter().filter_map(|line| of(line)).collect();
        (!values.is_empty()).then(|| mean_and_deviation(&values).0)
    }
}

/// Settings of an entry's grid, the best first. Those that failed come last.
pub(super) fn ranked<'b, 'a>(
    entry: usize,
    recipe: &Recipe,
    curves: &'b [Curve<'a>],
    optima: &Optima,
) -> Vec<&'b Curve<'a>> {
    let is_own = |c: &&Curve<'_>| matches!(c.whose, Whose::Entry { entry: own, .. } if own == entry);
    let mut own: Vec<_> = curves.iter().filter(is_own).collect();
    if own.len() > 1 {
        let badness = |curve: &Curve<'_>| {
            let last = match recipe.run[entry].choose {
                Choose::Objective => curve.last("objective", optima).map(|f| f.0),
                Choose::Score => curve.last("score", optima).map(|s| -s.0),
            };
            last.filter(|_| curve.failed.is_empty()).unwrap_or(f64::INFINITY)
        };
        own.sort_by(|a, b| badness(a).total_cmp(&badness(b)));
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, json};

    fn line(l2: f64, objectives: &[f64]) -> Line {
        let pass = |f: &f64| json!({ "objective": f, "effective_passes": 2.0, "scores": { "f1": 10.0 * f, "accuracy": 1 } });
        Line {
            key: l2.to_string(),
            work: String::new(),
            command: String::new(),
            version: String::new(),
            machine: String::new(),
            ended: 0,
            failed: None,
            start: json!({ "l2": l2 }),
            passes: objectives.iter().map(pass).collect(),
            end: Value::Null,
            scores: Map::new(),
            weights: None,
            rival_seconds: None,
        }
    }

    fn curve(whose: Whose, lines: Vec<&Line>) -> Curve<'_> {
        Curve { whose, name: "", shown: vec![], keys: vec![], lines, failed: vec![] }
    }

    #[test]
    fn gaps_are_measured_among_equal_problems() {
        let (reference, ours, other) = (line(1.0, &[4.0, 2.0]), line(1.0, &[3.0, 2.5]), line(9.0, &[1.0]));
        let own = |setting| Whose::Entry { entry: 0, setting };
        let curves = [
            curve(Whose::Reference, vec![&reference]),
            curve(own(0), vec![&ours]),
            curve(own(1), vec![&other]),
        ];
        let optima = optima(&curves);
        assert_eq!(curves[1].points("effective_passes", "gap", &optima), [(2.0, 0.5), (4.0, 0.25)]);
        assert_eq!(curves[2].points("passes", "gap", &optima), [], "another penalty has another optimum");
        assert_eq!(curves[0].last("gap", &optima).map(|g| g.0), Some(SMALLEST));
        assert_eq!(curves[1].points("passes", "error", &optima), [(1.0, 70.0), (2.0, 75.0)]);
    }

    #[test]
    fn seeds_are_averaged_as_far_as_all_came() {
        let (a, b) = (line(1.0, &[4.0, 2.0]), line(1.0, &[2.0]));
        let both = curve(Whose::Reference, vec![&a, &b]);
        assert_eq!(both.points("passes", "objective", &Optima::new()), [(1.0, 3.0)]);
    }
}
