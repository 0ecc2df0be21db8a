use super::merge::Merge;
use super::{KBest, Scored};
use crate::chain::SpaceView;
use crate::chain::kernel::{Kernel, Real};
use seqoia_core::{Isa, Random};

/// What scores are drawn from.
#[derive(Clone, Copy, Debug)]
enum Draw {
    /// Whole numbers from -1 to 1: most scores are equal.
    Ties,
    /// Real numbers, as weights make them; sums are rounded.
    Real,
    /// Ties, where much is ruled out, and what a broken model has.
    Odd,
}

fn draw<R: Real>(random: &mut Random, from: Draw) -> R {
    let whole = |random: &mut Random| [-1.0, 0.0, 1.0][random.below(3)];
    R::from_f64(match from {
        Draw::Ties => whole(random),
        Draw::Real => random.unit() * 20.0 - 10.0,
        Draw::Odd => match random.below(40) {
            0..8 => f64::NEG_INFINITY,
            8 => f64::NAN,
            9 => f64::INFINITY,
            10 => -0.0,
            _ => whole(random),
        },
    })
}

/// Lists found on demand equal lists that are filled, to the bit and in order.
fn compare<R: Real>(seed: u64) {
    let mut random = Random::new(seed, 0, 0, "k best");
    let (mut fast, mut slow, mut best) = (KBest::<R>::default(), Merge::<R>::default(), vec![]);
    for case in 0..600 {
        let from = [Draw::Ties, Draw::Real, Draw::Odd][case % 3];
        let labels: usize = [1, 2, 3, 5, 9, 22, 67][random.below(7)];
        let width = if labels > 32 { labels.next_multiple_of(8) } else { labels.next_multiple_of(4) };
        let length: usize = [0, 1, 2, 3, 4, 9, 30][random.below(7)];
        let k = [0, 1, 2, 5, 40, 300][random.below(6)];
        let stride = if random.below(2) == 0 { 0 } else { labels * width };
        let matrices = if stride == 0 { 1 } else { length.saturating_sub(1) };
        let space =
            SpaceView { labels, width, dense: 0, singles: &[], ones: 0, edge_starts: &[0], edge_pairs: &[] };
        let nodes: Vec<R> = (0..length * width).map(|_| draw(&mut random, from)).collect();
        let edges: Vec<R> = (0..matrices * labels * width).map(|_| draw(&mut random, from)).collect();
        Kernel::new(Isa::detect()).best_prefixes(space, &nodes, &edges, stride, &mut best);
        let scored = Scored { nodes: &nodes, edges: &edges, stride, best: &best };
        let found = fast.run(space, scored, k);
        let wanted = slow.run(space, &nodes, &edges, stride, k);
        let at = format!("seed {seed}, case {case}: {from:?}, K {labels}, T {length}, k {k}");
        assert_eq!(found.len(), wanted.len(), "{at}");
        for (found, wanted) in found.iter().zip(&wanted) {
            assert_eq!(found.labels, wanted.labels, "{at}");
            assert_eq!(found.score.to_bits(), wanted.score.to_bits(), "{at}");
        }
    }
}

#[test]
fn lists_on_demand_equal_lists_that_are_filled() {
    (0..4).for_each(compare::<f32>);
    (4..8).for_each(compare::<f64>);
}

/// The walk is not a recursion: no stack is as deep as this.
#[test]
fn a_long_sequence_has_its_second_best() {
    let (length, width) = (300_000, 4);
    let space =
        SpaceView { labels: 2, width, dense: 0, singles: &[], ones: 0, edge_starts: &[0], edge_pairs: &[] };
    let mut nodes = vec![0.0f64; length * width];
    nodes.iter_mut().step_by(width).for_each(|x| *x = 1.0);
    nodes[width] = 0.5; // the label at position 1 is the least sure
    let (edges, mut best) = (vec![0.0; 2 * width], vec![]);
    Kernel::new(Isa::detect()).best_prefixes(space, &nodes, &edges, 0, &mut best);
    let found =
        KBest::default().run(space, Scored { nodes: &nodes, edges: &edges, stride: 0, best: &best }, 2);
    assert_eq!(found.len(), 2);
    assert!(found[0].labels.iter().all(|y| *y == 0));
    let others: Vec<usize> = (0..length).filter(|t| found[1].labels[*t] == 1).collect();
    assert_eq!(others, [1]);
}
