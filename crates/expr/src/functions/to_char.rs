//! TO_CHAR: dates and times in the formats of Oracle.
//! An unknown word in a constant format is error 3047 when the call is bound.

use selkie_types::error::catalogue::ER_STD_INVALID_ARGUMENT;
use selkie_types::temporal::TimeNames;
use selkie_types::{Charset, Column, DateTime, SqlError, SqlResult};

use crate::expr::Expr;
use crate::function::{Binding, Function};
use crate::kernel::{BytesOut, Frame};

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[Function::new("TO_CHAR", 1, 2, bind)];

/// Format used if none is given.
const DEFAULT_FORMAT: &[u8] = b"YYYY-MM-DD HH24:MI:SS";

fn invalid(what: &str) -> SqlError {
    SqlError::new(&ER_STD_INVALID_ARGUMENT, &[&what, &"to_char"])
}

fn bind(mut b: Binding<'_>) -> SqlResult<Expr> {
    let ty = &b.args[0].ty;
    if !(ty.is_temporal() || ty.is_string() || ty.kind == selkie_types::TypeKind::Null) {
        return Err(invalid(
            "data type of first argument must be type date/datetime/time or string",
        ));
    }
    if b.len() == 1 {
        b.args.push(Expr::string(DEFAULT_FORMAT, b.types.collation_connection));
    }
    b.datetime(0);
    b.utf8_text(1);
    b.connection_collation();
    let length = match b.constant(1) {
        Some(selkie_types::Value::Bytes(format)) => {
            match parse(&String::from_utf8_lossy(&format)) {
                Ok(parts) => parts.iter().map(Part::length).sum(),
                Err(rest) => return Err(unknown(&rest)),
            }
        }
        _ => u64::from(b.args[1].ty.length) * 10,
    };
    let ty = b.string_type(length);
    b.maybe(ty, kernel)
}

/// Error for an invalid format; it shows the start of the part that is not understood.
fn unknown(rest: &str) -> SqlError {
    let shown: String = rest.chars().take(8).collect();
    invalid(&format!("date format not recognized at {shown}"))
}

fn kernel(frame: &Frame<'_>) -> SqlResult<Column> {
    let (values, formats) = (frame.view::<DateTime>(0), frame.bytes(1));
    let names = &frame.ctx.types.time_locale.times;
    let charset = frame.ty.collation.charset();
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        let (Some(value), Some(format)) = (values.get(row), formats.get(row)) else {
            out.push(None);
            continue;
        };
        let parts = parse(&String::from_utf8_lossy(format)).map_err(|rest| unknown(&rest))?;
        let mut text = String::new();
        parts.iter().for_each(|part| part.write(value, names, &mut text));
        out.push(Some(&Charset::Utf8mb4.convert(text.as_bytes(), charset).0));
    }
    Ok(out.finish())
}

/// A part of a format.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    /// The last digits of the year, as many as given.
    Year(usize),
    Month,
    MonthName,
    MonthShort,
    Day,
    DayName,
    DayShort,
    Hour12,
    Hour24,
    Minute,
    Second,
    /// AM or PM; true with points.
    Half(bool),
    /// AD; true with points.
    Era(bool),
}

/// Words of formats. Of two words with the same start, the longer comes first.
const WORDS: &[(&str, Part)] = &[
    ("YYYY", Part::Year(4)),
    ("YYY", Part::Year(3)),
    ("YY", Part::Year(2)),
    ("Y", Part::Year(1)),
    ("RRRR", Part::Year(4)),
    ("RR", Part::Year(2)),
    ("MONTH", Part::MonthName),
    ("MON", Part::MonthShort),
    ("MM", Part::Month),
    ("MI", Part::Minute),
    ("DAY", Part::DayName),
    ("DY", Part::DayShort),
    ("DD", Part::Day),
    ("HH24", Part::Hour24),
    ("HH12", Part::Hour12),
    ("HH", Part::Hour12),
    ("SS", Part::Second),
    ("A.M.", Part::Half(true)),
    ("P.M.", Part::Half(true)),
    ("AM", Part::Half(false)),
    ("PM", Part::Half(false)),
    ("A.D.", Part::Era(true)),
    ("B.C.", Part::Era(true)),
    ("AD", Part::Era(false)),
    ("BC", Part::Era(false)),
];

/// The parts of a format; the part that is not understood as an error.
fn parse(format: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = format;
    while let Some(c) = rest.chars().next() {
        if c == '"' {
            let inside = &rest[1..];
            let end = inside.find('"').ok_or_else(|| rest.to_owned())?;
            parts.push(Part::Text(inside[..end].to_owned()));
            rest = &inside[end + 1..];
            continue;
        }
        if !c.is_alphanumeric() {
            parts.push(Part::Text(c.to_string()));
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let is_next = |word: &str| {
            rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
        };
        let (word, part) =
            WORDS.iter().find(|(word, _)| is_next(word)).ok_or_else(|| rest.to_owned())?;
        parts.push(part.clone());
        rest = &rest[word.len()..];
    }
    Ok(parts)
}

impl Part {
    fn length(&self) -> u64 {
        match self {
            Self::Text(text) => text.chars().count() as u64,
            Self::Year(n) => *n as u64,
            Self::MonthName | Self::DayName => 9,
            Self::MonthShort | Self::DayShort => 3,
            Self::Half(true) | Self::Era(true) => 4,
            _ => 2,
        }
    }

    /// Compat: names are padded to the longest name; an invalid month is `00`.
    fn write(&self, v: DateTime, names: &TimeNames, out: &mut String) {
        let month = (v.date().month() as usize).checked_sub(1);
        let weekday = v.date().weekday() as usize;
        let name = |list: &[&str], at: usize| {
            let width = list.iter().map(|n| n.chars().count()).max().unwrap_or(0);
            format!("{:width$}", list[at])
        };
        let text = match self {
            Self::Text(text) => text.clone(),
            Self::Year(n) => format!("{:0n$}", v.date().year() as usize % 10usize.pow(*n as u32)),
            Self::Month => format!("{:02}", v.date().month()),
            Self::MonthName => month.map_or("00".into(), |at| name(&names.months, at)),
            Self::MonthShort => month.map_or("00".into(), |at| names.months_short[at].into()),
            Self::Day => format!("{:02}", v.date().day()),
            Self::DayName => name(&names.days, weekday),
            Self::DayShort => names.days_short[weekday].into(),
            Self::Hour12 => format!("{:02}", (v.hour() + 11) % 12 + 1),
            Self::Hour24 => format!("{:02}", v.hour()),
            Self::Minute => format!("{:02}", v.minute()),
            Self::Second => format!("{:02}", v.second()),
            Self::Half(points) => {
                let text = if v.hour() < 12 { "A.M." } else { "P.M." };
                if *points { text.into() } else { text.replace('.', "") }
            }
            Self::Era(points) => if *points { "A.D." } else { "AD" }.into(),
        };
        out.push_str(&text);
    }
}
