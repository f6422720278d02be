//! Parameters and fields that are easily confused: `bool` parameters of functions, and structs with
//! many fields. An enum, or a struct for a part of the fields, makes a call clear.
//!
//! Relies on the formatter's indentation; reads text, not syntax trees.

use std::collections::BTreeMap;

use crate::lengths::function_name;
use crate::ratchet::Excess;
use crate::sources::Source;

/// Two positional `bool` arguments can be swapped, and no compiler notices.
const BOOL_PARAMETERS_MAX: usize = 1;
const FIELDS_MAX: usize = 15;

/// Functions with several `bool` parameters, structs with many fields, and for each crate the
/// number of functions with any `bool` parameter.
pub(crate) fn measure(files: &[Source]) -> Vec<Excess> {
    let mut found = Vec::new();
    let mut of_crate = BTreeMap::<String, usize>::new();
    for file in files.iter().filter(|file| !file.is_test()) {
        let code = file.code();
        let bools = functions(&code).into_iter().filter(|(_, bools)| *bools > 0);
        for (name, size) in bools {
            *of_crate.entry(crate_of(&file.path)).or_default() += 1;
            if size > BOOL_PARAMETERS_MAX {
                let what = format!("{}:{name}", file.path);
                found.push(Excess { unit: "bool-parameters", what, size });
            }
        }
        let wide = structs(&code).into_iter().filter(|(_, fields)| *fields > FIELDS_MAX);
        found.extend(wide.map(|(name, size)| {
            let what = format!("{}:{name}", file.path);
            Excess { unit: "fields", what, size }
        }));
    }
    let counts = of_crate.into_iter();
    found.extend(counts.map(|(what, size)| Excess { unit: "functions-with-bool", what, size }));
    found
}

fn crate_of(path: &str) -> String {
    path.split('/').take(2).collect::<Vec<_>>().join("/")
}

/// Each function of a text without comments, with the number of its `bool` parameters.
fn functions(code: &str) -> Vec<(String, usize)> {
    let mut at = 0;
    let mut found = Vec::new();
    for line in code.split_inclusive('\n') {
        if let Some(name) = function_name(line)
            && let Some(parameters) = parameters(&code[at..])
        {
            let bools = parameters.split(',').filter(|part| is_bool(part)).count();
            found.push((name, bools));
        }
        at += line.len();
    }
    found
}

/// Whether a parameter is a `bool`. A `bool` inside of a tuple, closure or option does not count.
fn is_bool(parameter: &str) -> bool {
    parameter.split_once(':').is_some_and(|(_, ty)| ty.trim() == "bool")
}

/// The parameters of the function at the start of a text: the content of its outermost parentheses.
fn parameters(text: &str) -> Option<String> {
    let name = text.find("fn ")?;
    let open = name + text[name..].find('(')?;
    // Generics before the parameters may contain parentheses: `<F: Fn(u8) -> u8>`.
    let generics = text[name..open].find('<').map(|at| name + at);
    let open = match generics {
        Some(at) => {
            let end = at + closing(&text[at..], '<', '>')?;
            end + text[end..].find('(')?
        }
        None => open,
    };
    let close = open + closing(&text[open..], '(', ')')?;
    Some(flat(&text[open + 1..close]))
}

/// Position of the bracket that closes the first one of a text. The `>` of an arrow is no bracket.
fn closing(text: &str, opens: char, closes: char) -> Option<usize> {
    let mut depth = 0;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        if letter == opens {
            depth += 1;
        } else if letter == closes && !(closes == '>' && before == '-') {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
        before = letter;
    }
    None
}

/// A text without the content of brackets, so that only commas between parameters are left.
fn flat(text: &str) -> String {
    let mut depth = 0;
    let mut out = String::new();
    let mut before = ' ';
    for letter in text.chars() {
        match letter {
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if before == '-' => {}
            ')' | ']' | '}' | '>' => depth -= 1,
            letter if depth == 0 => out.push(letter),
            _ => {}
        }
        before = letter;
    }
    out
}

/// Each struct of a text without comments, with the number of its fields. Relies on the formatter's
/// indentation.
fn structs(code: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = code.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = struct_name(line) else { continue };
        let indent = line.len() - line.trim_start().len();
        let close = format!("{}}}", " ".repeat(indent));
        let body = lines[start + 1..].iter().take_while(|line| **line != close);
        found.push((name, body.filter(|line| is_field(line, indent + 4)).count()));
    }
    found
}

/// The name of the struct whose fields start in the next line.
fn struct_name(line: &str) -> Option<String> {
    let (before, rest) = line.split_once("struct ")?;
    let begins = before.split_whitespace().all(|word| word.starts_with("pub"));
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (begins && line.trim_end().ends_with('{')).then_some(name)
}

fn is_field(line: &str, indent: usize) -> bool {
    let rest = line.trim_start();
    let name = match rest.strip_prefix("pub") {
        Some(public) => public.trim_start_matches(|c| c != ' ').trim_start(),
        None => rest,
    };
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    line.len() - rest.len() == indent && end > 0 && name[end..].starts_with(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(&'static str, String, usize)> {
        let all = measure(&[Source::of("crates/x/src/a.rs", text)]);
        all.into_iter().map(|e| (e.unit, e.what, e.size)).collect()
    }

    #[test]
    fn functions_with_bool_parameters_are_counted() {
        let text = "fn one(a: bool, pair: (bool, bool), f: impl Fn(bool) -> bool) -> bool {}\n\
            // fn none(a: bool, b: bool) {}\n\
            impl T {\n    pub(crate) fn two<F: Fn(bool) -> bool>(\n        &self,\n        a: bool,\n        \
            b: bool,\n    ) {\n    }\n    fn no(&self, a: Option<bool>) {}\n}";
        let two = ("bool-parameters", "crates/x/src/a.rs:two".to_owned(), 2);
        assert_eq!(found(text), [two, ("functions-with-bool", "crates/x".to_owned(), 2)]);
    }

    #[test]
    fn wide_structs_are_found() {
        let fields = |count| {
            let field =
                |at| format!("    /// What a: b is.\n    pub(crate) f{at}: Vec<(u8, u8)>,\n");
            (0..count).map(field).collect::<String>()
        };
        let of = |count| found(&format!("pub struct Wide<'a> {{\n{}}}\n", fields(count)));
        assert_eq!(of(FIELDS_MAX), []);
        let wide = ("fields", "crates/x/src/a.rs:Wide".to_owned(), FIELDS_MAX + 1);
        assert_eq!(of(FIELDS_MAX + 1), [wide]);
    }
}
