//! LOAD DATA with files of the primary.
//!
//! Must look into the directory: no file may be left.

use selkie_replication::codec::{ExecuteLoad, LoadBlock};

use super::*;

const TEXT: &[u8] = b"LOAD DATA LOCAL INFILE '/there/x' REPLACE INTO TABLE `t` (`id`, `v`)";

fn load(life: &mut Life, blocks: &[&[u8]], duplicates: u8) -> Result<(), Failed> {
    life.begin_group(GtidEvent::TRANSACTIONAL);
    for (at, block) in blocks.iter().enumerate() {
        let block = LoadBlock { file_id: 3, block };
        let event = if at == 0 { Event::BeginLoadQuery(block) } else { Event::AppendBlock(block) };
        life.event(&event)?;
    }
    let status = StatusVars(&[]);
    let query =
        Query { thread_id: 5, exec_time: 0, error_code: 0, status, database: b"d", text: TEXT };
    let name_end = TEXT.windows(5).position(|word| word == b"INTO ").unwrap() as u32 + 4;
    let load = ExecuteLoad { query, file_id: 3, name_start: 9, name_end, duplicates };
    life.event(&Event::ExecuteLoadQuery(load))?;
    life.event(&Event::Xid(Xid(1)))?;
    life.end_group()
}

fn files(life: &Life) -> usize {
    std::fs::read_dir(life.directory.join("loads")).unwrap().count()
}

fn begin() -> Life {
    // Files come from the primary: where clients may read from does not count.
    let directory = std::env::temp_dir().join(format!("selkie-nowhere-{}", std::process::id()));
    let secure = format!("--secure-file-priv={}", directory.display());
    let mut life = Life::begin(&[&secure]);
    let loads = life.directory.join("loads");
    std::fs::create_dir_all(&loads).unwrap();
    life.set_global("slave_load_tmpdir", VarValue::text(loads.to_string_lossy()));
    life.replica =
        life.server.backend.replica_session(&life.server, Arc::default(), "Slave_SQL").unwrap();
    life
}

#[test]
fn a_file_is_loaded_as_the_event_says_and_removed() {
    let mut life = begin();
    load(&mut life, &[b"1\ta\n2", b"\tb\n"], 0).unwrap();
    assert_eq!(life.ask("SELECT * FROM d.t"), "1,a;2,b");
    assert_eq!(files(&life), 0);
    let failed = load(&mut life, &[b"3\tc\n1\tx\n"], 0).unwrap_err();
    let name = life.directory.join("loads/SQL_LOAD-1-7-3.data");
    let text = format!(
        "Error 'Duplicate entry '1' for key 'PRIMARY'' on query. Default database: 'd'. Query: \
         'LOAD DATA INFILE '{}' INTO TABLE `t` (`id`, `v`)'",
        name.display()
    );
    assert_eq!(failed.text, text);
    assert_eq!(files(&life), 1);
    life.replica.give_up();
    assert_eq!(files(&life), 0);
    load(&mut life, &[b"3\tc\n1\tx\n"], 1).unwrap();
    assert_eq!(life.ask("SELECT * FROM d.t"), "1,a;2,b;3,c");
    load(&mut life, &[b"1\tx\n"], 2).unwrap();
    assert_eq!(life.ask("SELECT * FROM d.t"), "1,x;2,b;3,c");
}

#[test]
fn files_that_are_not_loaded_are_removed() {
    let mut life = begin();
    life.begin_group(GtidEvent::TRANSACTIONAL);
    let block = LoadBlock { file_id: 4, block: b"x" };
    assert!(life.event(&Event::AppendBlock(block)).is_err());
    life.event(&Event::BeginLoadQuery(block)).unwrap();
    assert_eq!(files(&life), 1);
    life.event(&Event::DeleteFile(4)).unwrap();
    assert_eq!(files(&life), 0);
    life.event(&Event::BeginLoadQuery(block)).unwrap();
    life.replica =
        life.server.backend.replica_session(&life.server, Arc::default(), "Slave_SQL").unwrap();
    assert_eq!(files(&life), 0);
}
