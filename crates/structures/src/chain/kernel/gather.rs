//! From weights to scores and back, through the attributes of each position.
//!
//! ```text
//! scores:  s_t(y) = sum of w[attribute, y] * value        spread:  g[attribute, y] += value * part_t(y)
//! ```
//!
//! The attributes of a position have dense ones first, so the row of scores stays in
//! registers while dense rows are added and goes to memory once before the short lists.

use super::super::Space;
use super::{Real, SpaceView, Touched, WIDE, dispatch, prefetch};
use seqoia_core::Isa;
use seqoia_core::Items;
use seqoia_core::cast::narrow;

/// Bytes of the rows that are used so often that they stay in the second-level cache by themselves.
const HOT: usize = 384 << 10;

/// Asks for the cache lines of the rarer of these attributes: rows of `length` numbers, single weights, and what will
/// be added to those, if it is given.
#[inline(always)]
pub(super) fn fetch<R: Real>(
    space: SpaceView<'_>,
    length: usize,
    ids: &[u32],
    rows: &[R],
    singles: &[R],
    later: Option<&[R]>,
) {
    for &a in ids {
        let a = a as usize;
        if a >= space.dense {
            prefetch(singles, a - space.dense);
            prefetch(space.singles, a - space.dense);
            if let Some(later) = later {
                prefetch(later, a - space.dense);
            }
        } else if a * length >= HOT / size_of::<R>() {
            let mut j = 0;
            while j < length {
                prefetch(rows, a * length + j);
                j += 64 / size_of::<R>();
            }
        }
    }
}

/// `out = s_t`, from the weights of rows and of lists; W = 0: any width. Rows are STEP times as long as they are wide:
/// weights come first.
#[inline(always)]
pub(super) fn score_position<R: Real, const W: usize, const STEP: usize>(
    space: SpaceView<'_>,
    rows: &[R],
    singles: &[R],
    ids: &[u32],
    values: Option<&[f32]>,
    out: &mut [R],
) {
    let Some(values) = values else {
        let mut rest = ids;
        if W == 0 {
            out.fill(R::ZERO);
            while let Some((&a, after)) = rest.split_first()
                && (a as usize) < space.dense
            {
                let row = &rows[a as usize * space.width * STEP..][..space.width];
                out.iter_mut().zip(row).for_each(|(out, w)| *out += *w);
                rest = after;
            }
        } else {
            let mut sum = [R::ZERO; W];
            while let Some((&a, after)) = rest.split_first()
                && (a as usize) < space.dense
            {
                let row = &rows[a as usize * W * STEP..][..W];
                for j in 0..W {
                    sum[j] += row[j];
                }
                rest = after;
            }
            out.copy_from_slice(&sum);
        }
        if STEP == 2 {
            // Learning: an attribute that goes with one label stands at positions of this label only, so those of a
            // position share it. Added up apart from `out`, they do not wait for a number that was just stored.
            while let Some((&a, after)) = rest.split_first()
                && (a as usize) < space.ones
            {
                space.each_single(a, |p, y| out[y] += singles[p]);
                rest = after;
            }
            if let Some(&first) = rest.first() {
                let label = space.only_single(first).1;
                let (mut sum, mut others) = (R::ZERO, false);
                for &a in rest {
                    let (p, y) = space.only_single(a);
                    others = y != label || (a as usize) < space.ones;
                    if others {
                        break; // labels that are known in part, or lists in another order
                    }
                    sum += singles[p];
                }
                if !others {
                    out[label] += sum;
                    return;
                }
            }
        }
        // Attributes may come in any order here, though those of training data are sorted.
        for &a in rest {
            if (a as usize) < space.ones {
                space.each_single(a, |p, y| out[y] += singles[p]);
            } else {
                let (p, y) = space.only_single(a);
                out[y] += singles[p];
            }
        }
        return;
    };
    let dense = ids.iter().take_while(|&&a| (a as usize) < space.dense).count();
    if W == 0 {
        out.fill(R::ZERO);
        for (&a, &x) in ids[..dense].iter().zip(values) {
            let (row, x) =
                (&rows[a as usize * space.width * STEP..][..space.width], R::from_f64(f64::from(x)));
            out.iter_mut().zip(row).for_each(|(out, w)| *out += *w * x);
        }
    } else {
        let mut sum = [R::ZERO; W];
        for (&a, &x) in ids[..dense].iter().zip(values) {
            let (row, x) = (&rows[a as usize * W * STEP..][..W], R::from_f64(f64::from(x)));
            for j in 0..W {
                sum[j] += row[j] * x;
            }
        }
        out.copy_from_slice(&sum);
    }
    for (&a, &x) in ids[dense..].iter().zip(&values[dense..]) {
        let x = R::from_f64(f64::from(x));
        space.each_single(a, |p, y| out[y] += singles[p] * x);
    }
}

