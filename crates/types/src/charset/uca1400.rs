//! The collations of Unicode 14: five character sets, two dozen languages, with or without accents,
//! cases and padding. Their numbers and names follow a rule, so they are made when one is first
//! used.

use std::sync::LazyLock;

use super::Charset;
use super::collation::{Collation, CollationId, Pad, Rule};
use super::tailoring;

/// The first number.
const FIRST: u16 = 2048;
/// Numbers per character set, and per language.
const PER_CHARSET: u16 = 256;
const PER_LANGUAGE: u16 = 8;

const CHARSETS: [Charset; 5] =
    [Charset::Utf8mb3, Charset::Utf8mb4, Charset::Ucs2, Charset::Utf16, Charset::Utf32];

/// The collations by number from [`FIRST`]; `None` for a language without collations.
static ALL: LazyLock<Vec<Option<Collation>>> = LazyLock::new(|| {
    let numbers = FIRST..FIRST + PER_CHARSET * CHARSETS.len() as u16;
    numbers.map(make).collect()
});

/// The collation with a number.
#[inline]
pub(super) fn find(id: CollationId) -> Option<&'static Collation> {
    ALL.get(usize::from(id.0.checked_sub(FIRST)?))?.as_ref()
}

/// All of them, by number.
pub(super) fn all() -> impl Iterator<Item = &'static Collation> {
    ALL.iter().flatten()
}

fn make(id: u16) -> Option<Collation> {
    let charset = CHARSETS[usize::from((id - FIRST) / PER_CHARSET)];
    let (language, options) = (id % PER_CHARSET / PER_LANGUAGE, id % PER_LANGUAGE);
    let (number, language) = match language {
        0 => (tailoring::ROOT, String::new()),
        n => {
            let at = usize::from(n) - 1;
            let name = tailoring::NEW.get(at).filter(|name| !name.is_empty())?;
            (tailoring::number_of_new(at), format!("{name}_"))
        }
    };
    let (nopad, accents, cases) = (options & 4 != 0, options & 2 != 0, options & 1 != 0);
    let name = format!(
        "{}_uca1400_{language}{}{}_{}",
        charset.name(),
        if nopad { "nopad_" } else { "" },
        if accents { "as" } else { "ai" },
        if cases { "cs" } else { "ci" },
    );
    Some(Collation {
        id: CollationId(id),
        // Leaked once: the names live as long as the program.
        name: Box::leak(name.into_boxed_str()),
        charset,
        sort_len: 8,
        pad: if nopad { Pad::NoPad } else { Pad::PadSpace },
        rule: Rule::Tailored(number),
        levels: match (accents, cases) {
            (false, false) => &[],
            (true, false) => &[1],
            (false, true) => &[2],
            (true, true) => &[1, 2],
        },
    })
}
