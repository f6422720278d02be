//! Compact dumps of trees for golden files. Test support only.
//! Must stay stable: every golden file of the crate depends on the format.

use selkie_sql::ast::{SelectItem, Statement};
use selkie_sql::{ParseOptions, Parsed, UnparseOptions, parse, unparse_query};

/// Text of a golden file for a statement.
pub(crate) fn describe(sql: &str, options: &ParseOptions) -> String {
    match parse(sql.as_bytes(), options) {
        Err(e) => e.to_string(),
        Ok(parsed) => describe_parsed(sql, &parsed),
    }
}

fn describe_parsed(sql: &str, parsed: &Parsed) -> String {
    let mut out = match &parsed.statement {
        Statement::Query(query) => {
            let names = column_names(&query.body, sql);
            format!("{}\nnames: {names:?}", unparse_query(query, &UnparseOptions::default()))
        }
        statement => compact(&format!("{statement:?}")),
    };
    if parsed.params > 0 {
        out += &format!("\nparams: {}", parsed.params);
    }
    if parsed.end < sql.len() {
        out += &format!("\nrest: {}", &sql[parsed.end..]);
    }
    out
}

fn column_names(body: &selkie_sql::ast::QueryBody, sql: &str) -> Vec<String> {
    let selkie_sql::ast::QueryBody::Select(select) = body else { return Vec::new() };
    let name = |i: &SelectItem| i.column_name(sql.as_bytes()).unwrap_or("*".to_owned());
    select.items.iter().map(name).collect()
}

/// Debug output without spans and without empty fields.
fn compact(debug: &str) -> String {
    let mut text = without_spans(debug);
    for nothing in [": None", ": false", ": []"] {
        text = without_fields(&text, nothing);
    }
    for (from, to) in [("Ident { value: ", ""), (" {  }", ""), (", }", " }"), ("{ , ", "{ ")] {
        text = match from {
            "Ident { value: " => without_ident_braces(&text, from),
            _ => text.replace(from, to),
        };
    }
    text
}

fn without_spans(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("span: Span {") {
        out.push_str(rest[..at].trim_end_matches(", "));
        let end = rest[at..].find('}').map_or(rest.len(), |e| at + e + 1);
        rest = &rest[end..];
        if out.ends_with("{ ") {
            rest = rest.strip_prefix(", ").unwrap_or(rest);
        }
    }
    out + rest
}

/// Removes `name: nothing` with the comma before or after it.
fn without_fields(text: &str, nothing: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(nothing) {
        let (before, after) = (&rest[..at], &rest[at + nothing.len()..]);
        let name = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |p| p + 1);
        if !after.starts_with([',', ' ']) {
            out.push_str(&rest[..at + nothing.len()]);
            rest = after;
            continue;
        }
        out.push_str(before[..name].trim_end_matches(", "));
        rest = after;
        if out.ends_with("{ ") {
            rest = rest.strip_prefix(", ").unwrap_or(rest);
        }
    }
    out + rest
}

/// `Ident { value: "a" }` becomes `"a"`.
fn without_ident_braces(text: &str, opening: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(opening) {
        out.push_str(&rest[..at]);
        rest = &rest[at + opening.len()..];
        let end = rest.find(" }").unwrap_or(rest.len());
        out.push_str(&rest[..end]);
        rest = rest[end..].strip_prefix(" }").unwrap_or_default();
    }
    out + rest
}
