//! The cost model, in nanoseconds of one core of the executor. Only lookups in tables that are
//! larger than the engine's cache, and scans of these by rows, count pages that must be read.
//!
//! All constants are here, each with its reason. Only their ratios matter: the choice of a plan
//! rarely depends on less than a factor of two.

/// Reading a row of a clustered scan: leaf walk, visibility check, batch bookkeeping.
pub(crate) const SCAN_ROW: f64 = 35.0;
/// Decoding one column of a row.
pub(crate) const DECODE_COLUMN: f64 = 5.0;
/// Passing a row of a column group: its share of the work for a block.
pub(crate) const GROUP_ROW_PASSED: f64 = 0.5;
/// Decoding one number of a column group.
pub(crate) const GROUP_NUMBER: f64 = 0.5;
/// Decoding one string of a column group.
pub(crate) const GROUP_STRING: f64 = 2.5;
/// Cost of a condition over rows of a column group, as a share of its cost over decoded rows.
pub(crate) const GROUP_CONDITION: f64 = 0.25;
/// One simple condition over a row, vectorised.
pub(crate) const CONDITION: f64 = 4.0;
/// A condition that walks a string (LIKE, REGEXP).
pub(crate) const STRING_CONDITION: f64 = 40.0;
/// Starting a scan: opening a cursor and the first descent.
pub(crate) const OPEN_SCAN: f64 = 1_500.0;
/// Least number of rows assumed for a scan of a whole table. Plans are cached, and a small table
/// may grow soon; a lookup by key is then the better choice.
pub(crate) const FEWEST_SCANNED: f64 = 100.0;
/// One descent of an index from its root. Inner nodes are cached, the leaf usually is not.
pub(crate) const INDEX_DESCENT: f64 = 800.0;
/// The next entry of an index after a descent.
pub(crate) const INDEX_ENTRY: f64 = 40.0;
/// Fetching the row of a secondary index entry: a second descent, made cheaper by batching.
pub(crate) const FETCH_ROW: f64 = 550.0;
/// Locking a row, and what others wait for it.
pub(crate) const LOCK_ROW: f64 = 500.0;
/// Reading a page of a table that is larger than the cache. A tenth of what a read from a fast disk
/// takes: few rows that are looked up again and again are in memory, and a whole table must not be
/// read in their stead.
pub(crate) const PAGE_READ: f64 = 5_000.0;
/// A row's part of reading a page that is not in memory ahead of a scan.
pub(crate) const ROW_READ: f64 = 100.0;
/// Putting a row into a hash table: key encoding, hashing, copying.
pub(crate) const HASH_BUILD: f64 = 60.0;
/// Extra cost per row if the hash table exceeds the caches.
pub(crate) const HASH_BUILD_LARGE: f64 = 60.0;
/// Looking a row up in a hash table.
pub(crate) const HASH_PROBE: f64 = 30.0;
/// Testing a key of a column group against the keys of a join's build side.
pub(crate) const FILTER_PROBE: f64 = 1.0;
/// Extra cost per lookup if the hash table exceeds the caches.
pub(crate) const HASH_PROBE_LARGE: f64 = 50.0;
/// Number of rows from which a hash table no longer fits the caches.
pub(crate) const CACHED_ROWS: f64 = 100_000.0;
/// Making one row of join output.
pub(crate) const JOIN_OUTPUT: f64 = 12.0;
/// Comparing a pair of rows in a nested loop.
pub(crate) const LOOP_PAIR: f64 = 6.0;
/// Fewest rows that nested loops are expected to read where a hash join is possible.
pub(crate) const FEWEST_PAIRED: f64 = 32.0;
/// Finding the group of a row.
pub(crate) const GROUP_ROW: f64 = 45.0;
/// Updating one aggregate for a row.
pub(crate) const AGGREGATE: f64 = 8.0;
/// One comparison of a sort.
pub(crate) const SORT_COMPARE: f64 = 20.0;
/// Starting a correlated subplan for new values: opening its operators.
pub(crate) const SUBPLAN: f64 = 3_000.0;
/// Evaluating a subquery whose result is cached.
pub(crate) const CACHED_SUBPLAN: f64 = 150.0;

/// Sorting `rows` rows.
pub(crate) fn sort(rows: f64) -> f64 {
    let rows = rows.max(1.0);
    rows * (rows.log2().max(1.0) * SORT_COMPARE + HASH_BUILD)
}

/// Keeping the first `kept` of `rows` rows in order.
pub(crate) fn top_n(rows: f64, kept: f64) -> f64 {
    rows * SORT_COMPARE + sort(kept.min(rows))
}

/// Building a hash table.
pub(crate) fn hash_build(rows: f64) -> f64 {
    let large = (rows - CACHED_ROWS).max(0.0);
    rows * HASH_BUILD + large * HASH_BUILD_LARGE
}

/// Looking up `probes` rows in a hash table of `rows` rows.
pub(crate) fn hash_probe(probes: f64, rows: f64) -> f64 {
    let miss = (rows / CACHED_ROWS).log10().clamp(0.0, 1.0);
    probes * (HASH_PROBE + miss * HASH_PROBE_LARGE)
}

/// Number of rows up to which an index is about one page.
const ONE_PAGE_ROWS: f64 = 200.0;
/// Cost of finding a row in such an index, as a share of finding it where the leaf is not cached:
/// the rows of a batch are looked up together, and the page stays in the caches of the processor.
const ONE_PAGE_SHARE: f64 = 0.3;
/// Number of rows up to which a table's pages usually stay in the caches of the processor.
const FEW_PAGES_ROWS: f64 = 10_000.0;
/// Cost of finding a row in such a table, as a share.
const FEW_PAGES_SHARE: f64 = 0.7;

/// Cost of finding the single row of a key, for a row of a join, in a table of `table_rows` rows,
/// as a share of [`lookups`].
pub(crate) fn single_lookup_share(table_rows: f64) -> f64 {
    if table_rows <= ONE_PAGE_ROWS {
        ONE_PAGE_SHARE
    } else if table_rows <= FEW_PAGES_ROWS {
        FEW_PAGES_SHARE
    } else {
        1.0
    }
}

/// Looking up `keys` keys in an index and reading `rows` rows.
pub(crate) fn lookups(keys: f64, rows: f64, fetches: bool) -> f64 {
    keys * INDEX_DESCENT + rows * (INDEX_ENTRY + if fetches { FETCH_ROW } else { 0.0 })
}
