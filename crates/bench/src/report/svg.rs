//! Charts as SVG: frame, legend, and the colours of a theme. `lines` and `bars` draw the values.
//!
//! Must escape every text.

use std::fmt::Write;

use super::axis::{Axis, short};
use super::model::{Better, Chart, ChartKind};
use super::{bars, lines};

/// Size of a chart in pixels.
pub(super) const WIDTH: f64 = 860.0;
pub(super) const HEIGHT: f64 = 400.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 58.0;
const BOTTOM: f64 = 56.0;

/// Theme of colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Theme {
    /// The colours of the page around the chart, by its variables.
    Page,
    /// Dark on white, for a separate file.
    Light,
}

/// Colours of servers. They are distinct on white and on black, also for the colour-blind.
pub(super) const PALETTE: [&str; 6] =
    ["#2f81f7", "#e07a1f", "#2aa198", "#a371f7", "#d1495b", "#7d8590"];

impl Theme {
    pub(super) fn background(self) -> &'static str {
        match self {
            Self::Page => "none",
            Self::Light => "#ffffff",
        }
    }

    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Page => "var(--text)",
            Self::Light => "#1f2328",
        }
    }

    pub(super) fn faint(self) -> &'static str {
        match self {
            Self::Page => "var(--faint)",
            Self::Light => "#d0d7de",
        }
    }
}

/// The area in which values are drawn.
pub(super) struct Canvas {
    pub(super) out: String,
    pub(super) theme: Theme,
    pub(super) axis: Axis,
}

impl Canvas {
    pub(super) const WIDTH: f64 = WIDTH - LEFT - RIGHT;

    /// Horizontal position for a share of the width.
    pub(super) fn x(share: f64) -> f64 {
        LEFT + share * Self::WIDTH
    }

    /// Vertical position of a value.
    pub(super) fn y(&self, value: f64) -> f64 {
        let share = (value / self.axis.top).clamp(0.0, 1.0);
        HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
    }

    pub(super) fn put(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.out.write_fmt(element);
        self.out.push('\n');
    }

    /// A label under the horizontal axis.
    pub(super) fn label(&mut self, x: f64, text: &str) {
        let (y, fill, text) = (HEIGHT - BOTTOM + 18.0, self.theme.text(), escape(text));
        self.put(format_args!(
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="middle" fill="{fill}">{text}</text>"#
        ));
    }

    /// A slanted label, for texts that are too long for a horizontal one.
    pub(super) fn slanted_label(&mut self, x: f64, text: &str) {
        let (y, fill, text) = (HEIGHT - BOTTOM + 13.0, self.theme.text(), escape(text));
        self.put(format_args!(
            r#"<text transform="translate({x:.1} {y:.1}) rotate(-16)" text-anchor="end" font-size="10" fill="{fill}">{text}</text>"#
        ));
    }
}

/// The colour of the server with this position in the chart.
pub(super) fn colour(at: usize) -> &'static str {
    PALETTE[at % PALETTE.len()]
}

/// Draws a chart.
pub(super) fn draw(chart: &Chart, theme: Theme) -> String {
    let points = chart.lines.iter().flat_map(|line| &line.points);
    let greatest = points.map(|point| point.high.max(point.y)).fold(0.0, f64::max);
    let mut canvas = Canvas { out: String::new(), theme, axis: Axis::up_to(greatest) };
    let title = escape(&chart.title);
    canvas.put(format_args!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{title}" font-family="DejaVu Sans, Verdana, sans-serif" font-size="12">"#
    ));
    canvas.put(format_args!(
        r#"<rect width="{WIDTH}" height="{HEIGHT}" fill="{}"/>"#,
        theme.background()
    ));
    frame(&mut canvas, chart);
    legend(&mut canvas, chart);
    match chart.kind {
        ChartKind::Bars => bars::draw(&mut canvas, chart),
        ChartKind::Steps | ChartKind::Time => lines::draw(&mut canvas, chart),
    }
    canvas.put(format_args!("</svg>"));
    canvas.out
}

fn frame(canvas: &mut Canvas, chart: &Chart) {
    let (text, faint) = (canvas.theme.text(), canvas.theme.faint());
    let title = escape(&chart.title);
    canvas.put(format_args!(
        r#"<text x="{LEFT}" y="20" font-size="15" font-weight="bold" fill="{text}">{title}</text>"#
    ));
    let right = WIDTH - RIGHT;
    for mark in canvas.axis.marks() {
        let (y, number) = (canvas.y(mark), short(mark));
        canvas.put(format_args!(
            r#"<line x1="{LEFT}" x2="{right}" y1="{y:.1}" y2="{y:.1}" stroke="{faint}"/>"#
        ));
        let (x, y) = (LEFT - 8.0, y + 4.0);
        canvas.put(format_args!(
            r#"<text x="{x}" y="{y:.1}" text-anchor="end" fill="{text}">{number}</text>"#
        ));
    }
    let middle = (TOP + HEIGHT - BOTTOM) / 2.0;
    let unit = escape(&chart.y);
    let hint = if chart.better == Better::Higher { "more is better" } else { "less is better" };
    canvas.put(format_args!(
        r#"<text transform="translate(16 {middle}) rotate(-90)" text-anchor="middle" fill="{text}">{unit} ({hint})</text>"#
    ));
    let (x, y, unit) = (LEFT + Canvas::WIDTH / 2.0, HEIGHT - 12.0, escape(&chart.x));
    canvas.put(format_args!(
        r#"<text x="{x}" y="{y}" text-anchor="middle" fill="{text}">{unit}</text>"#
    ));
}

fn legend(canvas: &mut Canvas, chart: &Chart) {
    let mut x = LEFT;
    let text = canvas.theme.text();
    for (at, line) in chart.lines.iter().enumerate() {
        let (fill, name) = (colour(at), escape(&line.name));
        canvas.put(format_args!(
            r#"<rect x="{x:.1}" y="32" width="12" height="12" rx="2" fill="{fill}"/>"#
        ));
        canvas.put(format_args!(r#"<text x="{:.1}" y="42" fill="{text}">{name}</text>"#, x + 17.0));
        x += 34.0 + 7.5 * line.name.chars().count() as f64;
    }
}

/// A text escaped for XML.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
