//! Writes the files of a report into a folder.
//!
//! Must not leave half a file: each is written under another name and then renamed.

use std::fs;
use std::path::Path;

use super::html::page;
use super::model::Report;
use super::png;
use super::svg::{Theme, draw};
use crate::error::{Failure, Result};

/// Writes `report.html`, `report.json`, and `NN-title.svg` and `.png` for each chart. An existing
/// file is replaced only when the new one is complete.
pub(crate) fn write(report: &Report, folder: &Path) -> Result<()> {
    let named = |e: std::io::Error| Failure::said(format!("{}: {e}", folder.display()));
    fs::create_dir_all(folder).map_err(named)?;
    put(&folder.join("report.html"), page(report).as_bytes())?;
    let json = serde_json::to_vec_pretty(report).map_err(|e| Failure::said(e.to_string()))?;
    put(&folder.join("report.json"), &json)?;
    let charts = report.sections.iter().flat_map(|section| &section.charts);
    for (at, chart) in charts.enumerate() {
        let name = format!("{:02}-{}", at + 1, file_name(&chart.title));
        let drawing = draw(chart, Theme::Light);
        put(&folder.join(format!("{name}.svg")), drawing.as_bytes())?;
        put(&folder.join(format!("{name}.png")), &png::render(&drawing)?)?;
    }
    Ok(())
}

fn put(path: &Path, content: &[u8]) -> Result<()> {
    let temporary = path.with_extension("tmp");
    let written = fs::write(&temporary, content).and_then(|()| fs::rename(&temporary, path));
    written.map_err(|e| Failure::said(format!("{}: {e}", path.display())))
}

fn file_name(title: &str) -> String {
    let text: String = title
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    text.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}
