//! Names of a connection's relay files.
//!
//! Must not open files: it computes paths from variables.

use std::path::Path;

use selkie_types::filename;

use crate::binlog::LogNames;
use crate::server::Server;
use crate::variables::registry;

/// The names of the relay files of a connection: `relay_log`, or a name from that of the pid file,
/// with the connection's name behind it.
pub(crate) fn relay_names(server: &Server, connection: &str) -> LogNames {
    let text = |name: &str| {
        let def = registry().find(name).expect("a variable of the table");
        server.globals.get(def.id).as_str().to_owned()
    };
    let pid_file = text("pid_file");
    let stem = Path::new(&pid_file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    // Compat: the default name comes from the pid file, whose default is the host's name.
    let default = format!("{}-relay-bin", stem.unwrap_or_else(|| text("hostname")));
    let index = text("relay_log_index");
    let index = (!index.is_empty()).then_some(&*index);
    of_connection(&text("relay_log"), index, &default, &server.datadir, connection)
}

fn of_connection(
    name: &str,
    index: Option<&str>,
    default: &str,
    data_dir: &Path,
    connection: &str,
) -> LogNames {
    let mut names = LogNames::new(name, index, default, data_dir);
    if !connection.is_empty() {
        // Compat: letters in lower case, and characters that no file name should have as codes.
        let suffix = format!("-{}", filename(&connection.to_lowercase()));
        names.base.push_str(&suffix);
        names.shown_base.push_str(&suffix);
        let stem = names.index.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        names.index.set_file_name(format!("{stem}{suffix}.index"));
        names.shown_index = names.index.to_string_lossy().into_owned();
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_have_files_of_their_own() {
        let of = |name, connection| {
            of_connection(name, None, "host-relay-bin", Path::new("/d"), connection)
        };
        assert_eq!(of("", "").file(7), "host-relay-bin.000007");
        assert_eq!(of("", "").index, Path::new("/d/host-relay-bin.index"));
        let named = of("", "Paris 1");
        assert_eq!(named.file(1), "host-relay-bin-paris@00201.000001");
        assert_eq!(named.index, Path::new("/d/host-relay-bin-paris@00201.index"));
        assert_eq!(of("/logs/r.x", "b").file(1), "r-b.000001");
        assert_eq!(of("/logs/r.x", "b").directory, Path::new("/logs"));
        // Files of the default connection are not those of another one.
        assert_eq!(of("", "").number("host-relay-bin-b.000001"), None);
    }
}
