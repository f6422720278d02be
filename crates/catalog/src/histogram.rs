//! Histograms as `mysql.column_stats` holds them: two of bytes and one of JSON. Source of the
//! formats: what MariaDB 10.11 stores for known values.
//!
//! Must not know a column's type: values come as places between the least and the greatest value,
//! or as texts.

use std::fmt::Write;

use serde_json::Value as Json;

/// Form of a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistogramKind {
    /// One byte per bucket.
    Single,
    /// Two bytes per bucket.
    Double,
    /// A text in JSON with the values themselves.
    Json,
}

/// A bound of a bucket in JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// A text.
    Text(String),
    /// Bytes that no text in UTF-8 can show.
    Hex(Vec<u8>),
}

/// A value with the number of its rows, at least one. A list of them is in the order of the values.
#[derive(Clone, Debug, PartialEq)]
pub struct Run<V> {
    /// The value, its place or its text.
    pub value: V,
    /// Number of rows.
    pub rows: u64,
}

impl HistogramKind {
    /// Names, in the order of the ENUM column and of the variable `histogram_type`.
    pub const ALL: [(Self, &'static str); 3] = [
        (Self::Single, "SINGLE_PREC_HB"),
        (Self::Double, "DOUBLE_PREC_HB"),
        (Self::Json, "JSON_HB"),
    ];

    /// The kind of a name in any case.
    pub fn of(name: &[u8]) -> Option<Self> {
        let found = Self::ALL.iter().find(|(_, own)| name.eq_ignore_ascii_case(own.as_bytes()));
        found.map(|(kind, _)| *kind)
    }

    /// Member of the ENUM column.
    pub fn member(self) -> u64 {
        Self::ALL.iter().position(|(kind, _)| *kind == self).map_or(0, |at| at as u64 + 1)
    }

    /// Bytes of one bucket's end.
    fn width(self) -> usize {
        if self == Self::Single { 1 } else { 2 }
    }
}

/// The bytes of a histogram whose buckets hold equally many rows: `size` bytes, or one less if a
/// bucket needs two. Each bucket's end is the place, 0 to 1, of the first value at which more than
/// its share of the rows has been passed.
pub fn equal_height(kind: HistogramKind, size: usize, runs: &[Run<f64>]) -> Vec<u8> {
    let buckets = size / kind.width();
    let total: u64 = runs.iter().map(|run| run.rows).sum();
    let mut bytes = Vec::with_capacity(size);
    let (mut passed, mut bucket) = (0u64, 0u64);
    for run in runs {
        passed += run.rows;
        // passed > total * (bucket + 1) / (buckets + 1), without a division.
        while (bucket as usize) < buckets
            && u128::from(passed) * (buckets as u128 + 1)
                > u128::from(total) * (u128::from(bucket) + 1)
        {
            match kind.width() {
                1 => bytes.push((run.value * 255.0) as u8),
                _ => bytes.extend_from_slice(&((run.value * 65_535.0) as u16).to_le_bytes()),
            }
            bucket += 1;
        }
    }
    bytes
}

/// The ends of the buckets of a histogram of bytes, 0 to 1; nothing if it is none.
pub fn places(kind: HistogramKind, bytes: &[u8]) -> Option<Vec<f64>> {
    match kind {
        HistogramKind::Single => Some(bytes.iter().map(|b| f64::from(*b) / 255.0).collect()),
        HistogramKind::Double if bytes.len().is_multiple_of(2) => {
            let end = |b: &[u8]| f64::from(u16::from_le_bytes([b[0], b[1]])) / 65_535.0;
            Some(bytes.chunks_exact(2).map(end).collect())
        }
        _ => None,
    }
}

/// A histogram in JSON.
#[derive(Debug)]
pub struct JsonHistogram {
    /// The text.
    pub text: String,
    /// Number of buckets, at most the size asked for.
    pub buckets: usize,
}

struct Bucket<'a> {
    start: &'a Bound,
    rows: u64,
    distinct: u64,
}

