//! Curves on axes, as SVG that needs no script: linear or logarithmic axes, a name at the end of each curve instead of a
//! legend, text and background in the reader's choice of light or dark.
//!
//! Written by hand: a picture of lines and text is little code, and what a plotting library draws can neither follow the
//! reader's colours nor keep names apart at the ends of curves.

use std::fmt::Write;

use crate::html::escape;

/// One axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Axis {
    /// What it counts.
    pub label: String,
    /// Logarithmic: only numbers above 0 can be drawn.
    pub log: bool,
    /// The lowest value drawn, if the curves shall not say.
    pub from: Option<f64>,
}

/// One curve.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Curve {
    /// Stands at its end.
    pub name: String,
    /// What belongs together has the same colour: curves of one method.
    pub colour: usize,
    /// A second choice, drawn lightly.
    pub dotted: bool,
    /// From left to right.
    pub points: Vec<(f64, f64)>,
}

/// A picture.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plot {
    /// Stands above.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn.
    pub curves: Vec<Curve>,
}

const WIDTH: f64 = 680.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 36.0;
const BOTTOM: f64 = 46.0;
/// Between names at the ends of curves.
const LINE: f64 = 14.0;
/// Numbers beyond this, or so near to 0 on a logarithmic axis, are drawn at the edge.
const FAR: f64 = 1e100;
/// More points of a curve than this are not seen.
const POINTS: usize = 300;

/// Colours that are told apart on white and on black, and by most who do not see all colours; then the same dashed.
const COLOURS: [&str; 9] =
    ["#0a84c6", "#d98200", "#009e73", "#cc5fa0", "#d3481c", "#7a6ff0", "#8c8c00", "#7d8796", "#2f6f4f"];
const DASHES: [&str; 3] = ["", "9 4", "9 3 2 3"];

