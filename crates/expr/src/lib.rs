//! Bound expressions: types, coercions, functions and their evaluation over batches