/// The text of a histogram with about `size` buckets; `at` is the time of day that it shows. A
/// value of more rows than a bucket may hold has a bucket of its own.
pub fn json(size: usize, at: &str, version: &str, runs: &[Run<Bound>]) -> JsonHistogram {
    let total: u64 = runs.iter().map(|run| run.rows).sum();
    let buckets = buckets(total.div_ceil(size.max(1) as u64).max(1), runs);
    let mut text = format!(
        "{{\n  \"target_histogram_size\": {size},\n  \"collected_at\": \"{at}\",\n  \
         \"collected_by\": \"{version}\",\n  \"histogram_hb\": [\n"
    );
    for (number, bucket) in buckets.iter().enumerate() {
        let last = number + 1 == buckets.len();
        text.push_str("    {\n");
        put_bound(&mut text, "start", bucket.start);
        if let (true, Some(run)) = (last, runs.last()) {
            put_bound(&mut text, "end", &run.value);
        }
        let share = format!("{:.9}", bucket.rows as f64 / total as f64);
        let share = share.trim_end_matches('0').trim_end_matches('.');
        let comma = if last { "" } else { "," };
        let _ = write!(
            text,
            "      \"size\": {share},\n      \"ndv\": {}\n    }}{comma}\n",
            bucket.distinct
        );
    }
    text.push_str("  ]\n}");
    JsonHistogram { text, buckets: buckets.len() }
}

fn buckets(capacity: u64, runs: &[Run<Bound>]) -> Vec<Bucket<'_>> {
    let mut done: Vec<Bucket<'_>> = Vec::new();
    let mut open: Option<Bucket<'_>> = None;
    for run in runs {
        if run.rows > capacity {
            done.extend(open.take());
            done.push(Bucket { start: &run.value, rows: run.rows, distinct: 1 });
            continue;
        }
        let mut left = run.rows;
        while left > 0 {
            let bucket = open.get_or_insert(Bucket { start: &run.value, rows: 0, distinct: 0 });
            let taken = left.min(capacity - bucket.rows);
            bucket.rows += taken;
            bucket.distinct += 1;
            left -= taken;
            if bucket.rows == capacity {
                done.extend(open.take());
            }
        }
    }
    done.extend(open);
    done
}

fn put_bound(text: &mut String, name: &str, bound: &Bound) {
    let _ = match bound {
        Bound::Text(value) => {
            let _ = write!(text, "      \"{name}\": \"");
            put_escaped(text, value);
            text.write_str("\",\n")
        }
        Bound::Hex(bytes) => {
            let _ = write!(text, "      \"{name}_hex\": \"");
            bytes.iter().for_each(|byte| {
                let _ = write!(text, "{byte:02X}");
            });
            text.write_str("\",\n")
        }
    };
}

fn put_escaped(text: &mut String, value: &str) {
    for c in value.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            c if c < ' ' => {
                let _ = write!(text, "\\u{:04X}", c as u32);
            }
            c => text.push(c),
        }
    }
}

/// A bucket of a histogram in JSON.
#[derive(Debug)]
pub struct JsonBucket {
    /// Its least value.
    pub start: Bound,
    /// Share of the rows before it.
    pub before: f64,
    /// Whether it has no other value.
    pub single: bool,
}

