//! The HTML page of a report.
//!
//! Must be self-contained: styles and charts are inside, nothing is loaded. All texts are escaped.

use super::model::{Report, Section, Table};
use super::svg::{Theme, draw, escape};

const STYLE: &str = "
:root { color-scheme: light dark; --text: #1f2328; --faint: #d8dee4; --back: #ffffff; --panel: #f6f8fa; --accent: #0a5bd3; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --faint: #30363d; --back: #0d1117; --panel: #161b22; --accent: #6cb0ff; }
}
body { background: var(--back); color: var(--text); font: 15px/1.5 'DejaVu Sans', Verdana, system-ui, sans-serif; margin: 0 auto; max-width: 920px; padding: 24px; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 19px; margin: 36px 0 8px; }
a { color: var(--accent); } code, pre { font: 13px/1.45 'DejaVu Sans Mono', ui-monospace, monospace; }
pre { background: var(--panel); overflow-x: auto; padding: 10px; border-radius: 6px; white-space: pre-wrap; word-break: break-all; }
svg { display: block; height: auto; max-width: 100%; margin: 12px 0; }
.wide { overflow-x: auto; } table { border-collapse: collapse; margin: 10px 0; font-size: 13px; }
caption { text-align: left; font-weight: bold; padding: 4px 0; }
th, td { border-bottom: 1px solid var(--faint); padding: 3px 10px; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
.warning { border-left: 4px solid #d1495b; padding: 6px 12px; background: var(--panel); }
";

/// The whole page.
pub(super) fn page(report: &Report) -> String {
    let title = escape(&report.title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title}</title><style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n"
    );
    if let Some(why) = &report.incomplete {
        out.push_str(&format!("<p class=\"warning\">Not complete: {}</p>\n", escape(why)));
    }
    out.push_str(&about(report));
    report.sections.iter().for_each(|section| out.push_str(&part(section)));
    out.push_str(&method(report));
    out.push_str("</body></html>\n");
    out
}

fn about(report: &Report) -> String {
    let m = &report.machine;
    let mut out = format!(
        "<p>{}, {} processors, {} MiB of memory, {}; begun {}.</p>\n",
        escape(&m.processor),
        m.cores,
        m.memory_mib,
        escape(&m.system),
        utc(report.began)
    );
    let rows = report.servers.iter().map(|s| vec![s.name.clone(), s.version.clone()]).collect();
    let columns = vec!["server".to_owned(), "version".to_owned()];
    out.push_str(&table(&Table { title: String::new(), columns, rows }));
    out
}

fn part(section: &Section) -> String {
    let mut out = format!("<h2>{}</h2>\n", escape(&section.title));
    if !section.text.is_empty() {
        out.push_str(&format!("<p>{}</p>\n", escape(&section.text)));
    }
    section.charts.iter().for_each(|chart| out.push_str(&draw(chart, Theme::Page)));
    section.tables.iter().for_each(|t| out.push_str(&table(t)));
    out
}

fn method(report: &Report) -> String {
    let mut out = "<h2>How it was measured</h2>\n<ul>\n".to_owned();
    report.method.iter().for_each(|line| out.push_str(&format!("<li>{}</li>\n", escape(line))));
    out.push_str(&format!("</ul>\n<pre>{}</pre>\n", escape(&report.command)));
    for server in &report.servers {
        out.push_str(&format!(
            "<p>{}</p><pre>{}</pre>\n",
            escape(&server.name),
            escape(&server.how)
        ));
    }
    out
}

fn table(table: &Table) -> String {
    let cells = |tag: &str, cells: &[String]| {
        let cells: String = cells.iter().map(|c| format!("<{tag}>{}</{tag}>", escape(c))).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let rows: String = table.rows.iter().map(|row| cells("td", row)).collect();
    let caption = match table.title.as_str() {
        "" => String::new(),
        title => format!("<caption>{}</caption>", escape(title)),
    };
    format!(
        "<div class=\"wide\"><table>{caption}{}{rows}</table></div>\n",
        cells("th", &table.columns)
    )
}

/// A point in time as date and time of day. Source of the arithmetic: days of the proleptic
/// Gregorian calendar, with years that start in March.
fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", rest / 3600, rest / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_a_date() {
        assert_eq!(utc(0), "1970-01-01 00:00 UTC");
        assert_eq!(utc(951_782_399), "2000-02-28 23:59 UTC");
        assert_eq!(utc(1_795_305_600), "2026-11-22 00:00 UTC");
    }
}
