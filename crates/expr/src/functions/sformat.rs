//! SFORMAT: values put into a text with replacement fields as in Python and C++ (`{:>8.2f}`).
//! Compat: the field syntax is that of the {fmt} library; an error gives NULL and a warning.

use selkie_types::error::catalogue::WARN_SFORMAT_ERROR;
use selkie_types::{Charset, Column, Physical, SqlResult, Value};

use crate::cast;
use crate::collate;
use crate::expr::Expr;
use crate::function::{Binding, Function, MANY};
use crate::kernel::{BytesOut, Frame};

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[Function::new("SFORMAT", 1, MANY, bind)];

fn bind(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.text(0);
    let texts: Vec<&Expr> = b.args.iter().filter(|e| e.ty.is_string()).collect();
    let collation = collate::aggregate(&texts, "sformat", false)?.collation;
    for at in 0..b.len() {
        cast::local(&mut b.args[at]);
        match b.args[at].ty.physical() {
            Physical::Int | Physical::UInt | Physical::Double => {}
            Physical::Decimal => b.double(at),
            _ => b.utf8_text(at),
        }
    }
    b.collation = collation;
    let ty = b.string_type(u32::MAX.into());
    b.maybe(ty, kernel)
}

fn kernel(frame: &Frame<'_>) -> SqlResult<Column> {
    let charset = frame.ty.collation.charset();
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        if frame.any_null(row) {
            out.push(None);
            continue;
        }
        let args: Vec<Arg> = (1..frame.args.len()).map(|at| argument(frame, at, row)).collect();
        let format = String::from_utf8_lossy(frame.bytes(0).value(row));
        match (Formatter { args: &args, next: Some(0), rest: &format }).run() {
            Ok(text) => {
                let text = Charset::Utf8mb4.convert(text.as_bytes(), charset).0;
                out.push(Some(&text).filter(|t| !frame.too_long(t.len())).map(|t| &**t));
            }
            Err(problem) => {
                frame.ctx.warn(&WARN_SFORMAT_ERROR, &[&problem]);
                out.push(None);
            }
        }
    }
    Ok(out.finish())
}

fn argument(frame: &Frame<'_>, at: usize, row: usize) -> Arg {
    match frame.args[at].value(row) {
        Value::Int(v) => Arg::Int(v.into()),
        Value::UInt(v) => Arg::Int(v.into()),
        Value::Double(v) => Arg::Double(v),
        Value::Bytes(v) => Arg::Text(String::from_utf8_lossy(&v).into_owned()),
        _ => Arg::Text(String::new()),
    }
}

/// An argument to write.
#[derive(Debug)]
enum Arg {
    Int(i128),
    Double(f64),
    Text(String),
}

type Problem = &'static str;

const BAD_FORMAT: Problem = "invalid format string";
const NO_ARGUMENT: Problem = "argument not found";
const BAD_TYPE: Problem = "invalid type specifier";

/// Format of a field.
#[derive(Default)]
struct Spec {
    fill: Option<char>,
    align: Option<char>,
    sign: Option<char>,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    kind: Option<char>,
}

struct Formatter<'a> {
    args: &'a [Arg],
    /// The argument of the next field without a number; `None` once a field has a number.
    next: Option<usize>,
    rest: &'a str,
}

