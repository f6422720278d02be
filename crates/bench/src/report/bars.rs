//! Bar charts: a bar for each server and label, with whiskers from the lowest to the highest
//! repetition.
//!
//! Long labels are slanted, so that they do not overlap.

use super::axis::short;
use super::model::Chart;
use super::svg::{Canvas, colour};

/// Approximate width of a character.
const CHARACTER: f64 = 8.0;

pub(super) fn draw(canvas: &mut Canvas, chart: &Chart) {
    let labels = labels(chart);
    let slot = 1.0 / labels.len().max(1) as f64;
    for (at, label) in labels.iter().enumerate() {
        let place = Canvas::x((at as f64 + 0.5) * slot);
        match label.len() as f64 * CHARACTER < slot * Canvas::WIDTH {
            true => canvas.label(place, label),
            false => canvas.slanted_label(place, label),
        }
    }
    let width = slot * 0.8 / chart.lines.len().max(1) as f64;
    for (server, line) in chart.lines.iter().enumerate() {
        for point in &line.points {
            let Some(at) = labels.iter().position(|label| *label == point.label) else { continue };
            let left = Canvas::x(at as f64 * slot + slot * 0.1 + server as f64 * width);
            let place = Bar { left, width: width * Canvas::WIDTH, colour: colour(server) };
            bar(canvas, &place, point.y, (point.low, point.high));
        }
    }
}

struct Bar {
    left: f64,
    width: f64,
    colour: &'static str,
}

fn bar(canvas: &mut Canvas, place: &Bar, value: f64, (low, high): (f64, f64)) {
    let (bottom, top) = (canvas.y(0.0), canvas.y(value));
    let Bar { left, width, colour } = place;
    let (height, text) = (bottom - top, short(value));
    canvas.put(format_args!(
        r#"<rect x="{left:.1}" y="{top:.1}" width="{:.1}" height="{height:.1}" fill="{colour}"><title>{text}</title></rect>"#,
        (width - 1.0).max(1.0)
    ));
    if high > low {
        let (x, from, to) = (left + width / 2.0, canvas.y(low), canvas.y(high));
        let stroke = canvas.theme.text();
        canvas.put(format_args!(
            r#"<line x1="{x:.1}" x2="{x:.1}" y1="{from:.1}" y2="{to:.1}" stroke="{stroke}"/>"#
        ));
    }
}

/// All labels, in the order of their first occurrence.
fn labels(chart: &Chart) -> Vec<String> {
    let mut labels = Vec::new();
    for point in chart.lines.iter().flat_map(|line| &line.points) {
        if !labels.contains(&point.label) {
            labels.push(point.label.clone());
        }
    }
    labels
}
