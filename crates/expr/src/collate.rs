//! The collation of an operation on strings, and the conversion of its operands to it.
//!
//! Every string operand has a collation and a coercibility; the stronger claim wins. The rules and
//! the errors 1267, 1270 and 1271 are MariaDB's.

use selkie_types::charset::Charset;
use selkie_types::error::catalogue::{
    ER_CANT_AGGREGATE_2COLLATIONS, ER_CANT_AGGREGATE_3COLLATIONS, ER_CANT_AGGREGATE_NCOLLATIONS,
    ER_INVALID_CHARACTER_STRING,
};
use selkie_types::{CollationId, SqlError, SqlResult, Value, stack};

use crate::cast;
use crate::context::TypeContext;
use crate::expr::{Expr, ExprKind};
use crate::function::constant_value;

/// Strength of an operand's claim on the collation of an operation; a lesser value is stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coercibility {
    /// `COLLATE` was written.
    Explicit,
    /// Result of two different implicit collations; must not be compared.
    None,
    /// Columns, variables, routine parameters.
    Implicit,
    /// System constants such as `USER()`.
    SysConst,
    /// Literals and values computed from them.
    Coercible,
    /// Numbers and temporal values.
    Numeric,
    /// NULL.
    Ignorable,
}

impl Coercibility {
    /// The name in error messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Explicit => "EXPLICIT",
            Self::None => "NONE",
            Self::Implicit => "IMPLICIT",
            Self::SysConst => "SYSCONST",
            Self::Coercible => "COERCIBLE",
            Self::Numeric => "NUMERIC",
            Self::Ignorable => "IGNORABLE",
        }
    }
}

/// A collation with the strength of the claim on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claim {
    /// The collation.
    pub collation: CollationId,
    /// The strength.
    pub coercibility: Coercibility,
    /// Whether all characters are ASCII.
    pub ascii: bool,
}

impl Claim {
    /// The claim of an operand that was converted to a string.
    pub fn of(e: &Expr) -> Self {
        let ascii = match &e.kind {
            ExprKind::Literal(Value::Bytes(b)) => b.is_ascii(),
            _ => {
                e.coercibility >= Coercibility::Numeric
                    || e.ty.collation.charset() == Charset::Ascii
            }
        };
        Self { collation: e.ty.collation, coercibility: e.coercibility, ascii }
    }

    /// The claim of an operation on `self` and `other`; `None` if they cannot be mixed.
    fn meet(self, other: Self) -> Option<Self> {
        let ascii = self.ascii && other.ascii;
        let winner = if self.collation.charset() == other.collation.charset() {
            self.meet_same_charset(other)?
        } else {
            self.meet_other_charset(other)?
        };
        Some(Self { ascii, ..winner })
    }

    fn meet_same_charset(self, other: Self) -> Option<Self> {
        if self.coercibility != other.coercibility {
            let left = self.coercibility < other.coercibility;
            return Some(if left { self } else { other });
        }
        if self.collation == other.collation {
            return Some(self);
        }
        if self.coercibility == Coercibility::Explicit {
            return None;
        }
        match (self.collation.info().is_bin(), other.collation.info().is_bin()) {
            // Compat: they differ in the spaces at the end, and neither gives way.
            (true, true) => return None,
            (true, false) => return Some(self),
            (false, true) => return Some(other),
            (false, false) => {}
        }
        let collation = crate::text::binary_collation(self.collation.charset());
        Some(Self { collation, coercibility: Coercibility::None, ..self })
    }

    fn meet_other_charset(self, other: Self) -> Option<Self> {
        let (a, b) = (self.coercibility, other.coercibility);
        if self.collation.is_binary() || other.collation.is_binary() {
            let (binary, text) =
                if self.collation.is_binary() { (self, other) } else { (other, self) };
            let wins = binary.coercibility <= text.coercibility;
            return Some(if wins { binary } else { text });
        }
        if includes(self, other) {
            return Some(self);
        }
        if includes(other, self) {
            return Some(other);
        }
        if a < b && (b >= Coercibility::SysConst || other.ascii) {
            return Some(self);
        }
        if b < a && (a >= Coercibility::SysConst || self.ascii) {
            return Some(other);
        }
        // Compat: if both are ASCII with equal claims, neither gives way.
        if other.ascii && (a < b || a == b && !self.ascii) {
            return Some(self);
        }
        if self.ascii && (b < a || a == b && !other.ascii) {
            return Some(other);
        }
        None
    }
}

