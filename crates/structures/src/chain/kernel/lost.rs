//! What underflow may cost where rules forbid label pairs.
//!
//! Without rules every label is reached from the best one of the position before. With rules, what is likely later may
//! be reached only through labels that are unlikely now, and their alpha may underflow. With eta the smallest normal
//! number:
//!
//! - If the least alpha, E and psi, zeros left out, multiply to much more than eta, nothing underflows. This is the usual
//!   case, and two sweeps over what the forward sums left.
//! - Otherwise alpha_t(y) lacks at most eta (1 + 1 / c_t), as gradual underflow is off by eta 2^-24 or less in each of
//!   at most 2 K operations, and nothing where psi_t(y) = 0. What it lacks would have gone on like alpha itself:
//!
//! ```text
//! L_t(y) = ((L_{t-1} E)(y) psi_t(y) + 1) / c_t + 1,  0 where psi_t(y) = 0
//! ```
//!
//! So Z and each marginal lack at most eta sum_y L_{T-1}(y) of Z. As that sum is
//! sum_t sum_y (1 + 1 / c_t) beta_t(y), it bounds every r as well: nothing overflows on the way back. Underflow there
//! costs no more than eta each time, since alpha is at most 1.
//!
//! A product of 1 / c_t over the positions would bound beta too, but it grows with the length of any sequence; L grows
//! only where labels that were given up would have come back.

use super::Real;
use super::forward_backward::row_sum;

/// Whether nothing underflowed on the way to these psi [T][W] and alpha [T][W], if log Z is a number; E is at least
/// exp(-`range`) where it is not 0.
#[inline(always)]
pub(super) fn is_whole<R: Real>(psi: &[R], alpha: &[R], range: f64) -> bool {
    least(alpha) * crate::exp::exp64(-range) * least(psi) * R::MOST_LOST >= 1.0
}

/// The least number above 0, of numbers up to 1.
#[inline(always)]
fn least<R: Real>(rows: &[R]) -> f64 {
    let mut least = [R::ONE; 8];
    let (eights, rest) = rows.as_chunks::<8>();
    for eight in eights {
        for j in 0..8 {
            let x = if eight[j] > R::ZERO { eight[j] } else { R::ONE };
            least[j] = if x < least[j] { x } else { least[j] };
        }
    }
    let rest = rest.iter().filter(|x| **x > R::ZERO);
    least.iter().chain(rest).fold(1.0, |least, x| x.to_f64().min(least))
}

/// Whether no more was lost than can be borne. `step` puts `v E` of a position into a row.
#[inline(always)]
pub(super) fn is_bearable<R: Real>(
    psi: &[R],
    scales: &[R],
    width: usize,
    mut step: impl FnMut(usize, &[R], &mut [R]),
) -> bool {
    let (mut lost, mut next) = (vec![R::ZERO; width], vec![R::ZERO; width]);
    for (t, (psi, &scale)) in psi.chunks_exact(width).zip(scales).enumerate() {
        if t > 0 {
            step(t, &lost, &mut next);
        }
        for (lost, &psi) in next.iter_mut().zip(psi) {
            let here = (*lost * psi + R::ONE) * scale + R::ONE;
            *lost = if psi == R::ZERO { R::ZERO } else { here };
        }
        std::mem::swap(&mut lost, &mut next);
    }
    row_sum(&lost).to_f64() <= R::MOST_LOST // and a number
}

#[cfg(test)]
mod tests {
    use super::super::forward_backward::{ForwardBackward, log_domain};
    use crate::chain::{Isa, Known, Layout, Limits, Real, Rules, Sets, Space};
    use seqoia_core::cast::{label, real};
    use seqoia_core::{Pairs, Random};

    /// Rules that need detours: of random pairs, label orders, two halves with one bridge, rings.
    fn rules(random: &mut Random, labels: usize) -> Rules {
        let (kind, share) = (random.below(5), 0.2 + 0.7 * random.unit());
        let some: Vec<bool> = (0..(labels + 1) * (labels + 1)).map(|_| random.unit() < share).collect();
        let ends = random.unit() < 0.3;
        Rules::new(labels, |before, after| {
            let number = |y: Option<u16>| y.map_or(labels, usize::from);
            let (from, to, half) = (number(before), number(after), labels / 2);
            if from == labels || to == labels {
                return !ends || (if from == labels { to < 2 } else { from + 2 >= labels });
            }
            match kind {
                0 => some[from * (labels + 1) + to],
                1 => to == from || to == from + 1,
                2 => (from < half) == (to < half) || (from == half - 1 && to == half),
                3 => to == from || to == (from + 1) % labels,
                _ => to == (from + 1) % labels || from + to == labels,
            }
        })
    }

    /// Scores that like some labels for a while and then others, so that what was given up comes back.
    fn scores(random: &mut Random, length: usize, width: usize, size: f64) -> Vec<f64> {
        let (mut liked, mut scores) = (random.below(width), vec![]);
        let (change, drift) = (random.unit() * 0.2, random.unit() < 0.5);
        for _ in 0..length {
            liked = if random.unit() < change { random.below(width) } else { liked };
            let like = |y| if drift && y == liked { 0.9 * size } else { 0.0 };
            scores.extend((0..width).map(|y| like(y) + if drift { 0.1 } else { 1.0 } * random.unit() * size));
        }
        scores
    }

