//! Lexer, syntax tree, parser and statement digests of the MariaDB dialect