const STYLE: &str = "\
.plot{font:12px system-ui,sans-serif}.plot .back{fill:#fff}.plot text{fill:#1b1b1b}
.plot .grid{stroke:#ececec}.plot .axis{stroke:#b9b9b9;fill:none}
@media(prefers-color-scheme:dark){.plot .back{fill:#16181d}.plot text{fill:#e6e6e6}.plot .grid{stroke:#2b2e36}
.plot .axis{stroke:#666}}
.plot .curve{fill:none;stroke-width:1.8;stroke-linejoin:round}.plot .lead{stroke-width:.7;opacity:.6}
";

/// From numbers to places on the paper.
struct Scale {
    log: bool,
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Scale {
    fn new(axis: &Axis, values: impl Iterator<Item = f64>, (start, end): (f64, f64)) -> Scale {
        let drawn = |x: &f64| x.abs() < FAR && (!axis.log || *x > 1.0 / FAR);
        let (mut from, mut to) = values
            .filter(drawn)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        if from > to {
            (from, to) = if axis.log { (0.1, 1.0) } else { (0.0, 1.0) };
        }
        from = axis.from.filter(|least| *least < to && (!axis.log || *least > 0.0)).unwrap_or(from);
        if to - from <= to.abs() * 1e-12 {
            let around = (to.abs() / 2.0).max(0.5);
            (from, to) = if axis.log { (to / 2.0, to * 2.0) } else { (to - around, to + around) };
        }
        Scale { log: axis.log, from, to, start, end }
    }

    fn place(&self, x: f64) -> f64 {
        self.start + self.part(x).clamp(0.0, 1.0) * (self.end - self.start)
    }

    /// The same, a way beyond the edge for what lies there: a line that leaves the picture keeps its slope.
    fn beyond(&self, x: f64) -> f64 {
        self.start + self.part(x).clamp(-3.0, 4.0) * (self.end - self.start)
    }

    fn part(&self, x: f64) -> f64 {
        let part = match self.log {
            true => (x / self.from).ln() / (self.to / self.from).ln(),
            false => (x - self.from) / (self.to - self.from),
        };
        if part.is_nan() { 0.0 } else { part }
    }

    /// Where lines of the grid are, with their numbers.
    fn ticks(&self) -> Vec<(f64, String)> {
        if self.log {
            let decades = (self.to / self.from).log10();
            let (first, last) = (self.from.log10().ceil(), self.to.log10().floor());
            let step = (decades / 7.0).ceil().max(1.0);
            let mut ticks = vec![];
            let mut power = (first / step).ceil() * step;
            while power <= last + 1e-9 {
                ticks.push((10f64.powf(power), power_of_ten(power)));
                power += step;
            }
            if ticks.len() > 1 {
                return ticks;
            }
            // Less than a decade or two: numbers in between.
            let digits = [1.0, 1.5, 2.0, 3.0, 5.0, 7.0];
            let base = self.from.log10().floor();
            let all = (0..3).flat_map(|i| digits.map(|d| d * 10f64.powf(base + f64::from(i))));
            return all.filter(|x| (self.from..=self.to).contains(x)).map(|x| (x, plain(x))).collect();
        }
        let rough = (self.to - self.from) / 6.0;
        let unit = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|d| d * unit).into_iter().find(|s| *s >= rough);
        let step = step.unwrap_or(rough);
        let mut ticks = vec![];
        let mut x = (self.from / step).ceil() * step;
        while x <= self.to + step * 1e-9 && ticks.len() < 20 {
            let x_or_zero = if x.abs() < step * 1e-9 { 0.0 } else { x };
            ticks.push((x_or_zero, plain(x_or_zero)));
            x += step;
        }
        ticks
    }
}

/// A number as short as it can be said.
fn plain(x: f64) -> String {
    let text = match x.abs() {
        0.0 => "0".to_owned(),
        size if !(1e-3..1e5).contains(&size) => format!("{x:.1e}"),
        _ => format!("{x:.4}"),
    };
    match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// 10 to this power.
fn power_of_ten(power: f64) -> String {
    const SMALL: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    if (-2.0..=4.0).contains(&power) {
        return plain(10f64.powf(power));
    }
    let digits = format!("{:.0}", power.abs());
    let small = digits.bytes().map(|digit| SMALL[usize::from(digit.saturating_sub(b'0')).min(9)]);
    let sign = if power < 0.0 { "⁻" } else { "" };
    format!("10{sign}{}", small.collect::<String>())
}

impl Plot {
    /// The picture, with its style inside.
    ///
    /// ```
    /// use seqoia_report::{Curve, Plot};
    ///
    /// let curve = Curve { name: "sgd".to_owned(), points: vec![(1.0, 0.5), (2.0, 0.25)], ..Curve::default() };
    /// let plot = Plot { title: "loss".to_owned(), curves: vec![curve], ..Plot::default() };
    /// assert!(plot.svg().starts_with("<svg ") && plot.svg().contains(">sgd</text>"));
    /// ```
    #[must_use]
    pub fn svg(&self) -> String {
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let x = Scale::new(&self.x, points().map(|p| p.0), (LEFT, WIDTH - RIGHT));
        let y = Scale::new(&self.y, points().map(|p| p.1), (HEIGHT - BOTTOM, TOP));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n\
             <rect class=\"back\" width=\"100%\" height=\"100%\"/>\n",
            escape(&self.title)
        );
        let mut put = |line: std::fmt::Arguments<'_>| {
            out.write_fmt(line).unwrap_or_default(); // a string takes everything
            out.push('\n');
        };
        // Equal in all plots of a page, so that one name serves.
        put(format_args!(
            "<clipPath id=\"plot-area\"><rect x=\"{LEFT}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/></clipPath>",
            TOP - 2.0,
            WIDTH - LEFT - RIGHT + 2.0,
            HEIGHT - BOTTOM - TOP + 4.0
        ));
        put(format_args!("<text x=\"{LEFT}\" y=\"20\" font-weight=\"600\">{}</text>", escape(&self.title)));
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for (value, name) in x.ticks() {
            let at = x.place(value);
            put(format_args!(
                "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{bottom}\"/>"
            ));
            let below = bottom + 16.0;
            put(format_args!("<text x=\"{at:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">{name}</text>"));
        }
        for (value, name) in y.ticks() {
            let at = y.place(value);
            put(format_args!(
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>"
            ));
            let (before, base) = (LEFT - 7.0, at + 4.0);
            put(format_args!("<text x=\"{before:.1}\" y=\"{base:.1}\" text-anchor=\"end\">{name}</text>"));
        }
        put(format_args!("<path class=\"axis\" d=\"M{LEFT},{TOP}V{bottom}H{right}\"/>"));
        let (middle, low) = (f64::midpoint(LEFT, right), HEIGHT - 10.0);
        let label = escape(&self.x.label);
        put(format_args!("<text x=\"{middle}\" y=\"{low}\" text-anchor=\"middle\">{label}</text>"));
        let (middle, label) = (f64::midpoint(TOP, bottom), escape(&self.y.label));
        put(format_args!(
            "<text transform=\"translate(14 {middle}) rotate(-90)\" text-anchor=\"middle\">{label}</text>"
        ));
        for curve in &self.curves {
            put(format_args!("{}", path(curve, &x, &y)));
        }
        for (name, colour, at, end) in self.names(&x, &y) {
            let colour = COLOURS[colour % COLOURS.len()];
            put(format_args!(
                "<path class=\"lead\" stroke=\"{colour}\" d=\"M{:.1},{:.1}L{:.1},{at:.1}\" fill=\"none\"/>",
                end.0,
                end.1,
                right + 10.0
            ));
            let base = at + 4.0;
            put(format_args!(
                "<text x=\"{:.1}\" y=\"{base:.1}\" style=\"fill:{colour}\">{}</text>",
                right + 13.0,
                escape(name)
            ));
        }
        out.push_str("</svg>\n");
        out
    }

    /// Names and the heights where they stand, none on another; and where their curves end.
    fn names(&self, x: &Scale, y: &Scale) -> Vec<(&str, usize, f64, (f64, f64))> {
        let mut names: Vec<_> = self.curves.iter().filter(|curve| !curve.name.is_empty()).collect();
        names.retain(|curve| !curve.points.is_empty());
        let end = |curve: &Curve| {
            let last = curve.points.last().copied().unwrap_or_default();
            (x.place(last.0), y.place(last.1))
        };
        names.sort_by(|a, b| end(a).1.total_cmp(&end(b).1));
        let mut placed: Vec<_> =
            names.iter().map(|c| (c.name.as_str(), c.colour, end(c).1, end(c))).collect();
        // Down from the top, then up from the bottom.
        let mut least = TOP - 6.0;
        for (_, _, at, _) in &mut placed {
            *at = at.max(least);
            least = *at + LINE;
        }
        let mut most = HEIGHT - 8.0;
        for (_, _, at, _) in placed.iter_mut().rev() {
            *at = at.min(most);
            most = *at - LINE;
        }
        placed
    }
}

fn path(curve: &Curve, x: &Scale, y: &Scale) -> String {
    let every = curve.points.len().div_ceil(POINTS).max(1);
    let last = curve.points.len().saturating_sub(1);
    let mut d = String::new();
    for (i, point) in curve.points.iter().enumerate() {
        if i % every == 0 || i == last {
            let first = if d.is_empty() { 'M' } else { 'L' };
            // A string takes everything.
            let _ = write!(d, "{first}{:.1},{:.1}", x.beyond(point.0), y.beyond(point.1));
        }
    }
    let colour = COLOURS[curve.colour % COLOURS.len()];
    let dashes = DASHES[(curve.colour / COLOURS.len()) % DASHES.len()];
    let dashes = if curve.dotted { "1.5 4" } else { dashes };
    let opacity = if curve.dotted { ".75" } else { "1" };
    format!(
        "<path class=\"curve\" clip-path=\"url(#plot-area)\" stroke=\"{colour}\" stroke-dasharray=\"{dashes}\" opacity=\"{opacity}\" d=\"{d}\">\
         <title>{}</title></path>",
        escape(&curve.name)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(points: &[(f64, f64)], log: bool) -> Plot {
        let curve = Curve { name: "a<b".to_owned(), points: points.to_vec(), ..Curve::default() };
        let y = Axis { log, ..Axis::default() };
        Plot { title: "&".to_owned(), y, curves: vec![curve], ..Plot::default() }
    }

    #[test]
    fn names_are_escaped_and_numbers_are_places() {
        let svg = plot(&[(0.0, 1.0), (1.0, 3.0)], false).svg();
        assert!(svg.contains("a&lt;b") && !svg.contains("a<b") && svg.contains("<title>&amp;</title>"));
        assert!(svg.contains(&format!(
            "d=\"M{LEFT:.1},{:.1}L{:.1},{TOP:.1}\"",
            HEIGHT - BOTTOM,
            WIDTH - RIGHT
        )));
    }

    /// Whatever the numbers are, no place lies outside of the picture or is not a number.
    #[test]
    fn odd_numbers_are_drawn_or_left_out() {
        let odd = [0.0, -1.0, 1e300, 1e-300, f64::NAN, f64::INFINITY];
        for a in odd {
            for b in odd {
                for log in [false, true] {
                    let mut plot = plot(&[(a, b), (b, a)], log);
                    plot.x.log = log;
                    let svg = plot.svg();
                    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{a} {b} {log}: {svg}");
                }
            }
        }
        assert!(Plot::default().svg().ends_with("</svg>\n"));
    }

    #[test]
    fn names_do_not_stand_on_each_other() {
        let curve = |i: u8| Curve {
            name: i.to_string(),
            points: vec![(0.0, 1.0), (1.0, 0.5 + f64::from(i) * 1e-6)],
            ..Curve::default()
        };
        let plot = Plot { curves: (0..20).map(curve).collect(), ..Plot::default() };
        let ends = |axis: &Axis, span| Scale::new(axis, [0.0, 1.0].into_iter(), span);
        let names = plot.names(&ends(&plot.x, (LEFT, WIDTH)), &ends(&plot.y, (HEIGHT, TOP)));
        assert!(names.windows(2).all(|pair| pair[1].2 - pair[0].2 >= LINE - 1e-9));
    }

    #[test]
    fn ticks_are_round() {
        let ticks = |log, from, to| -> Vec<String> {
            let axis = Axis { log, ..Axis::default() };
            Scale::new(&axis, [from, to].into_iter(), (0.0, 1.0)).ticks().into_iter().map(|t| t.1).collect()
        };
        assert_eq!(ticks(false, 0.0, 10.0), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(ticks(true, 1e-6, 1.0), ["10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "0.01", "0.1", "1"]);
        assert_eq!(ticks(false, 92.31, 93.9), ["92.5", "93", "93.5"]);
    }
}
