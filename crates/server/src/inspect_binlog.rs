//! `selkie inspect binlog`: the events of a file, in the form of `mariadb-binlog -vv`.
//!
//! Must not know events; it reads the file and hands its bytes on.

use std::fs::File;
use std::io::{self, Read, Write};

use selkie_replication::file::{Damage, FileError, FileReader, Step, torn};
use selkie_replication::show::Printer;

/// Bytes that are read at once, unless an event is longer.
const CHUNK: usize = 256 * 1024;

/// Reason that the rest of a file is not shown.
enum Failure {
    /// It is damaged.
    File(FileError),
    /// It cannot be read, or the text not be written.
    Io(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Io(error)
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Failure::File(error)
    }
}

/// Shows a file; the exit code: 0 nothing wrong, 1 damaged, 2 not readable.
pub(crate) fn run(file: &str, out: &mut dyn Write) -> u8 {
    let shown = File::open(file).map_err(Failure::from).and_then(|mut input| show(&mut input, out));
    let (code, why) = match shown {
        Ok(()) => return 0,
        Err(Failure::Io(error)) => (2, error.to_string()),
        Err(Failure::File(error)) => {
            (if error.damage == Damage::Encrypted { 2 } else { 1 }, error.to_string())
        }
    };
    let _ = writeln!(out, "{file}: {why}");
    code
}

/// Shows what a file holds up to its end or its first damage.
fn show(input: &mut dyn Read, out: &mut dyn Write) -> Result<(), Failure> {
    let (mut reader, mut printer, mut text) = (FileReader::new(), Printer::new(), Vec::new());
    // The bytes from `base` on; those before the reader's place were shown.
    let (mut bytes, mut base) = (Vec::new(), 0u64);
    printer.begin(&mut text);
    loop {
        let shown = (reader.offset() - base) as usize;
        match reader.step(bytes.get(shown..).unwrap_or_default())? {
            Step::Event(placed) => {
                let put = printer.put(&placed, &mut text);
                out.write_all(&text)?;
                text.clear();
                let damage =
                    |error| FileError { offset: placed.offset, damage: Damage::Event(error) };
                put.map_err(damage)?;
            }
            Step::Need(most) => {
                base = reader.offset();
                bytes.drain(..shown.min(bytes.len()));
                let wanted = most.max(CHUNK).saturating_sub(bytes.len());
                input.take(wanted as u64).read_to_end(&mut bytes)?;
                if bytes.is_empty() && base > 0 {
                    break;
                }
                if bytes.len() < most {
                    return Err(reader.error(torn(most, base as usize)).into());
                }
            }
        }
    }
    printer.end(&mut text);
    out.write_all(&text)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a byte at a time, as a pipe may.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let most = into.len().min(1);
            self.0.read(&mut into[..most])
        }
    }

    const LOG: &[u8] = include_bytes!("../../replication/tests/corpus/strings.binlog");

    fn shown(log: &[u8]) -> (bool, String) {
        let mut out = Vec::new();
        let is_whole = show(&mut Slow(log), &mut out).is_ok();
        (is_whole, String::from_utf8_lossy(&out).into_owned())
    }

    #[test]
    fn a_file_is_shown_to_its_end() {
        let (is_whole, text) = shown(LOG);
        assert!(is_whole && text.ends_with("# End of log file\n"), "{text}");
        assert!(text.contains("### INSERT INTO `d`.`nets`\n### SET\n"), "{text}");
        let last = format!("end_log_pos {} CRC32", LOG.len());
        assert!(text.contains(&last), "{text}");
    }

    #[test]
    fn a_damaged_file_is_shown_to_its_damage() {
        let (is_whole, text) = shown(&LOG[..LOG.len() - 1]);
        assert!(!is_whole && text.contains("### INSERT INTO `d`.`nets`\n"), "{text}");
        assert!(!shown(b"\xfebi").0 && !shown(b"").0 && !shown(b"nonsense").0);
    }
}
