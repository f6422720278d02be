//! Layers of modules inside crates: a module that imports from a higher layer is a finding.
//!
//! Looks at paths that start with `crate::`, and at names that the crate's root exports again.

use std::collections::BTreeMap;

use crate::sources::Source;

/// A crate whose modules are layered.
struct Order {
    root: &'static str,
    /// From bottom to top. Modules of one layer may use each other. A module in no layer is above
    /// all of them.
    layers: &'static [&'static [&'static str]],
}

const ORDERS: &[Order] = &[
    Order {
        root: "crates/exec/src/",
        layers: &[&["state"], &["run"], &["op"], &["dml"], &["query"]],
    },
    Order {
        root: "crates/expr/src/",
        layers: &[
            &["dynamic", "order", "random", "row_key", "text", "timezone"],
            // An expression contains function calls. Their kernels use the call and its context,
            // and binding them converts arguments.
            &[
                "cast",
                "collate",
                "context",
                "expr",
                "function",
                "json",
                "kernel",
                "operator",
                "refuse",
                "result_type",
                "union_type",
            ],
            &["eval", "json_table", "store", "xml"],
            &["build", "functions"],
        ],
    },
];

/// Findings: modules that use a higher layer.
pub(crate) fn check(files: &[Source]) -> Vec<String> {
    ORDERS.iter().flat_map(|order| order.check(files)).collect()
}

impl Order {
    fn check(&self, files: &[Source]) -> Vec<String> {
        let own = || files.iter().filter(|file| file.path.starts_with(self.root));
        let root = own().find(|file| file.path == format!("{}lib.rs", self.root));
        let handed_on = root.map(names_of_root).unwrap_or_default();
        let mut findings = Vec::new();
        for file in own().filter(|file| !file.is_test()) {
            let name = module_of(&file.path[self.root.len()..]);
            let Some(layer) = self.layer_of(name) else { continue };
            for (number, module) in used(&file.code()) {
                let module = handed_on.get(&module).unwrap_or(&module);
                let is_above = self.layer_of(module).is_none_or(|at| at > layer);
                if is_above && self.is_module(files, module) {
                    let path = &file.path;
                    findings.push(format!("{path}:{number}: `{name}` must not use `{module}`"));
                }
            }
        }
        findings
    }

    fn layer_of(&self, module: &str) -> Option<usize> {
        self.layers.iter().position(|layer| layer.contains(&module))
    }

    fn is_module(&self, files: &[Source], name: &str) -> bool {
        files.iter().any(|file| file.path == format!("{}{name}.rs", self.root))
    }
}

/// The outermost module of a file, below the root.
fn module_of(path: &str) -> &str {
    path.split('/').next().unwrap_or_default().trim_end_matches(".rs")
}

/// The first names after `crate::`, with their lines.
fn used(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let line = code[..at].matches('\n').count() + 1;
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => {
                found.extend(group_names(group).into_iter().map(|name| (line, name)));
            }
            None => found.push((line, first_name(rest))),
        }
    }
    found
}

/// The first names of a group's entries, until the group ends.
fn group_names(group: &str) -> Vec<String> {
    let mut depth = 0;
    let mut entry = String::new();
    let mut names = Vec::new();
    for letter in group.chars() {
        match letter {
            '}' if depth == 0 => break,
            ',' if depth == 0 => names.push(std::mem::take(&mut entry)),
            '{' => depth += 1,
            '}' => depth -= 1,
            letter => entry.push(letter),
        }
    }
    names.push(entry);
    names.iter().map(|entry| first_name(entry.trim())).filter(|name| !name.is_empty()).collect()
}

fn first_name(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The module of each name that the root exports again.
fn names_of_root(root: &Source) -> BTreeMap<String, String> {
    let code = root.code();
    let mut names = BTreeMap::new();
    for statement in code.split(';').filter_map(|text| text.trim().strip_prefix("pub use ")) {
        let module = first_name(statement);
        let last = statement.rsplit("::").next().unwrap_or_default();
        for name in last.trim_matches(['{', '}', ' ', '\n']).split(',') {
            names.insert(first_name(name.trim()), module.clone());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source::of(&format!("crates/exec/src/{path}"), text)
    }

    #[test]
    fn a_lower_layer_that_uses_a_higher_one_is_found() {
        let files = [
            source("lib.rs", "pub use state::session::Session;\npub use statement::{run, stop};"),
            source("state.rs", ""),
            source("op.rs", ""),
            source("ddl.rs", ""),
            source("statement.rs", ""),
            source("state/a.rs", "use crate::op::b;\nuse crate::{Session, run};"),
            source("op/b.rs", "// crate::ddl::x\nuse crate::state::a;\nfn f() { crate::ddl::g() }"),
            source("ddl/c.rs", "use crate::op::b;"),
        ];
        let found = check(&files);
        let ends =
            ["a.rs:1: `state` must not use `op`", "a.rs:2: `state` must not use `statement`"];
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(ends.iter().zip(&found).all(|(end, finding)| finding.ends_with(end)), "{found:?}");
        assert!(found[2].ends_with("b.rs:3: `op` must not use `ddl`"), "{found:?}");
    }

    #[test]
    fn modules_of_one_layer_may_use_each_other() {
        let source = |path: &str, text| Source::of(&format!("crates/expr/src/{path}"), text);
        let files = [
            source("cast.rs", "use crate::expr::Expr;\nuse crate::{build, text};"),
            source("expr.rs", "use crate::cast;"),
            source("build.rs", "use crate::cast;"),
            source("text.rs", ""),
        ];
        let expected = ["crates/expr/src/cast.rs:2: `cast` must not use `build`"];
        assert_eq!(check(&files), expected);
    }
}
