//! A parser for the SQL expressions of the reference data.
//! It exists because this crate cannot use the planner, which binds expressions in production.

use selkie_expr::{CompareOp, Expr, IntervalUnit, TypeContext, build, cast};
use selkie_types::{CollationId, Decimal, SqlError, SqlResult, SqlType, TypeKind};

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Number(String),
    Text(String),
    Hex(Vec<u8>, bool),
    Symbol(String),
}

struct Parser<'a> {
    tokens: Vec<Token>,
    at: usize,
    types: &'a TypeContext,
}

/// The expression in a text.
pub(crate) fn expression(source: &str, types: &TypeContext) -> SqlResult<Expr> {
    let mut p = Parser { tokens: tokens(source), at: 0, types };
    let e = p.or()?;
    if p.at < p.tokens.len() {
        return Err(SqlError::internal(format_args!("rest: {:?}", &p.tokens[p.at..])));
    }
    Ok(e)
}

fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    let hex = |digits: &str| -> Vec<u8> {
        let digits = if digits.len() % 2 == 1 { format!("0{digits}") } else { digits.into() };
        (0..digits.len() / 2)
            .map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap())
            .collect()
    };
    while at < chars.len() {
        let c = chars[at];
        let run = |from: usize, test: &dyn Fn(char) -> bool| {
            chars[from..].iter().take_while(|c| test(**c)).collect::<String>()
        };
        if c.is_whitespace() {
            at += 1;
        } else if c == '0' && chars.get(at + 1) == Some(&'x') {
            let digits = run(at + 2, &|c| c.is_ascii_hexdigit());
            at += 2 + digits.len();
            out.push(Token::Hex(hex(&digits), true));
        } else if c == 'x' && chars.get(at + 1) == Some(&'\'') {
            let digits = run(at + 2, &|c| c.is_ascii_hexdigit());
            at += 3 + digits.len();
            out.push(Token::Hex(hex(&digits), false));
        } else if c.is_ascii_digit()
            || (c == '.' && chars.get(at + 1).is_some_and(|c| c.is_ascii_digit()))
        {
            let mut text = run(at, &|c| c.is_ascii_digit() || c == '.');
            at += text.len();
            if chars.get(at) == Some(&'e') && chars.get(at + 1).is_some_and(|c| !c.is_alphabetic())
            {
                let signed = matches!(chars[at + 1], '-' | '+');
                let digits = run(at + 1 + usize::from(signed), &|c| c.is_ascii_digit());
                let sign = if signed { chars[at + 1].to_string() } else { String::new() };
                let rest = format!("e{sign}{digits}");
                at += rest.len();
                text += &rest;
            }
            out.push(Token::Number(text));
        } else if c == '\'' || c == '"' {
            let mut text = String::new();
            at += 1;
            while at < chars.len() && chars[at] != c {
                if chars[at] == '\\' {
                    at += 1;
                    match chars[at] {
                        'n' => text.push('\n'),
                        '%' => text.push_str("\\%"),
                        '_' => text.push_str("\\_"),
                        other => text.push(other),
                    }
                } else {
                    text.push(chars[at]);
                }
                at += 1;
            }
            at += 1;
            out.push(Token::Text(text));
        } else if c.is_alphabetic() || c == '_' {
            let word = run(at, &|c| c.is_alphanumeric() || c == '_');
            at += word.chars().count();
            out.push(Token::Word(word.to_ascii_lowercase()));
        } else {
            let three: String = chars[at..].iter().take(3).collect();
            let symbols = ["<=>", "<=", ">=", "<>", "<<", ">>", "||"];
            let symbol = symbols
                .iter()
                .find(|s| three.starts_with(**s))
                .map_or(c.to_string(), |s| s.to_string());
            at += symbol.len();
            out.push(Token::Symbol(symbol));
        }
    }
    out
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn symbol(&mut self, s: &str) -> bool {
        let found = self.peek() == Some(&Token::Symbol(s.into()));
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, w: &str) -> bool {
        let found = self.peek() == Some(&Token::Word(w.into()));
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, s: &str) -> SqlResult<()> {
        if self.symbol(s) || self.word(s) {
            return Ok(());
        }
        Err(SqlError::internal(format_args!("expected {s} before {:?}", self.peek())))
    }

    fn or(&mut self) -> SqlResult<Expr> {
        let mut e = self.and()?;
        while self.word("or") {
            e = build::or(vec![e, self.and()?])?;
        }
        Ok(e)
    }

    fn and(&mut self) -> SqlResult<Expr> {
        let mut e = self.not()?;
        while self.word("and") {
            e = build::and(vec![e, self.not()?])?;
        }
        Ok(e)
    }

    fn not(&mut self) -> SqlResult<Expr> {
        if self.word("not") { build::not(self.not()?) } else { self.predicate() }
    }

    fn predicate(&mut self) -> SqlResult<Expr> {
        let mut e = self.sum()?;
        loop {
            let negated = self.word("not");
            let types = self.types;
            e = if self.word("is") {
                let negated = self.word("not");
                let test = if self.word("true") {
                    build::is_truth(e, true, types)?
                } else {
                    self.expect("null")?;
                    build::is_null(e)?
                };
                if negated { build::not(test)? } else { test }
            } else if self.word("between") {
                let low = self.sum()?;
                self.expect("and")?;
                build::between(e, low, self.sum()?, negated, types)?
            } else if self.word("in") {
                self.expect("(")?;
                let items = self.list()?;
                build::in_list(e, items, negated, types)?
            } else if self.word("like") {
                build::like(e, self.sum()?, None, negated, types)?
            } else if self.word("regexp") {
                build::regexp(e, self.sum()?, negated, types)?
            } else if let Some(op) = self.comparison() {
                build::comparison(op, e, self.sum()?, types)?
            } else {
                return Ok(e);
            };
        }
    }

    fn comparison(&mut self) -> Option<CompareOp> {
        use CompareOp::*;
        let ops = [
            ("<=>", NullSafeEq),
            ("=", Eq),
            ("<>", Ne),
            ("<=", Le),
            (">=", Ge),
            ("<", Lt),
            (">", Gt),
        ];
        ops.into_iter().find(|(s, _)| self.symbol(s)).map(|(_, op)| op)
    }

    fn sum(&mut self) -> SqlResult<Expr> {
        use build::Arithmetic::*;
        let mut e = self.product()?;
        let ops = [
            ("+", Add),
            ("-", Subtract),
            ("|", BitOr),
            ("&", BitAnd),
            ("^", BitXor),
            ("<<", ShiftLeft),
            (">>", ShiftRight),
        ];
        while let Some((_, op)) = ops.into_iter().find(|(s, _)| self.symbol(s)) {
            if matches!(op, Add | Subtract) && self.word("interval") {
                let (amount, unit) = self.interval()?;
                e = build::interval_add(e, amount, unit, op == Subtract, self.types)?;
                continue;
            }
            let right = self.product()?;
            e = build::arithmetic(op, e, right, self.types)?;
        }
        Ok(e)
    }

    fn interval(&mut self) -> SqlResult<(Expr, IntervalUnit)> {
        let amount = self.sum()?;
        Ok((amount, self.unit()?))
    }

    fn unit(&mut self) -> SqlResult<IntervalUnit> {
        let Some(Token::Word(w)) = self.peek().cloned() else {
            return Err(SqlError::internal("unit"));
        };
        self.at += 1;
        IntervalUnit::from_name(&w).ok_or_else(|| SqlError::internal(w))
    }

    fn product(&mut self) -> SqlResult<Expr> {
        use build::Arithmetic::*;
        let mut e = self.unary()?;
        loop {
            let op = if self.symbol("*") {
                Multiply
            } else if self.symbol("/") {
                Divide
            } else if self.symbol("%") {
                Modulo
            } else if self.word("div") {
                IntDivide
            } else {
                return Ok(e);
            };
            e = build::arithmetic(op, e, self.unary()?, self.types)?;
        }
    }

    fn unary(&mut self) -> SqlResult<Expr> {
        if self.symbol("-") {
            return build::negate(self.unary()?, self.types);
        }
        if self.symbol("~") {
            return build::bit_not(self.unary()?, self.types);
        }
        let mut e = self.primary()?;
        while self.word("collate") {
            let Some(Token::Word(w)) = self.peek().cloned() else { break };
            self.at += 1;
            e = build::collate(e, CollationId::from_name(&w).unwrap(), self.types)?;
        }
        Ok(e)
    }

    fn list(&mut self) -> SqlResult<Vec<Expr>> {
        let mut items = Vec::new();
        if self.symbol(")") {
            return Ok(items);
        }
        loop {
            items.push(self.or()?);
            if self.symbol(")") {
                return Ok(items);
            }
            self.expect(",")?;
        }
    }

    fn primary(&mut self) -> SqlResult<Expr> {
        let token = self.peek().cloned().ok_or_else(|| SqlError::internal("end"))?;
        self.at += 1;
        Ok(match token {
            Token::Number(n) => number(&n),
            Token::Text(t) => Expr::string(t.as_bytes(), self.types.collation_connection),
            Token::Hex(bytes, true) => Expr::hex(&bytes),
            Token::Hex(bytes, false) => Expr::string(&bytes, CollationId::BINARY),
            Token::Symbol(s) if s == "(" => {
                let mut items = self.list()?;
                if items.len() == 1 { items.remove(0) } else { Expr::row(items) }
            }
            Token::Word(w) => return self.named(&w),
            other => return Err(SqlError::internal(format_args!("{other:?}"))),
        })
    }

    fn named(&mut self, w: &str) -> SqlResult<Expr> {
        let types = self.types;
        match (w, self.peek()) {
            ("null", _) => return Ok(Expr::null()),
            ("true", _) => return Ok(Expr::boolean(true)),
            ("false", _) => return Ok(Expr::boolean(false)),
            ("binary", _) => {
                let mut ty = SqlType::new(TypeKind::Char, u32::MAX, 0);
                ty.collation = CollationId::BINARY;
                let e = self.unary()?;
                return build::cast(e, &ty, types);
            }
            ("case", _) => return self.case(),
            ("date" | "time" | "timestamp", Some(Token::Text(t))) => {
                let kind = match w {
                    "date" => TypeKind::Date,
                    "time" => TypeKind::Time,
                    _ => TypeKind::DateTime,
                };
                let t = t.clone();
                self.at += 1;
                return cast::literal_temporal(kind, t.as_bytes(), types)
                    .map(|(literal, _)| literal);
            }
            (_, next) if next != Some(&Token::Symbol("(".into())) => {
                if let Some(column) = crate::table::column(w) {
                    return Ok(column);
                }
            }
            _ => {}
        }
        self.expect("(")?;
        match w {
            "cast" => {
                let e = self.or()?;
                self.expect("as")?;
                let ty = self.cast_type()?;
                self.expect(")")?;
                build::cast(e, &ty, types)
            }
            "convert" => {
                let e = self.or()?;
                self.expect("using")?;
                let charset = self.charset();
                self.expect(")")?;
                build::convert_using(e, charset, types)
            }
            "date_add" | "date_sub" | "adddate" | "subdate" => {
                let e = self.or()?;
                self.expect(",")?;
                if !self.word("interval") {
                    let days = self.or()?;
                    self.expect(")")?;
                    return build::function_call(w, vec![e, days], types);
                }
                let (amount, unit) = self.interval()?;
                self.expect(")")?;
                build::interval_add(e, amount, unit, w.contains("sub"), types)
            }
            "timestampadd" | "timestampdiff" => {
                let unit = self.unit()?;
                self.expect(",")?;
                let mut args = self.list()?;
                let (b, a) = (args.pop().unwrap(), args.pop().unwrap());
                if w == "timestampadd" {
                    build::timestampadd(unit, a, b, types)
                } else {
                    build::timestampdiff(unit, a, b, types)
                }
            }
            "extract" => {
                let unit = self.unit()?;
                self.expect("from")?;
                let e = self.or()?;
                self.expect(")")?;
                build::extract(unit, e, types)
            }
            "get_format" => {
                let Some(Token::Word(kind)) = self.peek().cloned() else {
                    return Err(SqlError::internal("kind"));
                };
                self.at += 1;
                self.expect(",")?;
                let e = self.or()?;
                self.expect(")")?;
                build::get_format(&kind.to_ascii_uppercase(), e, types)
            }
            "trim" => self.trim(),
            "char" => {
                let mut args = vec![self.or()?];
                while self.symbol(",") {
                    args.push(self.or()?);
                }
                if self.word("using") {
                    let charset = self.charset();
                    self.expect(")")?;
                    return build::char_using(args, charset, types);
                }
                self.expect(")")?;
                build::function_call("char", args, types)
            }
            _ => {
                let args = self.list()?;
                build::function_call(w, args, types)
            }
        }
    }

    fn trim(&mut self) -> SqlResult<Expr> {
        let sides = [
            ("both", build::TrimSide::Both),
            ("leading", build::TrimSide::Leading),
            ("trailing", build::TrimSide::Trailing),
        ];
        let side =
            sides.into_iter().find(|(w, _)| self.word(w)).map_or(build::TrimSide::Both, |s| s.1);
        let first = self.or()?;
        let (what, e) = if self.word("from") { (Some(first), self.or()?) } else { (None, first) };
        self.expect(")")?;
        build::trim(side, what, e, self.types)
    }

    fn charset(&mut self) -> CollationId {
        let Some(Token::Word(w)) = self.peek().cloned() else { return CollationId::BINARY };
        self.at += 1;
        let found = selkie_types::Charset::ALL.iter().find(|c| c.name() == w);
        found.map_or(CollationId::BINARY, |c| c.default_collation())
    }

    fn case(&mut self) -> SqlResult<Expr> {
        let operand =
            if self.peek() == Some(&Token::Word("when".into())) { None } else { Some(self.or()?) };
        let mut whens = Vec::new();
        while self.word("when") {
            let when = self.or()?;
            self.expect("then")?;
            whens.push((when, self.or()?));
        }
        let otherwise = if self.word("else") { Some(self.or()?) } else { None };
        self.expect("end")?;
        match operand {
            Some(operand) => build::case_simple(operand, whens, otherwise, self.types),
            None => build::case_searched(whens, otherwise, self.types),
        }
    }

    fn cast_type(&mut self) -> SqlResult<SqlType> {
        let Some(Token::Word(w)) = self.peek().cloned() else {
            return Err(SqlError::internal("type"));
        };
        self.at += 1;
        let mut numbers = Vec::new();
        if self.symbol("(") {
            while let Some(Token::Number(n)) = self.peek().cloned() {
                self.at += 1;
                numbers.push(n.parse::<u32>().unwrap());
                self.symbol(",");
            }
            self.expect(")")?;
        }
        let first = numbers.first().copied();
        let fsp = first.unwrap_or(0) as u8;
        Ok(match w.as_str() {
            "signed" => SqlType::bigint(),
            "unsigned" => SqlType::bigint_unsigned(),
            "decimal" => {
                SqlType::decimal(first.unwrap_or(10), numbers.get(1).copied().unwrap_or(0) as u8)
            }
            "double" => SqlType::double(),
            "date" => SqlType::date(),
            "time" => SqlType::time(fsp),
            "datetime" => SqlType::datetime(fsp),
            "char" | "binary" => {
                let mut ty = SqlType::new(TypeKind::Char, first.unwrap_or(u32::MAX), 0);
                ty.collation =
                    if w == "char" { self.types.collation_connection } else { CollationId::BINARY };
                ty
            }
            _ => return Err(SqlError::internal(w)),
        })
    }
}

fn number(text: &str) -> Expr {
    if text.contains('e') {
        return Expr::double(text.parse().unwrap());
    }
    if text.contains('.') {
        return Expr::decimal(Decimal::parse(text.as_bytes()).value);
    }
    text.parse::<u64>()
        .map_or_else(|_| Expr::decimal(Decimal::parse(text.as_bytes()).value), Expr::uint)
}
