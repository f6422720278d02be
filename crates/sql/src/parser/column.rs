//! Column definitions, with the check constraints and references that are part of them.
//! Attributes may come in any order unless MariaDB's grammar forbids it (`is_complete`).

use selkie_types::error::catalogue::ER_OPERAND_COLUMNS;

use super::{PResult, Parser};
use crate::ast::{
    CheckDef, ColumnDef, ColumnKey, DataType, Expr, ExprKind, Generated, Ident, MatchKind,
    ReferenceAction, References, TypeName, UnaryOp,
};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    /// `name type attributes`.
    pub(super) fn column_def(&mut self) -> PResult<ColumnDef> {
        let mut names = vec![self.new_ident()?];
        while self.eat(T::Dot) {
            names.push(self.new_ident()?);
        }
        let name = names.pop().unwrap_or_else(|| Ident::new(""));
        let mut column = new_column(name, self.data_type()?);
        column.qualifier = names;
        if column.data_type.name == TypeName::Serial {
            column.nullable = Some(false);
            column.auto_increment = true;
            column.key = Some(ColumnKey::Unique);
        }
        while self.column_attribute(&mut column)? {}
        Ok(column)
    }

    fn column_attribute(&mut self, c: &mut ColumnDef) -> PResult<bool> {
        let T::Word(kw) = self.tok.kind else { return self.named_attribute(c) };
        if Self::is_complete(c, kw) {
            return Ok(false);
        }
        match kw {
            Kw::NULL => self.set(|| c.nullable = Some(true)),
            Kw::NOT => {
                self.next();
                self.expect(Kw::NULL)?;
                c.nullable = Some(false);
            }
            Kw::DEFAULT => {
                self.next();
                c.default = Some(self.default_of(&c.name)?);
            }
            Kw::ON => {
                self.next();
                self.expect(Kw::UPDATE)?;
                c.on_update = Some(self.now_expr()?);
            }
            // Compat: NULL has an effect only after AUTO_INCREMENT.
            Kw::AUTO_INCREMENT => self.set(|| (c.auto_increment, c.nullable) = (true, Some(false))),
            Kw::PRIMARY => {
                self.next();
                self.expect(Kw::KEY)?;
                c.key = Some(ColumnKey::Primary);
            }
            Kw::KEY => self.set(|| c.key = Some(ColumnKey::Primary)),
            Kw::UNIQUE => {
                self.next();
                self.eat(Kw::KEY);
                c.key = c.key.or(Some(ColumnKey::Unique));
            }
            Kw::COMMENT => {
                self.next();
                c.comment = Some(self.comment()?);
            }
            Kw::COLLATE => {
                self.next();
                let name = self.collation_name()?;
                c.data_type.collations.push(name);
            }
            Kw::AS | Kw::GENERATED => self.generated(c)?,
            Kw::CHECK | Kw::CONSTRAINT => self.column_constraint(c)?,
            Kw::REFERENCES => c.references = Some(self.references()?.into()),
            Kw::INVISIBLE => self.set(|| c.invisible = true),
            Kw::SERIAL => {
                self.expect_all(&[Kw::SERIAL, Kw::DEFAULT, Kw::VALUE])?;
                c.nullable = Some(false);
                c.auto_increment = true;
                c.key = Some(ColumnKey::Unique);
            }
            // Compat: behind a type it is part of that, behind attributes it is one of these.
            Kw::COMPRESSED if is_compressible(c) || is_attributed(c) => self.compressed(c)?,
            Kw::WITH | Kw::WITHOUT => {
                let with = self.next().kind == T::Word(Kw::WITH);
                self.expect_all(&[Kw::SYSTEM, Kw::VERSIONING])?;
                c.system_versioning = Some(with);
            }
            Kw::REF_SYSTEM_ID if c.data_type.name.is_spatial() => {
                self.next();
                self.expect(T::Eq)?;
                c.srid = Some(self.u64()?);
            }
            _ => return self.named_attribute(c),
        }
        Ok(true)
    }

    /// Whether the attributes read so far forbid an attribute that begins with `kw`.
    fn is_complete(c: &ColumnDef, kw: Kw) -> bool {
        let of_generated = [Kw::UNIQUE, Kw::COMMENT, Kw::INVISIBLE, Kw::CHECK];
        let after_check = [Kw::REFERENCES, Kw::CONSTRAINT];
        let computed = c.generated.is_some();
        let attributed = c.nullable.is_some() || c.auto_increment || c.key.is_some();
        let plain = attributed || c.default.is_some();
        c.references.is_some()
            || (plain && matches!(kw, Kw::AS | Kw::GENERATED))
            || (c.check.is_some() && !after_check.contains(&kw))
            || (computed && !of_generated.contains(&kw))
    }

    fn set(&mut self, set: impl FnOnce()) {
        self.next();
        set();
    }

    /// `name = value`, an option of the engine.
    fn named_attribute(&mut self, c: &mut ColumnDef) -> PResult<bool> {
        if !self.at_ident() || self.peek() != T::Eq {
            return Ok(false);
        }
        let option = self.engine_option()?;
        c.options.push(option);
        Ok(true)
    }

    fn compressed(&mut self, c: &mut ColumnDef) -> PResult<()> {
        self.next();
        let method = self.eat(T::Eq).then(|| self.ident()).transpose()?;
        c.compressed = Some(method.map(|m| m.value));
        let (charset, binary) = self.type_charset()?;
        c.data_type.charset = charset.or(c.data_type.charset.take());
        c.data_type.binary |= binary;
        Ok(())
    }

    /// The default of a column of this name.
    pub(super) fn default_of(&mut self, column: &Ident) -> PResult<Expr> {
        let default = self.default_expr()?;
        self.refuse_variables(&default, "DEFAULT", column)?;
        Ok(default)
    }

    /// A default: an operand with a sign, or any expression in parentheses. A COLLATE after it
    /// belongs to the column.
    pub(super) fn default_expr(&mut self) -> PResult<Expr> {
        let start = self.tok.start;
        let op = match self.tok.kind {
            T::Minus => UnaryOp::Neg,
            T::Plus => UnaryOp::Plus,
            _ => {
                let operand = self.primary()?;
                // Compat: a row is refused before what follows is read.
                return match operand.kind {
                    ExprKind::Row(_) => self.fail(&ER_OPERAND_COLUMNS, &[&1]),
                    _ => Ok(operand),
                };
            }
        };
        self.next();
        if !matches!(self.tok.kind, T::Int | T::Decimal | T::Float) {
            return Err(self.error());
        }
        let expr = self.primary()?.into();
        Ok(Expr { kind: ExprKind::Unary { op, expr }, span: self.span_from(start) })
    }

    /// `CURRENT_TIMESTAMP` and its synonyms.
    fn now_expr(&mut self) -> PResult<Expr> {
        match self.tok.kind {
            T::Word(Kw::CURRENT_TIMESTAMP | Kw::LOCALTIME | Kw::LOCALTIMESTAMP)
            | T::Func(Kw::NOW) => self.primary(),
            T::Word(_) if self.raw(self.tok).eq_ignore_ascii_case(b"now") => {
                let start = self.tok.start;
                let kind = self.optional_precision("now")?;
                Ok(Expr { kind, span: self.span_from(start) })
            }
            _ => Err(self.error()),
        }
    }

    fn generated(&mut self, c: &mut ColumnDef) -> PResult<()> {
        if self.eat(Kw::GENERATED) {
            self.expect(Kw::ALWAYS)?;
        }
        self.expect(Kw::AS)?;
        if self.eat(Kw::ROW) {
            let generated = match self.expect_any(&[Kw::START, Kw::END])? {
                Kw::START => Generated::RowStart,
                _ => Generated::RowEnd,
            };
            c.generated = Some(generated.into());
            return Ok(());
        }
        let expr = self.parens(Self::expr)?;
        self.refuse_variables(&expr, "GENERATED ALWAYS AS", &c.name)?;
        let kind = self.eat_any(&[Kw::VIRTUAL, Kw::PERSISTENT, Kw::STORED]);
        let stored = matches!(kind, Some(Kw::PERSISTENT | Kw::STORED));
        c.generated = Some(Generated::Expr { expr, stored }.into());
        Ok(())
    }

    /// `CHECK (expr)`, or a reference with a name. Compat: the check of a column has no name.
    fn column_constraint(&mut self, c: &mut ColumnDef) -> PResult<()> {
        if self.eat(Kw::CONSTRAINT) {
            let name = self.ident_opt()?;
            if self.at(Kw::REFERENCES) || name.is_some() {
                let references = self.references()?;
                c.references = Some(References { constraint: name, ..references }.into());
                return Ok(());
            }
        }
        self.expect(Kw::CHECK)?;
        let expr = self.parens(Self::expr)?;
        self.refuse_variables(&expr, "CHECK", &c.name)?;
        c.check = Some(CheckDef { name: None, if_not_exists: false, expr }.into());
        Ok(())
    }

    /// `REFERENCES table [(columns)] [MATCH ..] [ON DELETE ..] [ON UPDATE ..]`.
    pub(super) fn references(&mut self) -> PResult<References> {
        self.expect(Kw::REFERENCES)?;
        let table = self.table_name()?;
        let columns = self.ident_list_opt()?;
        let mut match_kind = None;
        if self.eat(Kw::MATCH) {
            match_kind = Some(match self.expect_any(&[Kw::FULL, Kw::PARTIAL, Kw::SIMPLE])? {
                Kw::FULL => MatchKind::Full,
                Kw::PARTIAL => MatchKind::Partial,
                _ => MatchKind::Simple,
            });
        }
        let (mut on_delete, mut on_update) = (None, None);
        while self.at(Kw::ON) && matches!(self.peek(), T::Word(Kw::DELETE | Kw::UPDATE)) {
            self.next();
            let slot = match self.tok.kind {
                T::Word(Kw::DELETE) => &mut on_delete,
                _ => &mut on_update,
            };
            if slot.is_some() {
                return Err(self.error());
            }
            self.next();
            *slot = Some(self.reference_action()?);
        }
        Ok(References { constraint: None, table, columns, on_delete, on_update, match_kind })
    }

    fn reference_action(&mut self) -> PResult<ReferenceAction> {
        Ok(match self.expect_any(&[Kw::RESTRICT, Kw::CASCADE, Kw::SET, Kw::NO])? {
            Kw::RESTRICT => ReferenceAction::Restrict,
            Kw::CASCADE => ReferenceAction::Cascade,
            Kw::NO => {
                self.expect(Kw::ACTION)?;
                ReferenceAction::NoAction
            }
            _ => match self.expect_any(&[Kw::NULL, Kw::DEFAULT])? {
                Kw::NULL => ReferenceAction::SetNull,
                _ => ReferenceAction::SetDefault,
            },
        })
    }
}

fn new_column(name: Ident, data_type: DataType) -> ColumnDef {
    ColumnDef {
        name,
        qualifier: Vec::new(),
        data_type,
        nullable: None,
        default: None,
        on_update: None,
        auto_increment: false,
        key: None,
        comment: None,
        generated: None,
        check: None,
        references: None,
        invisible: false,
        compressed: None,
        system_versioning: None,
        srid: None,
        options: Vec::new(),
    }
}

/// Whether values of a column's type can be compressed.
fn is_compressible(c: &ColumnDef) -> bool {
    use TypeName as T;
    matches!(
        c.data_type.name,
        T::VarChar
            | T::NVarChar
            | T::VarBinary
            | T::TinyBlob
            | T::Blob
            | T::MediumBlob
            | T::LongBlob
            | T::TinyText
            | T::Text
            | T::MediumText
            | T::LongText
            | T::Json
    )
}

/// Whether attributes were read behind the type.
fn is_attributed(c: &ColumnDef) -> bool {
    c.nullable.is_some()
        || c.default.is_some()
        || c.key.is_some()
        || c.comment.is_some()
        || c.auto_increment
        || c.on_update.is_some()
}
