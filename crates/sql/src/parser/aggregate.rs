//! Aggregates and window functions: DISTINCT, ORDER BY inside the call, OVER after it.
//! Whether a call is allowed at its place is not checked here; the planner knows it.

use super::{PResult, Parser};
use crate::ast::{Expr, ExprKind, FunctionCall, GroupConcat, Over};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    pub(super) fn aggregate_or_window(&mut self, kw: Kw) -> PResult<ExprKind> {
        match kw {
            Kw::COUNT => self.count(),
            Kw::SUM | Kw::MIN | Kw::MAX => self.aggregate(kw.text(), true),
            Kw::STD | Kw::STDDEV | Kw::STDDEV_POP => self.aggregate("std", false),
            Kw::STDDEV_SAMP => self.aggregate("stddev_samp", false),
            Kw::VARIANCE | Kw::VAR_POP => self.aggregate("variance", false),
            Kw::VAR_SAMP => self.aggregate("var_samp", false),
            Kw::BIT_AND | Kw::BIT_OR | Kw::BIT_XOR => self.aggregate(kw.text(), false),
            Kw::GROUP_CONCAT => self.group_concat(),
            Kw::JSON_ARRAYAGG => self.json_arrayagg(),
            Kw::JSON_OBJECTAGG => self.json_objectagg(),
            Kw::CUME_DIST | Kw::DENSE_RANK | Kw::PERCENT_RANK | Kw::RANK => {
                self.window_function(kw.text(), 0, 0)
            }
            Kw::FIRST_VALUE | Kw::NTILE => self.window_function(kw.text(), 1, 1),
            Kw::NTH_VALUE => self.window_function(kw.text(), 2, 2),
            Kw::LAG | Kw::LEAD => self.window_function(kw.text(), 1, 2),
            Kw::MEDIAN => self.median(),
            Kw::PERCENTILE_CONT | Kw::PERCENTILE_DISC => self.percentile(kw),
            _ => Err(self.error()),
        }
    }

    /// `f([DISTINCT|ALL] expr) [OVER ...]`.
    pub(super) fn aggregate(&mut self, name: &str, distinct_allowed: bool) -> PResult<ExprKind> {
        let name = self.keyword_name(name);
        self.expect(T::LParen)?;
        let distinct = distinct_allowed && self.eat_any(&[Kw::DISTINCT, Kw::DISTINCTROW]).is_some();
        self.eat(Kw::ALL);
        let args = vec![self.expr()?];
        self.expect(T::RParen)?;
        let mut call = Box::new(FunctionCall::plain(name, args));
        call.distinct = distinct;
        call.over = self.over_opt()?;
        Ok(ExprKind::Call(call))
    }

    fn count(&mut self) -> PResult<ExprKind> {
        let name = self.keyword_name("count");
        let mut call = Box::new(FunctionCall::plain(name, Vec::new()));
        self.expect(T::LParen)?;
        call.star = self.eat(T::Star);
        if !call.star {
            call.distinct = self.eat_any(&[Kw::DISTINCT, Kw::DISTINCTROW]).is_some();
            if call.distinct {
                call.args = self.list(Self::expr)?;
            } else {
                self.eat(Kw::ALL);
                call.args = vec![self.expr()?];
            }
        }
        self.expect(T::RParen)?;
        call.over = self.over_opt()?;
        Ok(ExprKind::Call(call))
    }

    fn group_concat(&mut self) -> PResult<ExprKind> {
        self.next();
        let call = self.parens(|p| {
            let distinct = p.eat_any(&[Kw::DISTINCT, Kw::DISTINCTROW]).is_some();
            let args = p.list(Self::expr)?;
            let order_by = p.order_by_opt()?;
            let separator = p.eat(Kw::SEPARATOR).then(|| p.string()).transpose()?;
            let limit = p.limit_opt()?;
            Ok(GroupConcat { distinct, args, order_by, separator, limit })
        })?;
        self.refuse_over("GROUP_CONCAT()")?;
        Ok(ExprKind::GroupConcat(call.into()))
    }

    /// Compat: MariaDB's grammar accepts OVER for these functions, its executor refuses it.
    fn refuse_over(&mut self, function: &str) -> PResult<()> {
        match self.at(Kw::OVER) {
            true => {
                let what = format!("{function} aggregate as window function");
                Err(selkie_types::SqlError::not_supported(what))
            }
            false => Ok(()),
        }
    }

    fn json_arrayagg(&mut self) -> PResult<ExprKind> {
        let name = self.keyword_name("json_arrayagg");
        let mut call = Box::new(FunctionCall::plain(name, Vec::new()));
        self.expect(T::LParen)?;
        call.distinct = self.eat_any(&[Kw::DISTINCT, Kw::DISTINCTROW]).is_some();
        call.args = self.list(Self::expr)?;
        call.order_by = self.order_by_opt()?;
        call.limit = self.limit_opt()?;
        self.expect(T::RParen)?;
        self.refuse_over("JSON_ARRAYAGG()")?;
        Ok(ExprKind::Call(call))
    }

    fn json_objectagg(&mut self) -> PResult<ExprKind> {
        let name = self.keyword_name("json_objectagg");
        let args = self.arguments(2, 2)?;
        self.refuse_over("JSON_OBJECTAGG()")?;
        Ok(self.plain_call(name, args))
    }

    /// A function that requires OVER.
    pub(super) fn window_function(
        &mut self,
        name: &str,
        least: usize,
        most: usize,
    ) -> PResult<ExprKind> {
        let name = self.keyword_name(name);
        let args = self.arguments(least, most)?;
        let mut call = Box::new(FunctionCall::plain(name, args));
        call.over = self.over_opt()?;
        if call.over.is_none() {
            return Err(self.error());
        }
        Ok(ExprKind::Call(call))
    }

    /// `LAST_VALUE(a, b)` is an ordinary function of any arguments; with OVER it is a window
    /// function.
    pub(super) fn last_value(&mut self) -> PResult<ExprKind> {
        let name = self.keyword_name("last_value");
        let args = self.arguments(1, usize::MAX)?;
        let mut call = Box::new(FunctionCall::plain(name, args));
        if call.args.len() == 1 {
            call.over = self.over_opt()?;
        }
        Ok(ExprKind::Call(call))
    }

    fn median(&mut self) -> PResult<ExprKind> {
        let name = self.keyword_name("median");
        let args = self.arguments(1, 1)?;
        self.over_partition(name, args, Vec::new())
    }

    /// `PERCENTILE_CONT(fraction) WITHIN GROUP (ORDER BY expr) OVER (...)`.
    fn percentile(&mut self, kw: Kw) -> PResult<ExprKind> {
        let name = self.keyword_name(kw.text());
        let args = self.arguments(1, 1)?;
        self.expect_all(&[Kw::WITHIN, Kw::GROUP])?;
        let order_by = self.parens(|p| {
            p.expect_all(&[Kw::ORDER, Kw::BY])?;
            Ok(vec![p.order_item()?])
        })?;
        self.over_partition(name, args, order_by)
    }

    /// `OVER ([PARTITION BY ..])` of a function that has an order of its own.
    fn over_partition(
        &mut self,
        name: crate::ast::Ident,
        args: Vec<Expr>,
        order_by: Vec<crate::ast::OrderItem>,
    ) -> PResult<ExprKind> {
        let mut call = Box::new(FunctionCall::plain(name, args));
        call.order_by = order_by;
        self.expect(Kw::OVER)?;
        let partition_by = self.parens(Self::window_partition_opt)?;
        let spec = crate::ast::WindowSpec { partition_by, ..Default::default() };
        call.over = Some(Over::Spec(spec).into());
        Ok(ExprKind::Call(call))
    }

    fn over_opt(&mut self) -> PResult<Option<Box<Over>>> {
        if !self.eat(Kw::OVER) {
            return Ok(None);
        }
        let over = match self.at(T::LParen) {
            true => Over::Spec(self.window_spec()?),
            false => Over::Named(self.ident()?),
        };
        Ok(Some(over.into()))
    }
}