    /// Sums of one hostile sequence equal those of the log domain; whether the linear domain made them, and whether it
    /// was left although scores are near enough.
    fn hostile<R: Real>(seed: u64, z_near: f64, p_near: f64) -> (bool, bool) {
        let mut random = Random::new(seed, 0, 0, "lost");
        let labels = [2, 3, 4, 7, 9, 12, 30, 70][random.below(if seed.is_multiple_of(16) { 8 } else { 6 })];
        let length = [1, 2, 5, 20, 60, 200][random.below(6)].min(if labels > 12 { 20 } else { 200 });
        let (space, _) = Space::new(labels, &Pairs::default(), &Pairs::default(), Some(&[]), Layout::All);
        let (view, width) = (space.view(), Space::padded(labels));
        let mut size = || [0.1, 1.0, 5.0, 10.0, 20.0, 38.0, 75.0, 150.0, 300.0][random.below(9)];
        let (of_nodes, of_edges) = (size(), size());
        let apart = random.unit() < 0.3 && length > 1;
        let nodes = scores(&mut random, length, width, of_nodes);
        let matrices = if apart { length - 1 } else { 1 };
        let edges: Vec<f64> =
            (0..matrices * labels * width).map(|_| (random.unit() - 0.5) * of_edges).collect();
        let (nodes, edges) =
            [nodes, edges].map(|x| x.into_iter().map(R::from_f64).collect::<Vec<R>>()).into();
        let stride = if apart { labels * width } else { 0 };

        let (rules, mut sets, share) = (rules(&mut random, labels), Sets::new(labels), random.unit());
        let free = label(sets.add((0..labels).map(label)));
        let some = label(sets.add((0..labels).map(label).filter(|_| random.unit() < 0.7)));
        let mut draw = || if random.unit() < 0.3 { label(random.below(labels)) } else { some };
        let drawn: Vec<u16> = (0..length).map(|_| draw()).collect();
        // Most sequences have a labelling: a walk along the rules says what is known.
        let mut walk: Vec<u16> = vec![];
        for drawn in drawn {
            let before = walk.last().copied().filter(|y| usize::from(*y) < labels);
            let next: Vec<u16> = (0..labels).map(label).filter(|y| rules.allows(before, Some(*y))).collect();
            walk.push(if next.is_empty() { drawn } else { next[random.below(next.len())] });
            if random.unit() < 0.02 {
                *walk.last_mut().unwrap_or(&mut 0) = drawn;
            }
        }
        let gold: Vec<u16> = walk.into_iter().map(|y| if random.unit() < share { y } else { free }).collect();
        let known = (random.unit() < 0.5).then_some(Known { labels: &gold, sets: &sets });
        let limits = Limits { rules: Some(&rules), known, ..Limits::default() };

        let (mut low_nodes, mut low_edges) = (nodes.clone(), edges.clone());
        limits.put(view, R::LEAST, &mut low_nodes, &mut low_edges);
        let empty = || (vec![R::ZERO; nodes.len()], vec![R::ZERO; edges.len()]);
        let (mut p, mut q) = (empty(), empty());
        let right = log_domain(view, &low_nodes, &low_edges, stride, Some((&mut q.0, &mut q.1)));
        let (mut fb, isa) = (ForwardBackward::<R>::default(), Isa::detect());
        let found = fb.run(isa, view, &nodes, &edges, stride, limits, Some((&mut p.0, &mut p.1)));
        assert_eq!(found.is_finite(), limits.can_be_met(length), "{seed}: {found}");
        assert_eq!(found.is_finite(), right.is_finite());
        let linear = fb.linear(isa, view, &nodes, &edges, stride, limits).is_some();
        if !right.is_finite() {
            assert!(!linear);
            return (false, false);
        }
        let near = |a: f64, b: f64, by: f64| (a - b).abs() <= by * (1.0 + b.abs()).min(1.0 + real(length));
        assert!(near(found, right, z_near), "{seed}: {found}, not {right}");
        let pairs = p.0.iter().chain(&p.1).zip(q.0.iter().chain(&q.1));
        for (p, q) in pairs.enumerate().filter(|(i, _)| i % width < labels).map(|(_, pair)| pair) {
            assert!(near(p.to_f64(), q.to_f64(), p_near), "{seed}: {p:?}, not {q:?}");
        }
        let refused = !linear && fb.exponentials(isa, view, &nodes, &edges, stride).is_some();
        (linear, refused)
    }

    fn count(of: impl Iterator<Item = (bool, bool)>) -> (usize, usize) {
        of.fold((0, 0), |(a, b), (linear, refused)| (a + usize::from(linear), b + usize::from(refused)))
    }

    #[test]
    fn hostile_rules_and_scores_are_summed_as_in_the_log_domain() {
        let (linear, refused) = count((0..1500).map(|seed| hostile::<f64>(seed, 1e-11, 1e-9)));
        assert!(linear > 500 && refused > 20, "double: {linear} linear, {refused} refused");
        let (linear, refused) = count((0..1500).map(|seed| hostile::<f32>(seed, 1e-5, 1e-3)));
        assert!(linear > 500 && refused > 20, "single: {linear} linear, {refused} refused");
    }
}
