//! Dynamic columns: COLUMN_CREATE, COLUMN_ADD, COLUMN_DELETE, COLUMN_GET.
//! COLUMN_DELETE gives the tree of COLUMN_ADD with NULLs; names and values are checked at run time.

use super::{PResult, Parser};
use crate::ast::{CastType, DynamicValue, Expr, ExprKind, Literal};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    /// `COLUMN_CREATE`, `COLUMN_ADD` or `COLUMN_DELETE`, which is the next token.
    pub(super) fn column_add(&mut self, kw: Kw) -> PResult<ExprKind> {
        self.next();
        self.parens(|p| {
            let columns = match kw {
                Kw::COLUMN_CREATE => None,
                _ => {
                    let columns = p.boxed_expr()?;
                    p.expect(T::Comma)?;
                    Some(columns)
                }
            };
            let values = match kw {
                Kw::COLUMN_DELETE => p.list(Self::deleted_value)?,
                _ => p.list(Self::dynamic_value)?,
            };
            Ok(ExprKind::ColumnAdd { columns, values })
        })
    }

    fn dynamic_value(&mut self) -> PResult<DynamicValue> {
        let name = self.expr()?;
        self.expect(T::Comma)?;
        let value = self.expr()?;
        let target = self.eat(Kw::AS).then(|| self.dynamic_type()).transpose()?;
        Ok(DynamicValue { name, value, target })
    }

    /// Type of a dynamic column. Compat: UNSIGNED requires INT after it here.
    fn dynamic_type(&mut self) -> PResult<CastType> {
        if self.at(Kw::UNSIGNED) && self.peek() != T::Word(Kw::INT) {
            self.next();
            return Err(self.error());
        }
        self.cast_type()
    }

    /// Value of a deleted column. Compat: a NULL of an integer type.
    fn deleted_value(&mut self) -> PResult<DynamicValue> {
        let name = self.expr()?;
        let value = Expr { kind: ExprKind::Literal(Literal::Null), span: name.span };
        Ok(DynamicValue { name, value, target: Some(CastType::Signed) })
    }

    /// `COLUMN_GET(columns, name AS type)`; the keyword is the next token.
    pub(super) fn column_get(&mut self) -> PResult<ExprKind> {
        self.next();
        self.parens(|p| {
            let columns = p.boxed_expr()?;
            p.expect(T::Comma)?;
            let name = p.boxed_expr()?;
            p.expect(Kw::AS)?;
            Ok(ExprKind::ColumnGet { columns, name, target: p.cast_type()?.into() })
        })
    }
}
