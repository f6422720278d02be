//! CHANGE MASTER, START SLAVE, STOP SLAVE, and the name of a connection, which several statements
//! have before or behind their words.

use selkie_types::error::catalogue::{ER_BAD_SLAVE_UNTIL_COND, ER_WRONG_ARGUMENTS};

use super::{PResult, Parser};
use crate::ast::{
    ChangeMaster, MasterList, MasterNumber, MasterOption, MasterText, SlaveUntil, Slaves,
    StartStopSlave, Statement, StringLiteral, UseGtid,
};
use crate::lexer::{Kw, T};

/// First offset of a group in a log file; smaller positions mean it.
const FIRST_OFFSET: u64 = 4;

impl Parser<'_> {
    /// The name of a connection, if one is there.
    pub(super) fn connection_name(&mut self) -> PResult<Option<StringLiteral>> {
        self.at(T::Str).then(|| self.string()).transpose()
    }

    /// `FOR CHANNEL 'name'`, if present; fails if there was a name before.
    pub(super) fn for_channel(
        &mut self,
        name: Option<StringLiteral>,
    ) -> PResult<Option<StringLiteral>> {
        if !self.eat2(Kw::FOR, Kw::CHANNEL) {
            return Ok(name);
        }
        let channel = self.file_name()?;
        if name.is_some() {
            const BOTH: &str =
                "CONNECTION_NAME AND FOR CHANNEL CAN NOT BE SPECIFIED AT THE SAME TIME)";
            return self.fail(&ER_WRONG_ARGUMENTS, &[&BOTH]);
        }
        Ok(Some(channel))
    }

    pub(super) fn change_master(&mut self) -> PResult<Statement> {
        self.next();
        self.expect(Kw::MASTER)?;
        let name = self.connection_name()?;
        self.expect(Kw::TO)?;
        let options = self.list(Self::master_option)?;
        let name = self.for_channel(name)?;
        Ok(Statement::ChangeMaster(ChangeMaster { name, options }.into()))
    }

    fn master_option(&mut self) -> PResult<MasterOption> {
        let T::Word(kw) = self.tok.kind else { return Err(self.error()) };
        if let Some(option) = text_option(kw) {
            self.assigned_option()?;
            return Ok(MasterOption::Text(option, self.file_name()?));
        }
        if let Some(option) = number_option(kw) {
            self.assigned_option()?;
            let number = self.whole_number()?;
            return Ok(MasterOption::Number(option, smallest(option, number)));
        }
        if let Some(option) = list_option(kw) {
            self.assigned_option()?;
            let numbers = self.parens(|p| {
                if p.at(T::RParen) { Ok(Vec::new()) } else { p.list(Self::whole_number) }
            })?;
            return Ok(MasterOption::Numbers(option, numbers));
        }
        match kw {
            Kw::MASTER_HEARTBEAT_PERIOD => {
                self.assigned_option()?;
                if !matches!(self.tok.kind, T::Int | T::Decimal | T::Float) {
                    return Err(self.error());
                }
                self.number().map(MasterOption::HeartbeatPeriod)
            }
            Kw::MASTER_USE_GTID => {
                self.assigned_option()?;
                const WORDS: [Kw; 4] = [Kw::NO, Kw::CURRENT_POS, Kw::SLAVE_POS, Kw::REPLICA_POS];
                Ok(MasterOption::UseGtid(match self.expect_any(&WORDS)? {
                    Kw::NO => UseGtid::No,
                    Kw::CURRENT_POS => UseGtid::CurrentPos,
                    _ => UseGtid::SlavePos,
                }))
            }
            _ => Err(self.error()),
        }
    }

    /// The word of an option and the sign behind it.
    fn assigned_option(&mut self) -> PResult<()> {
        self.next();
        self.expect(T::Eq)
    }

    /// A whole number. Compat: what follows the first digits is dropped, and too large a number is
    /// the largest one.
    fn whole_number(&mut self) -> PResult<u64> {
        if self.at(T::HexNumber) {
            return self.u64();
        }
        if !matches!(self.tok.kind, T::Int | T::Decimal | T::Float) {
            return Err(self.error());
        }
        let token = self.next();
        let raw = self.raw(token);
        let digits = raw.iter().take_while(|byte| byte.is_ascii_digit());
        Ok(digits.fold(0, |number: u64, digit| {
            number.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
        }))
    }

    /// START or STOP of a replica's threads; the next token is the word behind it.
    pub(super) fn start_stop_slave(&mut self, start: bool) -> PResult<Statement> {
        let all = self.expect_any(&[Kw::SLAVE, Kw::REPLICA, Kw::ALL])? == Kw::ALL;
        let mut name = None;
        if all {
            self.expect_any(&[Kw::SLAVES, Kw::REPLICAS])?;
        } else {
            name = self.connection_name()?;
        }
        let (mut io_thread, mut sql_thread) = (false, false);
        loop {
            match self.eat_any(&[Kw::IO_THREAD, Kw::RELAY_THREAD, Kw::SQL_THREAD]) {
                Some(Kw::SQL_THREAD) => sql_thread = true,
                Some(_) => io_thread = true,
                // Compat: nothing at all is a thread, too.
                None => {}
            }
            if !self.eat(T::Comma) {
                break;
            }
        }
        let mut until = None;
        if !all {
            name = self.for_channel(name)?;
            if start && self.eat(Kw::UNTIL) {
                until = Some(self.slave_until()?);
            }
        }
        let which = if all { Slaves::All } else { Slaves::One(name) };
        let statement = StartStopSlave { start, which, io_thread, sql_thread, until };
        Ok(Statement::StartStopSlave(statement.into()))
    }

    fn slave_until(&mut self) -> PResult<SlaveUntil> {
        if self.at(Kw::MASTER_GTID_POS) {
            self.assigned_option()?;
            return self.file_name().map(SlaveUntil::Gtid);
        }
        let (mut log, mut relay) = ((None, None), (None, None));
        self.list(|p| {
            let words =
                [Kw::MASTER_LOG_FILE, Kw::MASTER_LOG_POS, Kw::RELAY_LOG_FILE, Kw::RELAY_LOG_POS];
            if !p.at_any(&words) {
                return Err(p.error());
            }
            match p.master_option()? {
                MasterOption::Text(MasterText::LogFile, file) => log.0 = Some(file),
                MasterOption::Text(_, file) => relay.0 = Some(file),
                MasterOption::Number(MasterNumber::LogPos, at) => log.1 = Some(at),
                MasterOption::Number(_, at) => relay.1 = Some(at),
                _ => return Err(p.error()),
            }
            Ok(())
        })?;
        match (log, relay) {
            ((Some(file), Some(at)), (None, None)) => Ok(SlaveUntil::Master(file, at)),
            ((None, None), (Some(file), Some(at))) => Ok(SlaveUntil::Relay(file, at)),
            _ => self.fail(&ER_BAD_SLAVE_UNTIL_COND, &[]),
        }
    }
}