impl Formatter<'_> {
    fn run(mut self) -> Result<String, Problem> {
        let mut out = String::new();
        while let Some(c) = self.take() {
            match c {
                '{' if self.eat('{') => out.push('{'),
                '}' if self.eat('}') => out.push('}'),
                '}' => return Err("unmatched '}' in format string"),
                '{' => self.field(&mut out)?,
                other => out.push(other),
            }
        }
        Ok(out)
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.take();
        }
        found
    }

    fn number(&mut self) -> Result<Option<usize>, Problem> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Ok(None);
        }
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest;
        number.parse::<i32>().map(|n| Some(n as usize)).map_err(|_| "number is too big")
    }

    /// The argument of a field: by its number, or the next one.
    fn argument(&mut self) -> Result<usize, Problem> {
        let at = match (self.number()?, self.next) {
            (Some(at), None | Some(0)) => {
                self.next = None;
                at
            }
            (Some(_), Some(_)) => {
                return Err("cannot switch from automatic to manual argument indexing");
            }
            (None, Some(at)) => {
                self.next = Some(at + 1);
                at
            }
            (None, None) => {
                return Err("cannot switch from manual to automatic argument indexing");
            }
        };
        if at < self.args.len() { Ok(at) } else { Err(NO_ARGUMENT) }
    }

    fn field(&mut self, out: &mut String) -> Result<(), Problem> {
        if self.rest.is_empty() {
            return Err(BAD_FORMAT);
        }
        let at = self.argument()?;
        let spec = if self.eat(':') { self.spec()? } else { Spec::default() };
        if !self.eat('}') {
            return Err(if self.rest.is_empty() { BAD_FORMAT } else { BAD_TYPE });
        }
        spec.write(&self.args[at], out)
    }

    fn spec(&mut self) -> Result<Spec, Problem> {
        let mut spec = Spec::default();
        let mut chars = self.rest.chars();
        let (first, second) = (chars.next(), chars.next());
        let is_align = |c: Option<char>| matches!(c, Some('<' | '>' | '^'));
        if is_align(second) && first != Some('{') {
            (spec.fill, spec.align) = (self.take(), self.take());
        } else if is_align(first) {
            spec.align = self.take();
        }
        if matches!(self.peek(), Some('+' | '-' | ' ')) {
            spec.sign = self.take();
        }
        spec.alternate = self.eat('#');
        spec.zero = self.eat('0');
        spec.width = self.count()?.unwrap_or(0);
        if self.eat('.') {
            spec.precision = Some(self.count()?.ok_or("missing precision specifier")?);
        }
        if self.peek().is_some_and(|c| c != '}') {
            spec.kind = self.take();
        }
        Ok(spec)
    }

    /// A number that is written, or the value of an argument (`{}`).
    fn count(&mut self) -> Result<Option<usize>, Problem> {
        if !self.eat('{') {
            return self.number();
        }
        let at = self.argument()?;
        if !self.eat('}') {
            return Err(BAD_FORMAT);
        }
        match self.args[at] {
            Arg::Int(n) => usize::try_from(n)
                .ok()
                .filter(|n| *n <= i32::MAX as usize)
                .map(Some)
                .ok_or("negative width"),
            _ => Err("width is not integer"),
        }
    }
}

impl Spec {
    fn write(&self, arg: &Arg, out: &mut String) -> Result<(), Problem> {
        match arg {
            Arg::Int(v) => self.integer(*v, out),
            Arg::Double(v) => self.double(*v, out),
            Arg::Text(text) => {
                if self.kind.is_some_and(|k| k != 's') {
                    return Err(BAD_TYPE);
                }
                if self.sign.is_some() || self.alternate || self.zero {
                    return Err("format specifier requires numeric argument");
                }
                let cut: String = match self.precision {
                    Some(n) => text.chars().take(n).collect(),
                    None => text.clone(),
                };
                self.padded("", &cut, '<', out);
                Ok(())
            }
        }
    }

