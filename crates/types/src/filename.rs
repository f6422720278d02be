//! Names of schemas and tables as file names, as MariaDB shows them in paths.
//!
//! Only the directories of schemas have such names here. They appear in messages, and limit the
//! length of a name.

/// `name` as a file name: letters, digits and `_` stay; any other character becomes its code.
///
/// Compat: MariaDB has shorter forms for letters of some alphabets.
pub fn filename(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c.is_ascii_alphanumeric() || c == '_' {
            true => out.push(c),
            false => out.push_str(&format!("@{:04x}", u32::from(c))),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_characters_become_numbers() {
        assert_eq!(filename("t_1"), "t_1");
        assert_eq!(filename("t#1-x"), "t@00231@002dx");
    }
}
