//! Builds a full-text index over the rows of a table. The caller lets no other thread change the
//! table meanwhile.

use super::lists::{blocks_of, word_prefix};
use super::{MOST_BYTES, NUMBERS, TextIndex, UNVERSIONED, document_body, document_key, text_of};
use crate::btree::{BulkLoad, Change, Decision, Hint, MAX_KEY};
use crate::table::{NativeTable, TableFiles};
use selkie_engine::{EngineError, EngineResult, StatementContext, TableDef, TextDef};
use selkie_fulltext::Words;

/// Bytes of words that are kept before they are stored.
const BUILD_BYTES: usize = 8 * MOST_BYTES;

impl TextIndex {
    /// Fills the trees of a new index.
    pub(crate) fn build(
        files: &TableFiles,
        context: &dyn StatementContext,
        def: &TableDef,
        text: &TextDef,
    ) -> EngineResult<()> {
        let index = TextIndex::new(files, def, text)?;
        let mut words = Words::new(index.rules.clone());
        let mut by_key = BulkLoad::new(&index.by_key, 0)?;
        let mut by_document = BulkLoad::new(&index.by_document, 0)?;
        let mut document = 0u64;
        let mut stored = false;
        NativeTable::each_row(files, context, def, |key, row| {
            document += 1;
            if key.len() + 8 > MAX_KEY {
                return Err(EngineError::RowTooBig(MAX_KEY));
            }
            by_key.push(key, &[&[0; 11], &document.to_le_bytes()[..]].concat())?;
            let texts = index.texts(def, row)?;
            let size = words.add(document, &texts.iter().map(text_of).collect::<Vec<_>>());
            let value = [&[0; 8], &document_body(size)[..]].concat();
            by_document.push(&document_key(document, key), &value)?;
            if words.bytes() > BUILD_BYTES {
                stored = true;
                index.store(context, &mut words)?;
            }
            Ok(())
        })?;
        by_key.finish()?;
        by_document.finish()?;
        match stored {
            true => index.store(context, &mut words)?,
            false => index.load(context, &mut words)?,
        }
        index.pass(document)
    }

    /// Stores all words of an index that has none yet.
    fn load(&self, context: &dyn StatementContext, words: &mut Words) -> EngineResult<()> {
        let mut load = BulkLoad::new(&self.by_word, 0)?;
        for (at, (word, list)) in words.take().into_iter().enumerate() {
            if at % 1024 == 0 {
                context.check_killed()?;
            }
            for (key, block) in blocks_of(&word_prefix(&word), &list) {
                load.push(&key, &[&UNVERSIONED[..], &block].concat())?;
            }
        }
        Ok(load.finish()?)
    }

    /// Lets numbers of new documents begin behind `document`.
    fn pass(&self, document: u64) -> EngineResult<()> {
        let value = [&UNVERSIONED[..], &(document + 1).to_le_bytes()].concat();
        let put = |_: Option<&[u8]>, change: &mut Change| {
            change.value.extend_from_slice(&value);
            Decision::Put
        };
        let hint = &mut Hint::default();
        self.by_word.write(NUMBERS, value.len(), false, hint, &|_| false, put)?;
        Ok(())
    }
}
