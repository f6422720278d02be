//! Comparison of a report with an earlier one: finds numbers that became worse by more than the
//! noise.
//!
//! Numbers are matched by name, so names must stay the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::model::{Better, Measure, Report};
use crate::error::{Failure, Result};

/// Prints every number that both reports have. Returns how many became worse by more than
/// `tolerance`, a share such as 0.03.
pub(crate) fn compare(before: &Path, after: &Path, tolerance: f64) -> Result<usize> {
    let (before, after) = (read(before)?, read(after)?);
    let old: BTreeMap<&str, &Measure> =
        before.measures.iter().map(|m| (m.name.as_str(), m)).collect();
    let mut worse = 0;
    let mut common = 0;
    for measure in &after.measures {
        let Some(earlier) = old.get(measure.name.as_str()) else { continue };
        common += 1;
        let change = improvement(earlier.value, measure.value, measure.better);
        let verdict = match change {
            c if c < -tolerance => "WORSE",
            c if c > tolerance => "better",
            _ => "draw",
        };
        worse += usize::from(verdict == "WORSE");
        println!(
            "{:48} {:12.2} {:12.2} {:+7.1} % {verdict}",
            measure.name,
            earlier.value,
            measure.value,
            change * 100.0
        );
    }
    if common == 0 {
        return Err(Failure::said("the reports have no number in common"));
    }
    println!("{common} compared, {worse} worse by more than {:.0} %", tolerance * 100.0);
    Ok(worse)
}

/// The share by which a number improved; negative if it became worse.
fn improvement(before: f64, after: f64, better: Better) -> f64 {
    match better {
        Better::Higher => after / before - 1.0,
        Better::Lower => before / after - 1.0,
    }
}

fn read(path: &Path) -> Result<Report> {
    let file = if path.is_dir() { path.join("report.json") } else { path.to_owned() };
    let text = fs::read(&file).map_err(|e| Failure::said(format!("{}: {e}", file.display())))?;
    serde_json::from_slice(&text).map_err(|e| Failure::said(format!("{}: {e}", file.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_time_is_better() {
        assert!(improvement(10.0, 5.0, Better::Lower) > 0.9);
        assert!(improvement(10.0, 5.0, Better::Higher) < -0.4);
    }
}
