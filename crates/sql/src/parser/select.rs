//! One SELECT: options, select list, and the clauses that belong to it alone.
//! ORDER BY and LIMIT belong to the query around it (`query.rs`), as set operations need it.

use super::{PResult, Parser};
use crate::ast::{Expr, ExprKind, Select, SelectItem, SelectOptions};
use crate::lexer::{Kw, T};

/// Options that only the first SELECT of a statement may have.
const STATEMENT_OPTIONS: [Kw; 5] = [
    Kw::HIGH_PRIORITY,
    Kw::SQL_BUFFER_RESULT,
    Kw::SQL_CALC_FOUND_ROWS,
    Kw::SQL_CACHE,
    Kw::SQL_NO_CACHE,
];

impl Parser<'_> {
    pub(super) fn select(&mut self, into: bool) -> PResult<Select> {
        let start = self.next().start;
        let options = self.select_options()?;
        let items = self.select_items()?;
        if into && self.at(Kw::INTO) {
            self.early_into = self.opt_into()?;
        }
        let from = if self.eat(Kw::FROM) { self.tables_clause()? } else { Vec::new() };
        let where_clause = self.where_opt()?;
        let mut group_by = Vec::new();
        let mut rollup = false;
        if self.eat(Kw::GROUP) {
            self.expect(Kw::BY)?;
            group_by = self.order_items()?;
            rollup = self.eat2(Kw::WITH, Kw::ROLLUP);
            if self.at2(Kw::WITH, Kw::CUBE) {
                return Err(selkie_types::SqlError::not_supported("CUBE"));
            }
        }
        let having = self.eat(Kw::HAVING).then(|| self.expr()).transpose()?;
        let windows = self.windows_opt()?;
        let span = self.span_from(start);
        Ok(Select { options, items, from, where_clause, group_by, rollup, having, windows, span })
    }

    /// `WHERE expr`, if present.
    pub(super) fn where_opt(&mut self) -> PResult<Option<Expr>> {
        self.eat(Kw::WHERE).then(|| self.expr()).transpose()
    }

    fn select_options(&mut self) -> PResult<SelectOptions> {
        let leading = std::mem::take(&mut self.leading);
        let mut o = SelectOptions::default();
        let mut all = false;
        loop {
            let T::Word(kw) = self.tok.kind else { return Ok(o) };
            if !leading && STATEMENT_OPTIONS.contains(&kw) {
                let def = &selkie_types::error::catalogue::ER_CANT_USE_OPTION_HERE;
                return self.fail(def, &[&kw.text()]);
            }
            match kw {
                Kw::ALL if !o.distinct => all = true,
                Kw::DISTINCT | Kw::DISTINCTROW if !all => o.distinct = true,
                Kw::UNIQUE if !all && self.is_oracle() => o.distinct = true,
                Kw::STRAIGHT_JOIN => o.straight_join = true,
                Kw::HIGH_PRIORITY => o.high_priority = true,
                Kw::SQL_SMALL_RESULT => o.small_result = true,
                Kw::SQL_BIG_RESULT => o.big_result = true,
                Kw::SQL_BUFFER_RESULT => o.buffer_result = true,
                Kw::SQL_CALC_FOUND_ROWS => o.calc_found_rows = true,
                Kw::SQL_CACHE if o.cache.is_none() => o.cache = Some(true),
                Kw::SQL_NO_CACHE if o.cache.is_none() => o.cache = Some(false),
                Kw::SQL_CACHE | Kw::SQL_NO_CACHE => return self.cache_conflict(o.cache, kw),
                Kw::ALL | Kw::DISTINCT | Kw::DISTINCTROW => {
                    let def = &selkie_types::error::catalogue::ER_WRONG_USAGE;
                    return self.fail(def, &[&"ALL", &"DISTINCT"]);
                }
                _ => return Ok(o),
            }
            self.next();
        }
    }

    fn cache_conflict(&self, before: Option<bool>, kw: Kw) -> PResult<SelectOptions> {
        use selkie_types::error::catalogue::{ER_DUP_ARGUMENT, ER_WRONG_USAGE};
        match (before, kw) {
            // Compat: in this order, whatever was written first.
            (Some(true), Kw::SQL_NO_CACHE) | (Some(false), Kw::SQL_CACHE) => {
                self.fail(&ER_WRONG_USAGE, &[&"SQL_NO_CACHE", &"SQL_CACHE"])
            }
            _ => self.fail(&ER_DUP_ARGUMENT, &[&kw.text()]),
        }
    }

    /// A select list, also that of RETURNING.
    pub(super) fn select_items(&mut self) -> PResult<Vec<SelectItem>> {
        let mut items = Vec::with_capacity(4);
        if self.at(T::Star) {
            let token = self.next();
            let span = crate::ast::Span::new(token.start, token.end);
            items.push(SelectItem::Wildcard { schema: None, table: None, span });
            if !self.eat(T::Comma) {
                return Ok(items);
            }
        }
        loop {
            items.push(self.select_item()?);
            if !self.eat(T::Comma) {
                return Ok(items);
            }
        }
    }

    fn select_item(&mut self) -> PResult<SelectItem> {
        if self.at_wildcard() {
            return self.wildcard();
        }
        let start = self.tok.start;
        let expr = self.expr()?;
        let span = self.span_from(start);
        let alias = match self.tok.kind {
            T::Word(Kw::AS) => {
                self.next();
                Some(self.alias()?)
            }
            T::Str => Some(self.alias()?),
            _ => self.ident_opt()?,
        };
        Ok(SelectItem::Expr { expr, alias, span })
    }

    /// Whether `name.*` or `schema.name.*` comes next.
    fn at_wildcard(&mut self) -> bool {
        if !self.at_ident() || self.peek() != T::Dot {
            return false;
        }
        let mut lexer = self.look_further();
        match lexer.next().kind {
            T::Star => true,
            T::Word(_) | T::Quoted => lexer.next().kind == T::Dot && lexer.next().kind == T::Star,
            _ => false,
        }
    }

    fn wildcard(&mut self) -> PResult<SelectItem> {
        let start = self.tok.start;
        let mut table = self.ident()?;
        let mut schema = None;
        self.expect(T::Dot)?;
        if !self.at(T::Star) {
            schema = Some(std::mem::replace(&mut table, self.ident()?));
            self.expect(T::Dot)?;
        }
        self.expect(T::Star)?;
        Ok(SelectItem::Wildcard { schema, table: Some(table), span: self.span_from(start) })
    }

    /// An expression, or DEFAULT or IGNORE as a value.
    pub(super) fn expr_or_default(&mut self) -> PResult<Expr> {
        if self.at_any(&[Kw::DEFAULT, Kw::IGNORE]) && self.peek() != T::LParen {
            let kind = match self.at(Kw::IGNORE) {
                true => ExprKind::Ignore,
                false => ExprKind::Default(None),
            };
            let start = self.next().start;
            return Ok(Expr { kind, span: self.span_from(start) });
        }
        self.expr()
    }
}
