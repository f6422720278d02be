//! Window specifications and the WINDOW clause.
//! Names of windows are not resolved here; the planner does it.

use super::{PResult, Parser};
use crate::ast::{Frame, FrameBound, FrameExclude, NamedWindow, OrderItem, WindowSpec};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    /// `WINDOW name AS (...), ...`, if present.
    pub(super) fn windows_opt(&mut self) -> PResult<Vec<NamedWindow>> {
        if !self.eat(Kw::WINDOW) {
            return Ok(Vec::new());
        }
        self.list(|p| {
            let name = p.ident()?;
            p.expect(Kw::AS)?;
            Ok(NamedWindow { name, spec: p.window_spec()? })
        })
    }

    /// `([name] [PARTITION BY ..] [ORDER BY ..] [frame])`.
    pub(super) fn window_spec(&mut self) -> PResult<WindowSpec> {
        self.parens(|p| {
            let base = p.ident_opt()?;
            let partition_by = p.window_partition_opt()?;
            let order_by = p.order_by_opt()?;
            Ok(WindowSpec { base, partition_by, order_by, frame: p.frame_opt()? })
        })
    }

    /// `PARTITION BY ...`, if present.
    pub(super) fn window_partition_opt(&mut self) -> PResult<Vec<OrderItem>> {
        if !self.eat(Kw::PARTITION) {
            return Ok(Vec::new());
        }
        self.expect(Kw::BY)?;
        self.order_items()
    }

    fn frame_opt(&mut self) -> PResult<Option<Frame>> {
        let Some(word) = self.eat_any(&[Kw::ROWS, Kw::RANGE]) else { return Ok(None) };
        let rows = word == Kw::ROWS;
        let between = self.eat(Kw::BETWEEN);
        let start = self.frame_bound()?;
        let mut end = FrameBound::CurrentRow;
        if between {
            self.expect(Kw::AND)?;
            end = self.frame_bound()?;
        }
        let exclude =
            if self.eat(Kw::EXCLUDE) { self.frame_exclude()? } else { FrameExclude::NoOthers };
        Ok(Some(Frame { rows, start, end, exclude }))
    }

    fn frame_bound(&mut self) -> PResult<FrameBound> {
        if self.eat2(Kw::CURRENT, Kw::ROW) {
            return Ok(FrameBound::CurrentRow);
        }
        if self.eat(Kw::UNBOUNDED) {
            return Ok(match self.expect_any(&[Kw::PRECEDING, Kw::FOLLOWING])? {
                Kw::PRECEDING => FrameBound::UnboundedPreceding,
                _ => FrameBound::UnboundedFollowing,
            });
        }
        let expr = if self.at_literal() { self.primary()? } else { return Err(self.error()) };
        Ok(match self.expect_any(&[Kw::PRECEDING, Kw::FOLLOWING])? {
            Kw::PRECEDING => FrameBound::Preceding(expr),
            _ => FrameBound::Following(expr),
        })
    }

    /// Whether a literal comes next.
    fn at_literal(&self) -> bool {
        match self.tok.kind {
            T::Int | T::Decimal | T::Float | T::Str => true,
            T::HexNumber | T::HexString | T::BitNumber | T::BitString => true,
            T::NationalStr | T::Introducer | T::NullSign => true,
            T::Word(word) => matches!(
                word,
                Kw::NULL | Kw::TRUE | Kw::FALSE | Kw::DATE | Kw::TIME | Kw::TIMESTAMP
            ),
            _ => false,
        }
    }

    fn frame_exclude(&mut self) -> PResult<FrameExclude> {
        match self.next().kind {
            T::Word(Kw::CURRENT) => self.expect(Kw::ROW).map(|()| FrameExclude::CurrentRow),
            T::Word(Kw::GROUP) => Ok(FrameExclude::Group),
            T::Word(Kw::TIES) => Ok(FrameExclude::Ties),
            T::Word(Kw::NO) => self.expect(Kw::OTHERS).map(|()| FrameExclude::NoOthers),
            _ => Err(self.error()),
        }
    }
}
