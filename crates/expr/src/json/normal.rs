//! Normal form: equal documents have the same text. Names are sorted, numbers have an exponent.
//! For JSON_NORMALIZE, JSON_EQUALS and JSON_OVERLAPS.

use std::cmp::Ordering;

use selkie_meter::tick;
use selkie_types::stack;

use super::document::Json;
use super::write::write_compact;

/// Appends the normal form of a document.
pub(crate) fn normalize(out: &mut Vec<u8>, json: &Json<'_>) {
    let mut digits = Vec::new();
    collect_numbers(json, &mut digits);
    let mut numbers = digits.iter().map(Vec::as_slice);
    let mut root = with_numbers(json, &mut numbers);
    sort(&mut root);
    write_compact(out, &root);
}

/// The normal forms of all numbers, in document order.
fn collect_numbers(json: &Json<'_>, out: &mut Vec<Vec<u8>>) {
    tick(32);
    stack::ensure();
    if let Json::Number(digits) = json {
        out.push(number(digits));
    }
    json.children().into_iter().for_each(|child| collect_numbers(child, out));
}

/// The document with its numbers replaced, in document order.
fn with_numbers<'a>(json: &Json<'a>, numbers: &mut impl Iterator<Item = &'a [u8]>) -> Json<'a> {
    tick(32);
    stack::ensure();
    match json {
        Json::Number(digits) => Json::Number(numbers.next().unwrap_or(digits)),
        Json::Array(items, _) => {
            Json::array(items.iter().map(|item| with_numbers(item, numbers)).collect())
        }
        Json::Object(members, _) => {
            let members = members.iter().map(|(name, v)| (*name, with_numbers(v, numbers)));
            Json::object(members.collect())
        }
        other => other.clone(),
    }
}

/// A number as one digit, the other digits, and an exponent.
fn number(text: &[u8]) -> Vec<u8> {
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let e = text.iter().position(|b| matches!(b, b'e' | b'E')).unwrap_or(text.len());
    let written = std::str::from_utf8(text.get(e + 1..).unwrap_or_default()).unwrap_or_default();
    let written: i64 = written.parse().unwrap_or(0);
    let (whole, fraction) = match text[..e].iter().position(|b| *b == b'.') {
        Some(point) => (&text[..point], &text[point + 1..e]),
        None => (&text[..e], &[][..]),
    };
    let digits: Vec<u8> = whole.iter().chain(fraction).copied().collect();
    let Some(first) = digits.iter().position(|d| *d != b'0') else { return b"0.0E0".to_vec() };
    let last = digits.iter().rposition(|d| *d != b'0').unwrap_or(first);
    let exponent = written.saturating_add(whole.len() as i64 - 1 - first as i64);
    let mut out = Vec::new();
    if negative {
        out.push(b'-');
    }
    out.extend_from_slice(&[digits[first], b'.']);
    match &digits[first + 1..=last] {
        [] => out.push(b'0'),
        rest => out.extend_from_slice(rest),
    }
    out.extend_from_slice(format!("E{exponent}").as_bytes());
    out
}

fn sort(json: &mut Json<'_>) {
    tick(32);
    stack::ensure();
    match json {
        Json::Array(items, _) => items.iter_mut().for_each(sort),
        Json::Object(members, _) => {
            members.iter_mut().for_each(|(_, value)| sort(value));
            members.sort_by(|a, b| a.0.cmp(b.0).then_with(|| order(&a.1, &b.1)));
        }
        _ => {}
    }
}

/// The order of values that have the same name.
fn order(a: &Json<'_>, b: &Json<'_>) -> Ordering {
    tick(32);
    stack::ensure();
    match (a, b) {
        (Json::Object(x, _), Json::Object(y, _)) => {
            let members =
                x.iter().zip(y).map(|((n, v), (m, w))| n.cmp(m).then_with(|| order(v, w)));
            x.len().cmp(&y.len()).then_with(|| first_difference(members))
        }
        (Json::Array(x, _), Json::Array(y, _)) => {
            let items = x.iter().zip(y).map(|(v, w)| order(v, w));
            x.len().cmp(&y.len()).then_with(|| first_difference(items))
        }
        (Json::String(x), Json::String(y)) => x.cmp(y),
        (Json::Number(x), Json::Number(y)) => {
            let value = |digits: &[u8]| selkie_types::number::parse_f64(digits).value;
            value(x).total_cmp(&value(y))
        }
        (Json::Bool(x), Json::Bool(y)) => y.cmp(x),
        _ => rank(a).cmp(&rank(b)),
    }
}

fn first_difference(mut orders: impl Iterator<Item = Ordering>) -> Ordering {
    orders.find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
}

fn rank(json: &Json<'_>) -> u8 {
    match json {
        Json::Object(..) => 0,
        Json::Array(..) => 1,
        Json::String(_) => 2,
        Json::Number(_) => 3,
        Json::Bool(_) => 4,
        Json::Null => 5,
    }
}

#[cfg(test)]
mod tests {
    fn normal(text: &str) -> String {
        let mut out = Vec::new();
        super::normalize(&mut out, &super::super::parse(text.as_bytes()).unwrap());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers() {
        assert_eq!(
            normal("[100, -12.340e-5, 0e7, -0, 0.00012, 12e400]"),
            "[1.0E2,-1.234E-4,0.0E0,0.0E0,1.2E-4,1.2E401]"
        );
    }

    #[test]
    fn order() {
        assert_eq!(normal("{\"b\": 1, \"a\": [2, 1]}"), "{\"a\":[2.0E0,1.0E0],\"b\":1.0E0}");
        let all = "{\"a\":null,\"a\":1,\"a\":\"x\",\"a\":true,\"a\":[1],\"a\":[],\"a\":{}}";
        let sorted =
            "{\"a\":{},\"a\":[],\"a\":[1.0E0],\"a\":\"x\",\"a\":1.0E0,\"a\":true,\"a\":null}";
        assert_eq!(normal(all), sorted);
    }
}