/// Adds `part` to the rows and lists of a position, into holes too, and marks the single weights. Rows are STEP times
/// as long as they are wide: what is added to comes last.
#[inline(always)]
pub(super) fn scatter_position<R: Real, const W: usize, const STEP: usize>(
    space: SpaceView<'_>,
    ids: &[u32],
    values: Option<&[f32]>,
    part: &[R],
    rows: &mut [R],
    singles: &mut [R],
    touched: &mut Touched,
) {
    let width = if W == 0 { space.width } else { W };
    // A copy that nobody else knows: the compiler must see that the rows are not part of it.
    let mut own = [R::ZERO; W];
    own.copy_from_slice(&part[..W]);
    let part = if W == 0 { &part[..width] } else { own.as_slice() };
    let Some(values) = values else {
        let mut rest = ids;
        while let Some((&a, after)) = rest.split_first()
            && (a as usize) < space.dense
        {
            let row = &mut rows[(a as usize * STEP + STEP - 1) * width..][..width];
            for j in 0..width {
                row[j] += part[j];
            }
            rest = after;
        }
        for &a in rest {
            if (a as usize) < space.ones {
                space.each_single(a, |p, y| {
                    singles[p] += part[y];
                    touched.touch(p);
                });
            } else {
                let (p, y) = space.only_single(a);
                singles[p] += part[y];
                touched.touch(p);
            }
        }
        return;
    };
    let dense = ids.iter().take_while(|&&a| (a as usize) < space.dense).count();
    for (&a, &x) in ids[..dense].iter().zip(values) {
        let (row, x) =
            (&mut rows[(a as usize * STEP + STEP - 1) * width..][..width], R::from_f64(f64::from(x)));
        for j in 0..width {
            row[j] += x * part[j];
        }
    }
    for (&a, &x) in ids[dense..].iter().zip(&values[dense..]) {
        let x = R::from_f64(f64::from(x));
        space.each_single(a, |p, y| {
            singles[p] += x * part[y];
            touched.touch(p);
        });
    }
}

pub(super) fn node_scores<R: Real>(
    isa: Isa,
    space: SpaceView<'_>,
    w: &[R],
    scale: R,
    nodes: Items<'_>,
    out: &mut [R],
) {
    dispatch!(isa, space.width, scores::<R>(space: SpaceView<'_>, w: &[R], scale: R, nodes: Items<'_>, out: &mut [R]));
}

#[inline(always)]
fn scores<R: Real, const W: usize>(space: SpaceView<'_>, w: &[R], scale: R, nodes: Items<'_>, out: &mut [R]) {
    let width = if W == 0 { space.width } else { W };
    let (rows, singles) = (&w[space.rows_at()..space.singles_at()], &w[space.singles_at()..space.edges_at()]);
    for (t, out) in out.chunks_exact_mut(width).take(nodes.len()).enumerate() {
        if t + 1 < nodes.len() {
            fetch(space, width, nodes.at(t + 1), rows, singles, None);
        }
        score_position::<R, W, 1>(space, rows, singles, nodes.at(t), nodes.values_at(t), out);
        if scale != R::ONE {
            out.iter_mut().for_each(|o| *o *= scale);
        }
    }
}

pub(super) fn edge_scores<R: Real>(space: SpaceView<'_>, w: &[R], scale: R, edges: Items<'_>, out: &mut [R]) {
    let matrix = space.labels * space.width;
    for (t, out) in out.chunks_exact_mut(matrix).enumerate() {
        out.iter_mut().zip(&w[..matrix]).for_each(|(o, a)| *o = *a * scale);
        let values = edges.values_at(t + 1);
        for (i, &e) in edges.at(t + 1).iter().enumerate() {
            let x = scale * values.map_or(R::ONE, |v| R::from_f64(f64::from(v[i])));
            let (from, to) =
                (space.edge_starts[e as usize] as usize, space.edge_starts[e as usize + 1] as usize);
            let pairs = &space.edge_pairs[from - space.edges_at()..to - space.edges_at()];
            w[from..to].iter().zip(pairs).for_each(|(weight, &p)| out[p as usize] += *weight * x);
        }
    }
}

