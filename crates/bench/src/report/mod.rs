//! Reports of runs: one HTML page, each chart as SVG and PNG, and all numbers as JSON.
//!
//! Must not measure. The page loads nothing from anywhere.

mod axis;
mod bars;
mod compare;
mod html;
mod lines;
mod model;
mod png;
mod svg;
mod write;

pub(crate) use compare::compare;
pub(crate) use model::{
    Better, Chart, ChartKind, Line, Measure, Point, Report, Run, Section, Table,
};
pub(crate) use write::write;
