//! How much labels count and what it costs to miss them.

use seqoia_data::features::{Labels, Memory};

use crate::error::{BadOption, Result};

/// A number for each label, 1 if none is given; empty if nothing is. A name is a label or a chunk type.
pub(crate) fn per_label(
    given: &[(String, f64)],
    labels: &Labels,
    option: &str,
    file: &str,
    absent: bool,
) -> Result<Vec<f64>> {
    if given.is_empty() {
        return Ok(vec![]);
    }
    let mut table = vec![1.0; labels.len()];
    for (name, number) in given {
        let is = |label: &str| label == name || label.split_once('-').is_some_and(|(_, kind)| kind == name);
        let mut found = false;
        for (label, place) in labels.iter().zip(&mut table).filter(|(label, _)| is(label)) {
            // A label by its own name comes before its type.
            if label == name || !given.iter().any(|(other, _)| other == label) {
                *place = *number;
            }
            found = true;
        }
        if !found && !absent {
            let near = seqoia_core::param::nearest(name, labels.iter());
            let near = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
            let what = format!("{file} has no such label or chunk type{near}");
            return Err(BadOption::of(option, name, what).into());
        }
    }
    Ok(table)
}

/// Multiplies the weight of each sentence with the mean of its labels'; what is known in part counts 1.
pub(crate) fn weigh(corpus: &mut Memory, weights: &[f64]) {
    if weights.is_empty() {
        return;
    }
    corpus.weights.resize(corpus.ends.len(), 1.0);
    let mut from = 0;
    for (weight, &end) in corpus.weights.iter_mut().zip(&corpus.ends) {
        let gold = &corpus.labels[from..end as usize];
        let of = |y: &u16| weights.get(usize::from(*y)).copied().unwrap_or(1.0);
        *weight *= gold.iter().map(of).sum::<f64>() / seqoia_core::cast::real(gold.len().max(1));
        from = end as usize;
    }
}