/// The buckets of a histogram in JSON; nothing if the text is none.
pub fn json_buckets(text: &[u8]) -> Option<Vec<JsonBucket>> {
    let parsed: Json = serde_json::from_slice(text).ok()?;
    let mut before = 0.0;
    let buckets = parsed.get("histogram_hb")?.as_array()?;
    buckets
        .iter()
        .map(|bucket| {
            let start = match (bucket.get("start"), bucket.get("start_hex")) {
                (Some(text), _) => Bound::Text(text.as_str()?.to_owned()),
                (None, Some(hex)) => Bound::Hex(unhex(hex.as_str()?)?),
                (None, None) => return None,
            };
            let share = before;
            before += bucket.get("size")?.as_f64().filter(|size| (0.0..=1.0).contains(size))?;
            let single = bucket.get("ndv").and_then(Json::as_u64) == Some(1);
            Some(JsonBucket { start, before: share, single })
        })
        .collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| (c as char).to_digit(16).map(|d| d as u8);
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hundred() -> Vec<Run<f64>> {
        (0..100).map(|at| Run { value: f64::from(at) / 99.0, rows: 1 }).collect()
    }

    #[test]
    fn bytes_are_those_of_mariadb() {
        // 1000 to 100000 in steps of 1000.
        let single = equal_height(HistogramKind::Single, 8, &hundred());
        assert_eq!(single, [0x1C, 0x38, 0x55, 0x71, 0x8D, 0xAA, 0xC6, 0xE2]);
        let double = equal_height(HistogramKind::Double, 8, &hundred());
        assert_eq!(double, [0xB7, 0x33, 0x6E, 0x67, 0x26, 0x9B, 0xDD, 0xCE]);
        // Three members of an ENUM with 33, 34 and 33 rows.
        let members = [(0.0, 33), (0.5, 34), (1.0, 33)];
        let members = members.map(|(value, rows)| Run { value, rows });
        let double = equal_height(HistogramKind::Double, 8, &members);
        assert_eq!(double, [0, 0, 0xFF, 0x7F, 0xFF, 0x7F, 0xFF, 0xFF]);
    }

    #[test]
    fn an_odd_size_leaves_a_byte_and_no_size_leaves_nothing() {
        assert_eq!(equal_height(HistogramKind::Double, 9, &hundred()).len(), 8);
        assert!(equal_height(HistogramKind::Double, 1, &hundred()).is_empty());
        assert!(equal_height(HistogramKind::Single, 8, &[]).is_empty());
    }

    #[test]
    fn places_are_read_back_and_half_a_bucket_is_refused() {
        let bytes = equal_height(HistogramKind::Double, 254, &hundred());
        let places = places(HistogramKind::Double, &bytes).unwrap();
        assert_eq!(places.len(), 127);
        assert!(places.is_sorted() && places.iter().all(|p| (0.0..=1.0).contains(p)));
        assert!(super::places(HistogramKind::Double, &bytes[..3]).is_none());
    }

    fn bits() -> Vec<Run<Bound>> {
        let rows = |v: u8| if (1..=4).contains(&v) { 4 } else { 3 };
        (0..32).map(|v| Run { value: Bound::Hex(vec![v]), rows: rows(v) }).collect()
    }

    #[test]
    fn a_value_may_fill_one_bucket_and_begin_the_next() {
        let made = json(8, "2026-01-01 00:00:00", "v", &bits());
        assert_eq!(made.buckets, 8);
        let begin = "{\n  \"target_histogram_size\": 8,\n  \"collected_at\": \"2026-01-01 00:00:00\",\n  \
                     \"collected_by\": \"v\",\n  \"histogram_hb\": [\n    {\n      \
                     \"start_hex\": \"00\",\n      \"size\": 0.13,\n      \"ndv\": 4\n    },\n    \
                     {\n      \"start_hex\": \"03\",\n      \"size\": 0.13,\n      \"ndv\": 5\n    },\n";
        assert!(made.text.starts_with(begin), "{}", made.text);
        let buckets = json_buckets(made.text.as_bytes()).unwrap();
        assert_eq!(buckets.len(), 8);
        assert_eq!(buckets[1].start, Bound::Hex(vec![3]));
        assert!(!buckets[1].single);
        assert!((buckets[7].before - 0.91).abs() < 1e-9);
    }

    #[test]
    fn a_frequent_value_has_a_bucket_of_its_own() {
        let text = |t: &str| Bound::Text(t.to_owned());
        let runs = [("b", 33), ("a\u{e}\"", 34), ("c", 33)];
        let runs = runs.map(|(value, rows)| Run { value: text(value), rows });
        let made = json(8, "", "", &runs);
        assert_eq!(made.buckets, 3);
        assert!(made.text.contains("\"start\": \"a\\u000E\\\"\",\n      \"size\": 0.34"));
        assert!(
            made.text.ends_with(
                "\"end\": \"c\",\n      \"size\": 0.33,\n      \"ndv\": 1\n    }\n  ]\n}"
            )
        );
    }

    #[test]
    fn what_is_no_histogram_is_refused() {
        for text in [
            "",
            "{}",
            "[]",
            "{\"histogram_hb\": [{}]}",
            "{\"histogram_hb\": [{\"start_hex\": \"0\", \"size\": 1}]}",
        ] {
            assert!(json_buckets(text.as_bytes()).is_none(), "{text}");
        }
        assert!(json_buckets(b"{\"histogram_hb\": [{\"start\": \"a\", \"size\": 7}]}").is_none());
    }
}
