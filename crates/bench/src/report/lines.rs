//! Line charts: over steps, with the range of the repetitions, or over time.
//!
//! Steps have equal distances, so that ladders like 1, 2, 4, 8 are readable.

use super::axis::{Axis, short};
use super::model::{Chart, ChartKind, Line};
use super::svg::{Canvas, colour};

pub(super) fn draw(canvas: &mut Canvas, chart: &Chart) {
    let places = Places::of(chart);
    places.label(canvas);
    for (at, line) in chart.lines.iter().enumerate() {
        draw_line(canvas, &places, line, colour(at), chart.kind);
    }
}

/// Horizontal positions of the points.
enum Places {
    /// All x values of the lines, at equal distances.
    Steps(Vec<f64>),
    Time(Axis),
}

impl Places {
    fn of(chart: &Chart) -> Self {
        let mut all: Vec<f64> =
            chart.lines.iter().flat_map(|line| line.points.iter().map(|p| p.x)).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        match chart.kind {
            ChartKind::Time => Self::Time(Axis::up_to(all.last().copied().unwrap_or(1.0))),
            _ => Self::Steps(all),
        }
    }

    fn x(&self, value: f64) -> f64 {
        match self {
            Self::Time(axis) => Canvas::x(value / axis.top),
            Self::Steps(all) => {
                let at = all.iter().position(|x| *x == value).unwrap_or_default();
                Canvas::x((at as f64 + 0.5) / all.len().max(1) as f64)
            }
        }
    }

    fn label(&self, canvas: &mut Canvas) {
        let marks: Vec<f64> = match self {
            Self::Time(axis) => axis.marks().collect(),
            Self::Steps(all) => all.clone(),
        };
        marks.iter().for_each(|mark| canvas.label(self.x(*mark), &short(*mark)));
    }
}

fn draw_line(canvas: &mut Canvas, places: &Places, line: &Line, colour: &str, kind: ChartKind) {
    let place = |x: f64, y: f64, canvas: &Canvas| format!("{:.1},{:.1}", places.x(x), canvas.y(y));
    let path: Vec<String> = line.points.iter().map(|p| place(p.x, p.y, canvas)).collect();
    let width = if kind == ChartKind::Time { 1.3 } else { 2.2 };
    canvas.put(format_args!(
        r#"<polyline fill="none" stroke="{colour}" stroke-width="{width}" points="{}"/>"#,
        path.join(" ")
    ));
    if kind == ChartKind::Time {
        return;
    }
    for point in &line.points {
        let (x, y) = (places.x(point.x), canvas.y(point.y));
        let (low, high) = (canvas.y(point.low), canvas.y(point.high));
        canvas.put(format_args!(
            r#"<line x1="{x:.1}" x2="{x:.1}" y1="{low:.1}" y2="{high:.1}" stroke="{colour}"/>"#
        ));
        let value = short(point.y);
        canvas.put(format_args!(
            r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.4" fill="{colour}"><title>{value}</title></circle>"#
        ));
    }
}