    fn sign_of(&self, negative: bool) -> &'static str {
        match (negative, self.sign) {
            (true, _) => "-",
            (false, Some('+')) => "+",
            (false, Some(' ')) => " ",
            _ => "",
        }
    }

    fn integer(&self, v: i128, out: &mut String) -> Result<(), Problem> {
        if self.precision.is_some() {
            return Err("precision not allowed for this argument type");
        }
        let size = v.unsigned_abs();
        let (prefix, digits) = match self.kind {
            None | Some('d') => ("", size.to_string()),
            Some('x') => ("0x", format!("{size:x}")),
            Some('X') => ("0X", format!("{size:X}")),
            Some('o') => ("0", format!("{size:o}")),
            Some('b') => ("0b", format!("{size:b}")),
            Some('B') => ("0B", format!("{size:b}")),
            Some('c') => {
                let c = u32::try_from(v).ok().and_then(char::from_u32).ok_or(BAD_TYPE)?;
                self.padded("", &c.to_string(), '<', out);
                return Ok(());
            }
            Some(_) => return Err(BAD_TYPE),
        };
        let prefix = if self.alternate { prefix } else { "" };
        self.padded(&format!("{}{prefix}", self.sign_of(v < 0)), &digits, '>', out);
        Ok(())
    }

    fn double(&self, v: f64, out: &mut String) -> Result<(), Problem> {
        let size = v.abs();
        let text = match (self.kind, self.precision) {
            (None, None) => shortest(size),
            (Some('f' | 'F'), n) => format!("{size:.*}", n.unwrap_or(6)),
            (Some('e'), n) => exponent(size, n.unwrap_or(6)),
            (Some('E'), n) => exponent(size, n.unwrap_or(6)).to_uppercase(),
            (Some('%'), n) => format!("{:.*}%", n.unwrap_or(6), size * 100.0),
            (None | Some('g'), n) => general(size, n.unwrap_or(6)),
            (Some('G'), n) => general(size, n.unwrap_or(6)).to_uppercase(),
            _ => return Err(BAD_TYPE),
        };
        self.padded(self.sign_of(v.is_sign_negative()), &text, '>', out);
        Ok(())
    }

    fn padded(&self, prefix: &str, text: &str, align: char, out: &mut String) {
        let missing = self.width.saturating_sub(prefix.chars().count() + text.chars().count());
        if self.zero && self.align.is_none() {
            out.push_str(prefix);
            out.extend(std::iter::repeat_n('0', missing));
            out.push_str(text);
            return;
        }
        let before = match self.align.unwrap_or(align) {
            '<' => 0,
            '>' => missing,
            _ => missing / 2,
        };
        let fill = self.fill.unwrap_or(' ');
        out.extend(std::iter::repeat_n(fill, before));
        out.push_str(prefix);
        out.push_str(text);
        out.extend(std::iter::repeat_n(fill, missing - before));
    }
}

/// Digits, then an exponent of at least two digits.
fn exponent(v: f64, digits: usize) -> String {
    let text = format!("{v:.digits$e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    format!("{digits}e{}{:02}", if power < 0 { '-' } else { '+' }, power.abs())
}

/// The decimal exponent of a value that is written with `digits` significant digits.
fn magnitude(v: f64, digits: usize) -> i32 {
    let text = format!("{v:.*e}", digits.max(1) - 1);
    text.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0)
}

/// `digits` significant digits without trailing zeros.
fn general(v: f64, digits: usize) -> String {
    let digits = digits.max(1);
    let power = magnitude(v, digits);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if power < -4 || power >= digits as i32 {
        let text = exponent(v, digits - 1);
        let (mantissa, power) = text.split_once('e').unwrap_or((&text, "+00"));
        return format!("{}e{power}", trimmed(mantissa));
    }
    trimmed(&format!("{v:.*}", (digits as i32 - 1 - power).max(0) as usize))
}

/// The fewest digits that identify the value.
fn shortest(v: f64) -> String {
    let text = format!("{v:e}");
    let power: i32 = text.split_once('e').and_then(|(_, p)| p.parse().ok()).unwrap_or(0);
    if v == 0.0 || (-4..16).contains(&power) {
        return format!("{v}");
    }
    let digits = text.split_once('e').map_or(0, |(d, _)| d.len().saturating_sub(2));
    exponent(v, digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(text: &str, args: &[Arg]) -> Result<String, Problem> {
        Formatter { args, next: Some(0), rest: text }.run()
    }

    #[test]
    fn fields() {
        let args = [Arg::Int(42), Arg::Double(3.25), Arg::Text("ab".into())];
        assert_eq!(format("{} {} {}", &args).unwrap(), "42 3.25 ab");
        assert_eq!(
            format("{2:*^6}|{0:#06x}|{1:8.2f}|{1:e}", &args).unwrap(),
            "**ab**|0x002a|    3.25|3.250000e+00"
        );
        assert_eq!(format("{{}} {1:.{0}}", &[Arg::Int(2), Arg::Double(2.55)]).unwrap(), "{} 2.5");
        assert_eq!(format("{", &args), Err(BAD_FORMAT));
        assert_eq!(format("{7}", &args), Err(NO_ARGUMENT));
        assert_eq!(format("{:s}", &args), Err(BAD_TYPE));
        assert_eq!(format("{}", &[Arg::Double(1e300)]).unwrap(), "1e+300");
    }
}
