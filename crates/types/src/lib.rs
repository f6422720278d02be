//! Values, decimal, temporal, charsets and collations, row and key encodings, error catalogue