#[allow(clippy::too_many_arguments)]
pub(super) fn spread_nodes<R: Real>(
    isa: Isa,
    space: &Space,
    nodes: Items<'_>,
    parts: &[R],
    step: R,
    at: usize,
    to: &mut [R],
    buffer: &mut Vec<R>,
) {
    let width = space.view().width;
    if at == 0 && to.len() == space.view().weights() && width < WIDE {
        return dispatch!(isa, width, spread_all::<R>(space: &Space, nodes: Items<'_>, parts: &[R], step: R, to: &mut [R]));
    }
    dispatch!(isa, width, spread::<R>(space: &Space, nodes: Items<'_>, parts: &[R], step: R, at: usize, to: &mut [R], buffer: &mut Vec<R>));
}

/// All weights are at hand, as they are to one worker.
#[inline(always)]
fn spread_all<R: Real, const W: usize>(space: &Space, nodes: Items<'_>, parts: &[R], step: R, to: &mut [R]) {
    let view = space.view();
    let (rows, singles) = to[view.rows_at()..].split_at_mut(view.dense * W);
    for (t, part) in parts.chunks_exact(W.max(1)).take(nodes.len()).enumerate() {
        if t + 1 < nodes.len() {
            fetch(view, W, nodes.at(t + 1), rows, singles, None);
        }
        let (ids, values) = (nodes.at(t), nodes.values_at(t));
        let mut scaled = [R::ZERO; W];
        // Up to K: the padding of a part is nobody's.
        scaled[..view.labels].iter_mut().zip(part).for_each(|(s, p)| *s = step * *p);
        for (i, &a) in ids.iter().enumerate() {
            if let Some(values) = values {
                let x = step * R::from_f64(f64::from(values[i]));
                scaled[..view.labels].iter_mut().zip(part).for_each(|(s, p)| *s = x * *p);
            }
            if (a as usize) < view.dense {
                let row = &mut rows[a as usize * W..][..W];
                if space.is_complete() {
                    for j in 0..W {
                        row[j] += scaled[j];
                    }
                } else {
                    add_existing(row, &scaled, space.holes(view.labels + a as usize));
                }
            } else {
                view.each_single(a, |p, y| singles[p] += scaled[y]);
            }
        }
    }
}

#[inline(always)]
fn spread<R: Real, const W: usize>(
    space: &Space,
    nodes: Items<'_>,
    parts: &[R],
    step: R,
    at: usize,
    to: &mut [R],
    buffer: &mut Vec<R>,
) {
    let view = space.view();
    let width = if W == 0 { view.width } else { W };
    let (first_row, first_single, end) = (view.rows_at(), view.singles_at(), at + to.len());
    // On the stack where the width is known; the padding stays 0.
    let mut fixed = [R::ZERO; W];
    let scaled = if W == 0 {
        buffer.clear();
        buffer.resize(width, R::ZERO);
        buffer.as_mut_slice()
    } else {
        fixed.as_mut_slice()
    };
    for (t, part) in parts.chunks_exact(width).take(nodes.len()).enumerate() {
        let (ids, values) = (nodes.at(t), nodes.values_at(t));
        for (i, &a) in ids.iter().enumerate() {
            let a = a as usize;
            let x = step * values.map_or(R::ONE, |v| R::from_f64(f64::from(v[i])));
            if i == 0 || values.is_some() {
                // Up to K: the padding of a part is nobody's.
                scaled[..view.labels].iter_mut().zip(part).for_each(|(s, p)| *s = x * *p);
            }
            if a < view.dense {
                let from = first_row + a * width;
                if from >= end || from + width <= at {
                    continue;
                }
                let holes = space.holes(view.labels + a);
                if from < at || from + width > end {
                    // A row that a fence cuts in two.
                    for j in (0..view.labels).filter(|&j| (at..end).contains(&(from + j))) {
                        if holes[j / 32] >> (j % 32) & 1 == 0 {
                            to[from + j - at] += scaled[j];
                        }
                    }
                    continue;
                }
                let row = &mut to[from - at..][..width];
                if space.is_complete() {
                    row.iter_mut().zip(&*scaled).for_each(|(r, s)| *r += *s);
                } else {
                    add_existing(row, scaled, holes);
                }
            } else {
                view.each_single(narrow(a), |p, y| {
                    if let Some(to) = (first_single + p).checked_sub(at).and_then(|i| to.get_mut(i)) {
                        *to += scaled[y];
                    }
                });
            }
        }
    }
}

/// `row += x` where a weight exists. Four at a time, as short loops are not unrolled into single numbers then; widths
/// are multiples of 4, or 2.
#[inline(always)]
fn add_existing<R: Real>(row: &mut [R], x: &[R], holes: &[u32]) {
    let ((fours, rest), (x, last)) = (row.as_chunks_mut::<4>(), x.as_chunks::<4>());
    for (i, (row, x)) in fours.iter_mut().zip(x).enumerate() {
        let bits = holes[i / 8] >> (i % 8 * 4);
        let some: [R; 4] = std::array::from_fn(|j| x[j].unless(bits >> j & 1));
        for j in 0..4 {
            row[j] += some[j];
        }
    }
    if let Some(bits) = holes.last().filter(|_| !rest.is_empty()) {
        for (j, (row, x)) in rest.iter_mut().zip(last).enumerate() {
            *row += x.unless(bits >> j & 1);
        }
    }
}
