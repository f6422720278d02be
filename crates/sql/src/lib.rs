//! Lexer, syntax tree, parser and statement digests of the MariaDB dialect.
//!
//! # What it is
//! Bytes of a statement in, an owned syntax tree out. Pure and total: every input gives a tree or
//! an error with MariaDB's code and text, and no input makes it panic or recurse without bound.
//!
//! # Words
//! *Span*: byte offsets into the statement text. *Digest*: the statement with its literals
//! replaced, as `performance_schema` shows it. *Unparse*: canonical SQL text of a tree, as
//! `SHOW CREATE` prints it.
//!
//! # Not here
//! No catalog, no name resolution, no types of expressions, no I/O.

#![forbid(unsafe_code)]

pub mod ast;
mod client_text;
mod column_name;
mod digest;
mod error;
mod lexer;
mod lift;
mod parameter_places;
mod parse;
mod parser;
mod placeholders;
mod shape;
mod unparse;

pub use client_text::ClientText;
pub use digest::{Digest, digest, digest_within};
pub use lexer::is_keyword;
pub use lift::{Lifted, LiteralPlace, lift_literals};
pub use parameter_places::{ParameterPlace, parameter_places, question_marks};
pub use parse::{
    ParseOptions, Parsed, error_at, parse, parse_expr, parse_from, syntax_error_at, trimmed,
};
pub use parser::oracle::written_name as written_function_name;
pub use placeholders::of_any_length;
pub use shape::{LiteralKind, SHORT_STRING, Shape, string_value};
pub use unparse::{
    Names, UnparseOptions, quote_identifier, unparse_expr, unparse_numbered, unparse_query,
};
