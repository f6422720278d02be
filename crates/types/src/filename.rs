//! Names of schemas and tables as names of files, as MariaDB shows them in paths.
//!
//! Nothing is stored under such names here; they appear in messages and set how long a name may be.

/// `name` as a file name: letters, digits and `_` stay, any other character is its number.
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
