//! A picture of the ratios, as SVG: a line for each row, worst on top, a mark for each column on a logarithmic axis.
//!
//! Written by hand, since a picture of circles and lines needs no library. Each column has a form as well as a
//! colour, and the colours of text and background follow the reader's choice of light or dark.

use std::fmt::Write;

/// A mark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Dot<'a> {
    /// Where it stands.
    pub(super) row: &'a str,
    /// What it shows.
    pub(super) column: &'a str,
    /// How many times better ours is.
    pub(super) ratio: f64,
}

const STYLE: &str = "\
svg{--back:#fff;--text:#1b1b1b;--line:#b9b9b9;--faint:#e8e8e8;font:13px system-ui,sans-serif}
@media(prefers-color-scheme:dark){svg{--back:#16181d;--text:#e6e6e6;--line:#666;--faint:#2b2e36}}
text{fill:var(--text)}.axis{stroke:var(--line)}.row{stroke:var(--faint)}.one{stroke:var(--text);stroke-width:2}
path{stroke:var(--back);stroke-width:.7}
";

/// Colours that are told apart on white and on black, and by most who do not see all colours.
const COLOURS: [&str; 8] =
    ["#0a84c6", "#d98200", "#009e73", "#cc5fa0", "#d3481c", "#7a6ff0", "#8c8c00", "#7d8796"];
/// Forms around a centre: circle, square, diamond, triangles, cross, bar, star.
const FORMS: [&str; 8] = [
    "m-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0z",
    "m-4.5,-4.5h9v9h-9z",
    "m0,-6l6,6l-6,6l-6,-6z",
    "m0,-6l6,10h-12z",
    "m0,6l6,-10h-12z",
    "m-2,-6h4v4h4v4h-4v4h-4v-4h-4v-4h4z",
    "m-6,-2.5h12v5h-12z",
    "m0,-7l2,5l5,2l-5,2l-2,5l-2,-5l-5,-2l5,-2z",
];
/// Lines with a number below; the first three decide.
const TICKS: [f64; 10] = [1.0, 2.0, 3.0, 0.1, 0.25, 0.5, 5.0, 10.0, 30.0, 100.0];
const LEFT: f64 = 190.0;
const WIDTH: f64 = 860.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 64.0;
const STEP: f64 = 22.0;
const LEGEND: f64 = 84.0;

/// The picture.
pub(super) fn svg(dots: &[Dot]) -> String {
    let (rows, columns) = (by_worst(dots), in_order(dots));
    let ratios = || dots.iter().map(|dot| dot.ratio);
    let lowest = ratios().fold(0.8, f64::min) * 0.9;
    let highest = ratios().fold(4.0, f64::max) * 1.1;
    let x = |ratio: f64| LEFT + (WIDTH - LEFT - RIGHT) * (ratio / lowest).ln() / (highest / lowest).ln();
    let y = |row: usize| TOP + STEP * (seqoia::core::cast::real(row) + 0.5);
    let bottom = y(rows.len());
    let height = bottom + 36.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" role=\"img\">\n<title>Ratios of time and memory, rivals to ours</title>\n\
         <style>\n{STYLE}</style>\n<rect width=\"100%\" height=\"100%\" style=\"fill:var(--back)\"/>\n"
    );
    let mut put = |text: std::fmt::Arguments| {
        out.write_fmt(text).unwrap_or_default(); // a string takes everything
        out.push('\n');
    };
    for (number, column) in columns.iter().enumerate() {
        let at = 16.0 + LEGEND * 1.2 * seqoia::core::cast::real(number);
        put(format_args!("{}", mark(at, 20.0, number, "")));
        put(format_args!("<text x=\"{:.1}\" y=\"24.5\">{}</text>", at + 11.0, escaped(column)));
    }
    for (index, ratio) in TICKS.into_iter().enumerate() {
        if ratio < lowest || ratio > highest {
            continue;
        }
        let class = if index == 0 { "one" } else { "axis" };
        let dashed = if index > 2 { " stroke-dasharray=\"2 4\"" } else { "" };
        let at = x(ratio);
        let top = TOP - 14.0;
        put(format_args!(
            "<line class=\"{class}\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{top}\" y2=\"{bottom}\"{dashed}/>"
        ));
        put(format_args!(
            "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{ratio}x</text>",
            bottom + 18.0
        ));
    }
    for (number, row) in rows.iter().enumerate() {
        let at = y(number);
        put(format_args!(
            "<line class=\"row\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>",
            WIDTH - RIGHT
        ));
        put(format_args!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 12.0,
            at + 4.5,
            escaped(row)
        ));
        for dot in dots.iter().filter(|dot| dot.row == *row) {
            let kind = columns.iter().position(|column| *column == dot.column).unwrap_or(0);
            let title = format!("{}, {}: {:.2}x", dot.row, dot.column, dot.ratio);
            put(format_args!("{}", mark(x(dot.ratio), at, kind, &title)));
        }
    }
    out.push_str("</svg>\n");
    out
}

/// A mark of a column; the title shows when the pointer rests on it.
fn mark(x: f64, y: f64, kind: usize, title: &str) -> String {
    let (form, colour) = (FORMS[kind % FORMS.len()], COLOURS[kind % COLOURS.len()]);
    let title = if title.is_empty() { String::new() } else { format!("<title>{}</title>", escaped(title)) };
    format!("<path fill=\"{colour}\" d=\"M{x:.1},{y:.1}{form}\">{title}</path>")
}

/// Names of rows, the one with the lowest ratio first.
fn by_worst<'a>(dots: &[Dot<'a>]) -> Vec<&'a str> {
    let mut sorted = dots.to_vec();
    sorted.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    unique(sorted.iter().map(|dot| dot.row))
}

/// Names of columns by alphabet, so that a colour does not depend on the figures.
fn in_order<'a>(dots: &[Dot<'a>]) -> Vec<&'a str> {
    let mut columns = unique(dots.iter().map(|dot| dot.column));
    columns.sort_unstable();
    columns
}

fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut known = vec![];
    names.for_each(|name| {
        if !known.contains(&name) {
            known.push(name);
        }
    });
    known
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOTS: [Dot; 3] = [
        Dot { row: "base", column: "ap", ratio: 2.5 },
        Dot { row: "a < b", column: "ap", ratio: 0.5 },
        Dot { row: "base", column: "lbfgs", ratio: 4.0 },
    ];

    #[test]
    fn a_mark_for_each_figure_and_a_line_at_each_limit() {
        let svg = svg(&DOTS);
        assert_eq!(svg.matches("x</title>").count(), 3);
        assert!(svg.contains("<title>a &lt; b, ap: 0.50x</title>"));
        for limit in [">1x<", ">2x<", ">3x<"] {
            assert_eq!(svg.matches(limit).count(), 1, "{limit}");
        }
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert_eq!(svg.matches("<path").count(), 3 + 2); // those of the legend, too
    }

    #[test]
    fn the_worst_row_is_on_top_and_more_is_further_right() {
        assert_eq!(by_worst(&DOTS), ["a < b", "base"]);
        let svg = svg(&DOTS);
        let place = |title: &str| {
            let before = svg.split(title).next().unwrap();
            let (x, rest) = before.rsplit_once('M').unwrap().1.split_once(',').unwrap();
            let y: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
            (x.parse::<f64>().unwrap(), y.parse::<f64>().unwrap())
        };
        let (bad, good, best) = (place("a &lt; b, ap"), place("base, ap"), place("base, lbfgs"));
        assert!(bad.0 < good.0 && good.0 < best.0);
        assert!(bad.1 < good.1 && good.1 == best.1);
    }
}
