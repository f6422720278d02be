//! CHECK TABLE of full-text indexes: documents against rows, and words against texts, by counts and
//! sums of hashes.

use super::search::NativeTextSearch;
use super::{TextIndex, document_body, document_key, text_of};
use crate::btree::Tree;
use crate::page::get_u64;
use crate::table::check::Digest;
use crate::table::handle::NativeTable;
use crate::table::value::ENTRY_AT;
use crate::trx::NativeTrx;
use selkie_engine::{EngineResult, StatementContext};
use selkie_fulltext::{Posting, Words};
use std::sync::Arc;

impl Digest {
    fn add_posting(&mut self, word: &[u8], posting: Posting) {
        let mut body = posting.document.to_le_bytes().to_vec();
        body.extend_from_slice(&posting.occurrences.to_le_bytes());
        self.add(word, &body);
    }
}

impl TextIndex {
    /// Its trees.
    pub(in crate::table) fn trees(&self) -> [&Arc<Tree>; 3] {
        [&self.by_key, &self.by_document, &self.by_word]
    }

    /// Those whose entries have versions.
    pub(in crate::table) fn trees_of_rows(&self) -> [&Arc<Tree>; 2] {
        [&self.by_key, &self.by_document]
    }
}

impl NativeTable {
    /// Compares the full-text indexes with the rows. Notes what is wrong.
    pub(in crate::table) fn check_texts(
        &self,
        trx: &NativeTrx,
        context: &dyn StatementContext,
        wrong: &mut Vec<String>,
    ) -> EngineResult<()> {
        for index in &self.texts {
            if let Some(fault) = self.check_text(trx, context, index)? {
                let (name, table) = (&index.name, &self.def.name);
                wrong.push(format!("full-text index {name} of table {table} {fault}"));
            }
        }
        Ok(())
    }

    fn check_text(
        &self,
        trx: &NativeTrx,
        context: &dyn StatementContext,
        index: &TextIndex,
    ) -> EngineResult<Option<String>> {
        // Numbers of documents, in the order of the rows.
        let mut documents = Vec::new();
        let (mut of_keys, mut of_documents) = (Digest::default(), Digest::default());
        let mut keys = Digest::default();
        self.each_seen(trx, context, &index.by_key, |key, value| {
            documents.push(get_u64(value, ENTRY_AT));
            of_keys.add(key, &documents[documents.len() - 1].to_be_bytes());
            keys.add(key, &[]);
            Ok(())
        })?;
        let (mut sizes, mut wanted_sizes) = (Digest::default(), Digest::default());
        self.each_seen(trx, context, &index.by_document, |key, value| {
            sizes.add(key, value.get(ENTRY_AT..).unwrap_or(&[]));
            let (document, key) = key.split_at_checked(8).unwrap_or_default();
            of_documents.add(key, document);
            Ok(())
        })?;
        let mut rows = Digest::default();
        let mut wanted = Digest::default();
        let mut words = Words::new(index.rules.clone());
        self.each_seen(trx, context, &self.files.clustered, |key, value| {
            let mut row = Vec::new();
            self.whole_row(value, &mut row)?;
            let document = documents.get(rows.entries as usize).copied().unwrap_or(0);
            rows.add(key, &[]);
            let texts = index.texts(&self.def, &row)?;
            let size = words.add(document, &texts.iter().map(text_of).collect::<Vec<_>>());
            let size = document_body(size);
            wanted_sizes.add(&document_key(document, key), size.get(3..).unwrap_or(&[]));
            for (word, list) in words.take() {
                list.iter().for_each(|posting| wanted.add_posting(&word, *posting));
            }
            Ok(())
        })?;
        if rows != keys || of_keys != of_documents {
            let (rows, documents) = (rows.entries, of_documents.entries);
            return Ok(Some(format!("has {documents} documents for {rows} rows, or of others")));
        }
        if sizes != wanted_sizes {
            return Ok(Some("has documents of other sizes".to_owned()));
        }
        let mut found = Digest::default();
        let mut search = NativeTextSearch::of_all(self, index, trx, context)?;
        search.each_list(&[], &mut |word, list| {
            list.iter().for_each(|posting| found.add_posting(word, *posting));
            Ok(())
        })?;
        let differs = found != wanted;
        let (found, wanted) = (found.entries, wanted.entries);
        Ok(differs.then(|| format!("has {found} words for {wanted}, or others")))
    }
}
