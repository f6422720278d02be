//! The constant prefix of a LIKE pattern, from which an index range is made. A prefix that is too
//! short only costs time; a wrong one would lose rows.

use selkie_types::Charset;

/// Characters with which every match of `pattern` begins, escapes removed.
pub(super) fn constant_prefix(pattern: &[u8], escape: Option<u8>, charset: Charset) -> Vec<u8> {
    let mut prefix = Vec::new();
    let mut at = 0;
    // A charset that is not a superset of ASCII gives no prefix rather than a wrong one.
    if !charset.is_ascii_superset() {
        return prefix;
    }
    while at < pattern.len() {
        match pattern[at] {
            b'%' | b'_' => break,
            b if Some(b) == escape => {
                let Some(rest) = pattern.get(at + 1..).filter(|r| !r.is_empty()) else { break };
                let len = charset.char_len(rest).clamp(1, rest.len());
                prefix.extend_from_slice(&rest[..len]);
                at += 1 + len;
            }
            _ => {
                let len = charset.char_len(&pattern[at..]).clamp(1, pattern.len() - at);
                prefix.extend_from_slice(&pattern[at..at + len]);
                at += len;
            }
        }
    }
    prefix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes() {
        let prefix = |p: &str| constant_prefix(p.as_bytes(), Some(b'\\'), Charset::Utf8mb4);
        assert_eq!(prefix("ab%c"), b"ab");
        assert_eq!(prefix("a\\%b_"), b"a%b");
        assert_eq!(prefix("é%"), "é".as_bytes());
        assert_eq!(prefix("%x"), b"");
    }
}
