//! INTO, and the FIELDS and LINES clauses it shares with LOAD DATA.
//! INTO may stand before FROM or at the end; the query decides which of them it takes.

use super::{PResult, Parser};
use crate::ast::{FileFormat, IntoTarget, IntoVariable, StringLiteral};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    /// `INTO ...`, if present.
    pub(super) fn opt_into(&mut self) -> PResult<Option<Box<IntoTarget>>> {
        if !self.into_allowed || !self.eat(Kw::INTO) {
            return Ok(None);
        }
        let target = if self.eat(Kw::OUTFILE) {
            let file = self.file_name()?;
            let charset = self.eat_charset().then(|| self.charset_name()).transpose()?;
            IntoTarget::Outfile { file, charset, format: self.file_format()?.into() }
        } else if self.eat(Kw::DUMPFILE) {
            IntoTarget::Dumpfile(self.file_name()?)
        } else {
            IntoTarget::Variables(self.list(Self::target_variable)?)
        };
        Ok(Some(target.into()))
    }

    /// A file name, which must be a plain string.
    pub(super) fn file_name(&mut self) -> PResult<StringLiteral> {
        if self.at(T::Str) { self.string() } else { Err(self.error()) }
    }

    fn target_variable(&mut self) -> PResult<IntoVariable> {
        self.refuse_system_var()?;
        if self.at(T::UserVar) {
            return self.user_var().map(IntoVariable::User);
        }
        let (name, local) = self.target_local()?;
        Ok(IntoVariable::Local { name, local })
    }

    /// `FIELDS ... LINES ...`, both optional.
    pub(super) fn file_format(&mut self) -> PResult<FileFormat> {
        let mut f = FileFormat::default();
        if self.eat_any(&[Kw::FIELDS, Kw::COLUMNS]).is_some() {
            let mut any = false;
            while self.field_clause(&mut f)? {
                any = true;
            }
            if !any {
                return Err(self.error());
            }
        }
        if self.eat(Kw::LINES) {
            let mut any = false;
            while let Some(word) = self.eat_any(&[Kw::TERMINATED, Kw::STARTING]) {
                self.expect(Kw::BY)?;
                let text = Some(self.string()?);
                match word {
                    Kw::TERMINATED => f.line_terminator = text,
                    _ => f.line_start = text,
                }
                any = true;
            }
            if !any {
                return Err(self.error());
            }
        }
        Ok(f)
    }

    fn field_clause(&mut self, f: &mut FileFormat) -> PResult<bool> {
        if self.eat(Kw::OPTIONALLY) {
            f.optionally_enclosed = true;
            if !self.at(Kw::ENCLOSED) {
                return Err(self.error());
            }
        }
        let Some(word) = self.eat_any(&[Kw::TERMINATED, Kw::ENCLOSED, Kw::ESCAPED]) else {
            return Ok(false);
        };
        self.expect(Kw::BY)?;
        let text = Some(self.string()?);
        match word {
            Kw::TERMINATED => f.field_terminator = text,
            Kw::ENCLOSED => f.enclosed_by = text,
            _ => f.escaped_by = text,
        }
        Ok(true)
    }
}
