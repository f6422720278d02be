//! Which collation an operation on strings uses, and which operands it converts for that.
//!
//! Every string operand has a collation and a coercibility; the stronger one wins. The rules are
//! MariaDB's, with its errors 1267, 1270 and 1271.

use selkie_types::charset::Charset;
use selkie_types::error::catalogue::{
    ER_CANT_AGGREGATE_2COLLATIONS, ER_CANT_AGGREGATE_3COLLATIONS, ER_CANT_AGGREGATE_NCOLLATIONS,
};
use selkie_types::{CollationId, SqlError, SqlResult, Value, stack};

use crate::cast;
use crate::context::TypeContext;
use crate::expr::{Expr, ExprKind};
use crate::function::constant_value;

/// How strong a claim an operand has on the collation of an operation; less is stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coercibility {
    /// `COLLATE` was written.
    Explicit,
    /// Two implicit collations met; cannot be compared.
    None,
    /// Columns, variables, routine parameters.
    Implicit,
    /// System constants as `USER()`.
    SysConst,
    /// Literals and what is computed from them.
    Coercible,
    /// Numbers and temporal values.
    Numeric,
    /// NULL.
    Ignorable,
}

impl Coercibility {
    /// The word in error messages.
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

/// A collation with the strength of its claim.
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

    /// The claim of the operation on this and `other`, `None` if they cannot be mixed.
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
        if self.collation.info().is_bin() {
            return Some(self);
        }
        if other.collation.info().is_bin() {
            return Some(other);
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
        // Compat: of two that are both ASCII neither gives way.
        if other.ascii && (a < b || a == b && !self.ascii) {
            return Some(self);
        }
        if self.ascii && (b < a || a == b && !other.ascii) {
            return Some(other);
        }
        None
    }
}

/// Whether a character set is one of Unicode's.
fn is_unicode(charset: Charset) -> bool {
    use Charset::{Ucs2, Utf8mb3, Utf8mb4, Utf16, Utf16le, Utf32};
    matches!(charset, Utf8mb3 | Utf8mb4 | Ucs2 | Utf16 | Utf16le | Utf32)
}

/// Whether `a` is Unicode and may take in `b`. Compat: of two of Unicode's with equal claims, only
/// utf8mb4 takes in another, utf8mb3.
fn includes(a: Claim, b: Claim) -> bool {
    let (x, y) = (a.collation.charset(), b.collation.charset());
    let larger = (x, y) == (Charset::Utf8mb4, Charset::Utf8mb3);
    is_unicode(x)
        && (a.coercibility < b.coercibility
            || a.coercibility == b.coercibility && (!is_unicode(y) || larger))
}

/// The claim of an operation on all `args`, which are strings.
///
/// `compared` refuses a result of coercibility NONE, as every operation that compares does.
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
        // An explicit collation among the operands settles an undecided pair.
        return Err(mix_error(args, operation));
    }
    Ok(claim)
}

/// [`aggregate`], then converts every operand of another charset.
pub fn unify(args: &mut [&mut Expr], operation: &str, compared: bool) -> SqlResult<Claim> {
    let claim = {
        let views: Vec<&Expr> = args.iter().map(|e| &**e).collect();
        aggregate(&views, operation, compared)?
    };
    refuse_loss(&args.iter().map(|e| &**e).collect::<Vec<_>>(), claim.collation, operation)?;
    convert_each(args, claim.collation, operation, |arg| cast::to_charset(arg, claim.collation));
    Ok(claim)
}

/// Converts operands of one operation by `convert`, texts to `collation`. What a parameter is is
/// known when the statement runs: then it is error 1267 if it has characters that `collation` has
/// not.
pub(crate) fn convert_each(
    args: &mut [&mut Expr],
    collation: CollationId,
    operation: &str,
    convert: impl Fn(&mut Expr),
) {
    let charset = collation.charset();
    let may_lose = |e: &Expr| {
        let own = e.ty.collation.charset();
        matches!(e.kind, ExprKind::Parameter(_))
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
        convert(arg);
        if let Some(error) = error {
            cast::refuse_loss(arg, error);
        }
    }
}

/// Error 1267 if an operand has, or can have, characters that `collation` has not.
pub(crate) fn refuse_loss(
    args: &[&Expr],
    collation: CollationId,
    operation: &str,
) -> SqlResult<()> {
    match args.iter().any(|arg| loses(arg, collation.charset())) {
        true => Err(mix_error(args, operation)),
        false => Ok(()),
    }
}

/// Whether a text has characters that `charset` does not have; one that is not known yet, whether
/// it is made of others than ASCII.
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

/// Functions whose text is of ASCII whatever their arguments are.
const ASCII_TEXTS: [&str; 10] =
    ["HEX", "MD5", "SHA", "SHA1", "SHA2", "TO_BASE64", "CHARSET", "COLLATION", "UUID", "JSON_TYPE"];

/// Whether a text is made of a literal that is not all ASCII.
fn has_others_than_ascii(e: &Expr) -> bool {
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
