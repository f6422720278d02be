//! XA statements.
//! Checks the lengths of an xid; which state a branch must be in is the executor's business.

use super::{PResult, Parser};
use crate::ast::{Statement, Xa, Xid};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    pub(super) fn xa(&mut self) -> PResult<Statement> {
        self.next();
        let words =
            [Kw::START, Kw::BEGIN, Kw::END, Kw::PREPARE, Kw::COMMIT, Kw::ROLLBACK, Kw::RECOVER];
        let xa = match self.expect_any(&words)? {
            Kw::START | Kw::BEGIN => {
                let xid = self.xid()?;
                let word = self.eat_any(&[Kw::JOIN, Kw::RESUME]);
                Xa::Start { xid, join: word == Some(Kw::JOIN), resume: word == Some(Kw::RESUME) }
            }
            Kw::END => {
                let xid = self.xid()?;
                let suspend = self.eat(Kw::SUSPEND);
                let migrate = suspend && self.eat(Kw::FOR);
                if migrate {
                    self.expect(Kw::MIGRATE)?;
                }
                Xa::End { xid, suspend, migrate }
            }
            Kw::PREPARE => Xa::Prepare(self.xid()?),
            Kw::COMMIT => {
                let xid = self.xid()?;
                let one_phase = self.eat(Kw::ONE);
                if one_phase {
                    self.expect(Kw::PHASE)?;
                }
                Xa::Commit { xid, one_phase }
            }
            Kw::ROLLBACK => Xa::Rollback(self.xid()?),
            _ => Xa::Recover { sql_format: self.xa_format()? },
        };
        Ok(Statement::Xa(xa.into()))
    }

    fn xa_format(&mut self) -> PResult<bool> {
        if !self.eat(Kw::FORMAT) {
            return Ok(false);
        }
        self.expect(T::Eq)?;
        let format = self.text()?;
        match format.to_ascii_lowercase().as_str() {
            "sql" => Ok(true),
            "raw" => Ok(false),
            _ => self.fail(
                &selkie_types::error::catalogue::ER_UNKNOWN_EXPLAIN_FORMAT,
                &[&"XA RECOVER", &format],
            ),
        }
    }

    /// `gtrid[, bqual[, format]]`.
    fn xid(&mut self) -> PResult<Xid> {
        let mut xid = Xid { gtrid: self.string()?.bytes, bqual: Box::default(), format: 1 };
        if self.eat(T::Comma) {
            xid.bqual = self.string()?.bytes;
            if self.eat(T::Comma) {
                let out_of_range = self.error();
                xid.format = self.u64()?;
                if xid.format > i32::MAX as u64 {
                    return Err(out_of_range);
                }
            }
        }
        if xid.gtrid.len() > 64 || xid.bqual.len() > 64 {
            return Err(self.error());
        }
        Ok(xid)
    }
}
