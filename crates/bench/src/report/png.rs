//! Charts as PNG files, drawn with an embedded font.
//!
//! Must not use fonts of the machine, so that files look the same everywhere.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use crate::error::{Failure, Result};

/// Pixels per unit of the chart.
const SCALE: f32 = 2.0;

/// A chart as PNG.
pub(super) fn render(svg: &str) -> Result<Vec<u8>> {
    let said = |text: String| Failure::said(format!("a chart cannot be drawn: {text}"));
    let options =
        Options { fontdb: fonts(), font_family: "DejaVu Sans".to_owned(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|e| said(e.to_string()))?;
    let size = tree.size();
    let (width, height) = ((size.width() * SCALE) as u32, (size.height() * SCALE) as u32);
    let mut pixels = Pixmap::new(width, height).ok_or_else(|| said("too large".to_owned()))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| said(e.to_string()))
}

fn fonts() -> Arc<fontdb::Database> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    Arc::clone(FONTS.get_or_init(|| {
        let mut database = fontdb::Database::new();
        database.load_font_data(dejavu::sans::regular().to_vec());
        database.load_font_data(dejavu::sans::bold().to_vec());
        Arc::new(database)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_drawn() {
        let svg = |text| {
            format!(
                "<svg xmlns='http://www.w3.org/2000/svg' width='80' height='20' \
                 font-family='DejaVu Sans'><text x='2' y='14'>{text}</text></svg>"
            )
        };
        let (empty, full) = (render(&svg("")).unwrap(), render(&svg("Selkie")).unwrap());
        assert!(full.starts_with(b"\x89PNG") && full != empty);
    }
}