/// Positions in a file begin behind its first bytes.
fn smallest(option: MasterNumber, number: u64) -> u64 {
    match option {
        MasterNumber::LogPos | MasterNumber::RelayLogPos => number.max(FIRST_OFFSET),
        _ => number,
    }
}

fn text_option(kw: Kw) -> Option<MasterText> {
    Some(match kw {
        Kw::MASTER_HOST => MasterText::Host,
        Kw::MASTER_USER => MasterText::User,
        Kw::MASTER_PASSWORD => MasterText::Password,
        Kw::MASTER_LOG_FILE => MasterText::LogFile,
        Kw::RELAY_LOG_FILE => MasterText::RelayLogFile,
        Kw::MASTER_SSL_CA => MasterText::SslCa,
        Kw::MASTER_SSL_CAPATH => MasterText::SslCapath,
        Kw::MASTER_SSL_CERT => MasterText::SslCert,
        Kw::MASTER_SSL_CIPHER => MasterText::SslCipher,
        Kw::MASTER_SSL_KEY => MasterText::SslKey,
        Kw::MASTER_SSL_CRL => MasterText::SslCrl,
        Kw::MASTER_SSL_CRLPATH => MasterText::SslCrlpath,
        _ => return None,
    })
}

fn number_option(kw: Kw) -> Option<MasterNumber> {
    Some(match kw {
        Kw::MASTER_PORT => MasterNumber::Port,
        Kw::MASTER_CONNECT_RETRY => MasterNumber::ConnectRetry,
        Kw::MASTER_DELAY => MasterNumber::Delay,
        Kw::MASTER_LOG_POS => MasterNumber::LogPos,
        Kw::RELAY_LOG_POS => MasterNumber::RelayLogPos,
        Kw::MASTER_SSL => MasterNumber::Ssl,
        Kw::MASTER_SSL_VERIFY_SERVER_CERT => MasterNumber::SslVerifyServerCert,
        Kw::MASTER_DEMOTE_TO_SLAVE | Kw::MASTER_DEMOTE_TO_REPLICA => MasterNumber::DemoteToSlave,
        _ => return None,
    })
}

fn list_option(kw: Kw) -> Option<MasterList> {
    Some(match kw {
        Kw::IGNORE_SERVER_IDS => MasterList::IgnoreServerIds,
        Kw::DO_DOMAIN_IDS => MasterList::DoDomainIds,
        Kw::IGNORE_DOMAIN_IDS => MasterList::IgnoreDomainIds,
        _ => return None,
    })
}