/// Whether this is a character set of Unicode.
fn is_unicode(charset: Charset) -> bool {
    use Charset::{Ucs2, Utf8mb3, Utf8mb4, Utf16, Utf16le, Utf32};
    matches!(charset, Utf8mb3 | Utf8mb4 | Ucs2 | Utf16 | Utf16le | Utf32)
}

/// Whether `a` is Unicode and `b` can be converted to it. Compat: of two Unicode sets with equal
/// claims, only utf8mb4 includes another, namely utf8mb3.
fn includes(a: Claim, b: Claim) -> bool {
    let (x, y) = (a.collation.charset(), b.collation.charset());
    let larger = (x, y) == (Charset::Utf8mb4, Charset::Utf8mb3);
    is_unicode(x)
        && (a.coercibility < b.coercibility
            || a.coercibility == b.coercibility && (!is_unicode(y) || larger))
}

/// The claim of an operation on all `args`, which are strings.
///
/// With `compared`, a result of coercibility NONE is an error, as in every operation that compares.
pub fn aggregate(args: &[&Expr], operation: &str, compared: bool) -> SqlResult<Claim> {
    let mut claims = args.iter().map(|e| Claim::of(e));
    let Some(mut claim) = claims.next() else {
        return Ok(Claim {
            collation: CollationId::BINARY,
            coercibility: Coercibility::Coercible,
            ascii: true,
        });
    };
    for next in claims {
        claim = claim.meet(next).ok_or_else(|| mix_error(args, operation))?;
    }
    if compared && claim.coercibility == Coercibility::None {
        // An explicit collation among the operands would have decided between the two.
        return Err(mix_error(args, operation));
    }
    Ok(claim)
}

/// Like [`aggregate`]; also converts every operand of another charset.
pub fn unify(args: &mut [&mut Expr], operation: &str, compared: bool) -> SqlResult<Claim> {
    let claim = {
        let views: Vec<&Expr> = args.iter().map(|e| &**e).collect();
        aggregate(&views, operation, compared)?
    };
    refuse_loss(&args.iter().map(|e| &**e).collect::<Vec<_>>(), claim.collation, operation)?;
    convert_each(args, claim.collation, operation, |arg| cast::to_charset(arg, claim.collation));
    Ok(claim)
}

/// Converts the operands of one operation with `convert`, texts to `collation`. The value of a
/// parameter is known only when the statement runs: error 1267 is raised then, if it has characters
/// outside `collation`.
pub(crate) fn convert_each(
    args: &mut [&mut Expr],
    collation: CollationId,
    operation: &str,
    convert: impl Fn(&mut Expr),
) {
    let charset = collation.charset();
    // A value that is a literal elsewhere is known only when it comes.
    let is_far_literal = |e: &Expr| {
        let is_of_query = matches!(e.kind, ExprKind::Column(_) | ExprKind::Subquery(_));
        is_of_query && matches!(e.coercibility, Coercibility::Coercible | Coercibility::SysConst)
    };
    let may_lose = |e: &Expr| {
        let own = e.ty.collation.charset();
        (matches!(e.kind, ExprKind::Parameter(_)) || is_far_literal(e))
            && own != charset
            && !is_unicode(charset)
            && ![own, charset].contains(&Charset::Binary)
    };
    let error = args.iter().any(|e| may_lose(e)).then(|| {
        let views: Vec<&Expr> = args.iter().map(|e| &**e).collect();
        mix_error(&views, operation)
    });
    for arg in args {
        let error = error.as_ref().filter(|_| may_lose(arg));
        let is_bytes = matches!(arg.kind, ExprKind::Parameter(_)) && are_bytes_as(arg, charset);
        convert(arg);
        if let Some(error) = error {
            cast::refuse_loss(arg, error);
        } else if is_bytes {
            cast::refuse_invalid(arg);
        }
    }
}

/// Whether a value is bytes that are to be text of a character set in which not all bytes are.
fn are_bytes_as(e: &Expr, charset: Charset) -> bool {
    let own = e.ty.collation.charset();
    let are_bytes = e.ty.is_string() && own == Charset::Binary;
    are_bytes && charset != Charset::Binary && charset.max_len() > 1
}

