//! A JSON document as a tree, and its text with MariaDB's line breaks.
//!
//! Must not know plans.

use selkie_types::stack;

/// A value.
pub(super) enum Json {
    Word(String),
    Text(String),
    /// Values in one line.
    List(Vec<Json>),
    /// Values in a line each.
    Array(Vec<Json>),
    Object(Object),
}

/// Members in order.
#[derive(Default)]
pub(super) struct Object(Vec<(&'static str, Json)>);

impl Object {
    pub(super) fn put(&mut self, key: &'static str, value: Json) {
        self.0.push((key, value));
    }

    pub(super) fn text(&mut self, key: &'static str, text: &str) {
        self.put(key, Json::Text(text.to_owned()));
    }

    pub(super) fn word(&mut self, key: &'static str, word: &str) {
        self.put(key, Json::Word(word.to_owned()));
    }

    pub(super) fn count(&mut self, key: &'static str, n: u64) {
        self.word(key, &n.to_string());
    }

    pub(super) fn number(&mut self, key: &'static str, n: Option<f64>) {
        self.word(key, &n.map_or_else(|| "null".into(), digits));
    }

    /// A time in milliseconds.
    pub(super) fn time(&mut self, key: &'static str, nanos: u64) {
        self.number(key, Some(nanos as f64 / 1e6));
    }

    pub(super) fn texts<'t>(&mut self, key: &'static str, all: impl Iterator<Item = &'t str>) {
        self.put(key, Json::List(all.map(|text| Json::Text(text.to_owned())).collect()));
    }

    pub(super) fn object(&mut self, key: &'static str, object: Object) {
        self.put(key, Json::Object(object));
    }

    pub(super) fn array(&mut self, key: &'static str, objects: Vec<Object>) {
        self.put(key, Json::Array(objects.into_iter().map(Json::Object).collect()));
    }

    /// Adds the members of another object.
    pub(super) fn take(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The document.
    pub(super) fn document(self) -> String {
        let mut text = String::new();
        write(&Json::Object(self), 0, &mut text);
        text
    }
}

/// An object with a single member.
pub(super) fn single(key: &'static str, object: Object) -> Object {
    let mut outer = Object::default();
    outer.object(key, object);
    outer
}

/// A number with at most nine decimals.
fn digits(n: f64) -> String {
    let text = format!("{n:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn line(depth: usize, text: &mut String) {
    text.push('\n');
    text.extend(std::iter::repeat_n("  ", depth));
}

fn write(json: &Json, depth: usize, text: &mut String) {
    stack::ensure();
    match json {
        Json::Word(word) => *text += word,
        Json::Text(value) => quote(value, text),
        Json::List(list) => {
            text.push('[');
            for (at, value) in list.iter().enumerate() {
                *text += if at > 0 { ", " } else { "" };
                write(value, depth, text);
            }
            text.push(']');
        }
        Json::Array(list) => {
            text.push('[');
            for (at, value) in list.iter().enumerate() {
                *text += if at > 0 { "," } else { "" };
                line(depth + 1, text);
                write(value, depth + 1, text);
            }
            line(depth, text);
            text.push(']');
        }
        Json::Object(object) => {
            text.push('{');
            for (at, (key, value)) in object.0.iter().enumerate() {
                *text += if at > 0 { "," } else { "" };
                line(depth + 1, text);
                quote(key, text);
                *text += ": ";
                write(value, depth + 1, text);
            }
            line(depth, text);
            text.push('}');
        }
    }
}

fn quote(value: &str, text: &mut String) {
    text.push('"');
    for c in value.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => *text += "\\n",
            '\r' => *text += "\\r",
            '\t' => *text += "\\t",
            c if (c as u32) < 0x20 => *text += &format!("\\u{:04X}", c as u32),
            c => text.push(c),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_stand_in_one_line_and_objects_do_not() {
        let mut table = Object::default();
        table.text("name", "a\"b");
        table.texts("keys", ["x", "y"].into_iter());
        table.number("share", Some(14.3));
        table.number("rows", None);
        let mut all = Object::default();
        all.array("loop", vec![single("table", table)]);
        let expected = "{\n  \"loop\": [\n    {\n      \"table\": {\n        \"name\": \"a\\\"b\",\n        \
                        \"keys\": [\"x\", \"y\"],\n        \"share\": 14.3,\n        \"rows\": null\n      \
                        }\n    }\n  ]\n}";
        assert_eq!(all.document(), expected);
    }
}