/// Error 1300 about bytes that are no text of `charset`.
pub(crate) fn invalid_bytes(bytes: &[u8], charset: Charset) -> Option<SqlError> {
    let good = charset.well_formed_len(bytes);
    let bad = bytes.get(good..).filter(|bad| !bad.is_empty())?;
    let shown: String = bad.iter().take(3).map(|b| format!("{b:02X}")).collect();
    Some(SqlError::new(&ER_INVALID_CHARACTER_STRING, &[&charset.name(), &shown]))
}

/// The error about a literal of bytes that is no text of `charset`. The value of a function of
/// literals can be NULL, and is none.
fn invalid_literal(e: &Expr, charset: Charset) -> Option<SqlError> {
    match &e.kind {
        ExprKind::Literal(Value::Bytes(bytes)) if !e.nullable && are_bytes_as(e, charset) => {
            invalid_bytes(bytes, charset)
        }
        _ => None,
    }
}

/// Error 1267 if an operand has, or can have, characters outside `collation`, and 1300 before it if
/// one has bytes that are no characters.
pub(crate) fn refuse_loss(
    args: &[&Expr],
    collation: CollationId,
    operation: &str,
) -> SqlResult<()> {
    let charset = collation.charset();
    if let Some(error) = args.iter().find_map(|arg| invalid_literal(arg, charset)) {
        return Err(error.before(mix_error(args, operation)));
    }
    match args.iter().any(|arg| loses(arg, collation.charset())) {
        true => Err(mix_error(args, operation)),
        false => Ok(()),
    }
}

/// Whether a text has characters outside `charset`. For a text that is not yet known: whether it is
/// made of non-ASCII literals.
fn loses(e: &Expr, charset: Charset) -> bool {
    let own = e.ty.collation.charset();
    if own == charset || [own, charset].contains(&Charset::Binary) {
        return false;
    }
    match constant_value(e, &TypeContext::default()) {
        Some(Value::Bytes(text)) => !text.is_ascii() && own.convert(&text, charset).1 > 0,
        Some(_) => false,
        None => !is_unicode(charset) && has_others_than_ascii(e),
    }
}

/// Functions whose text is ASCII for any arguments.
const ASCII_TEXTS: [&str; 10] =
    ["HEX", "MD5", "SHA", "SHA1", "SHA2", "TO_BASE64", "CHARSET", "COLLATION", "UUID", "JSON_TYPE"];

/// Whether a text is made of a literal that is not ASCII.
pub(crate) fn has_others_than_ascii(e: &Expr) -> bool {
    stack::ensure();
    if !e.ty.is_string() || e.ty.collation.is_binary() {
        return false;
    }
    match &e.kind {
        ExprKind::Literal(Value::Bytes(text)) => !text.is_ascii(),
        ExprKind::Call(call) if ASCII_TEXTS.contains(&call.function.name()) => false,
        ExprKind::Call(call) => call.args.iter().any(has_others_than_ascii),
        ExprKind::Coalesce(parts) => parts.iter().any(has_others_than_ascii),
        ExprKind::Case(case) => {
            let results = case.whens.iter().map(|(_, then)| then).chain(&case.otherwise);
            results.into_iter().any(has_others_than_ascii)
        }
        ExprKind::Hold(hold) => has_others_than_ascii(&hold.body),
        ExprKind::Held(held) => held.has_others_than_ascii,
        _ => false,
    }
}

fn mix_error(args: &[&Expr], operation: &str) -> SqlError {
    let part = |e: &Expr| (e.ty.collation.name(), e.coercibility.name());
    match args {
        [a, b] => {
            let ((ca, da), (cb, db)) = (part(a), part(b));
            SqlError::new(&ER_CANT_AGGREGATE_2COLLATIONS, &[&ca, &da, &cb, &db, &operation])
        }
        [a, b, c] => {
            let ((ca, da), (cb, db), (cc, dc)) = (part(a), part(b), part(c));
            let args: [&dyn std::fmt::Display; 7] = [&ca, &da, &cb, &db, &cc, &dc, &operation];
            SqlError::new(&ER_CANT_AGGREGATE_3COLLATIONS, &args)
        }
        _ => SqlError::new(&ER_CANT_AGGREGATE_NCOLLATIONS, &[&operation]),
    }
}
