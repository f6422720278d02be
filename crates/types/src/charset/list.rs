//! The character sets, as `SHOW CHARACTER SET` lists them.
//! Data and simple properties; encoding and decoding are in `codec.rs`.

use super::CollationId;

macro_rules! charsets {
    ($($name:ident = $text:literal $collation:literal $len:literal $description:literal;)*) => {
        /// A character set.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
        pub enum Charset {
            $(
                #[doc = $description]
                $name,
            )*
        }

        impl Charset {
            /// All supported character sets.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The name in lower case.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }

            /// The description `SHOW CHARACTER SET` prints.
            pub const fn description(self) -> &'static str {
                match self {
                    $(Self::$name => $description,)*
                }
            }

            /// Size of the longest character in bytes.
            pub const fn max_len(self) -> usize {
                match self {
                    $(Self::$name => $len,)*
                }
            }

            /// The collation used if none is named.
            pub const fn default_collation(self) -> CollationId {
                match self {
                    $(Self::$name => CollationId($collation),)*
                }
            }
        }
    };
}

charsets! {
    Big5 = "big5" 1 2 "Big5 Traditional Chinese";
    Dec8 = "dec8" 3 1 "DEC West European";
    Cp850 = "cp850" 4 1 "DOS West European";
    Hp8 = "hp8" 6 1 "HP West European";
    Koi8r = "koi8r" 7 1 "KOI8-R Relcom Russian";
    Latin1 = "latin1" 8 1 "cp1252 West European";
    Latin2 = "latin2" 9 1 "ISO 8859-2 Central European";
    Swe7 = "swe7" 10 1 "7bit Swedish";
    Ascii = "ascii" 11 1 "US ASCII";
    Ujis = "ujis" 12 3 "EUC-JP Japanese";
    Sjis = "sjis" 13 2 "Shift-JIS Japanese";
    Hebrew = "hebrew" 16 1 "ISO 8859-8 Hebrew";
    Tis620 = "tis620" 18 1 "TIS620 Thai";
    Euckr = "euckr" 19 2 "EUC-KR Korean";
    Koi8u = "koi8u" 22 1 "KOI8-U Ukrainian";
    Gb2312 = "gb2312" 24 2 "GB2312 Simplified Chinese";
    Greek = "greek" 25 1 "ISO 8859-7 Greek";
    Cp1250 = "cp1250" 26 1 "Windows Central European";
    Gbk = "gbk" 28 2 "GBK Simplified Chinese";
    Latin5 = "latin5" 30 1 "ISO 8859-9 Turkish";
    Armscii8 = "armscii8" 32 1 "ARMSCII-8 Armenian";
    Utf8mb3 = "utf8mb3" 33 3 "UTF-8 Unicode";
    Ucs2 = "ucs2" 35 2 "UCS-2 Unicode";
    Cp866 = "cp866" 36 1 "DOS Russian";
    Keybcs2 = "keybcs2" 37 1 "DOS Kamenicky Czech-Slovak";
    Macce = "macce" 38 1 "Mac Central European";
    Macroman = "macroman" 39 1 "Mac West European";
    Cp852 = "cp852" 40 1 "DOS Central European";
    Latin7 = "latin7" 41 1 "ISO 8859-13 Baltic";
    Utf8mb4 = "utf8mb4" 45 4 "UTF-8 Unicode";
    Cp1251 = "cp1251" 51 1 "Windows Cyrillic";
    Utf16 = "utf16" 54 4 "UTF-16 Unicode";
    Utf16le = "utf16le" 56 4 "UTF-16LE Unicode";
    Cp1256 = "cp1256" 57 1 "Windows Arabic";
    Cp1257 = "cp1257" 59 1 "Windows Baltic";
    Utf32 = "utf32" 60 4 "UTF-32 Unicode";
    Binary = "binary" 63 1 "Binary pseudo charset";
    Geostd8 = "geostd8" 92 1 "GEOSTD8 Georgian";
    Cp932 = "cp932" 95 2 "SJIS for Windows Japanese";
    Eucjpms = "eucjpms" 97 3 "UJIS for Windows Japanese";
}

impl Charset {
    /// The character set with this name; letter case does not count; `utf8` is `utf8mb3`.
    pub fn from_name(name: &str) -> Option<Self> {
        // The usual one, which every connection asks for several times.
        if name == Self::Utf8mb4.name() {
            return Some(Self::Utf8mb4);
        }
        let name = if name.eq_ignore_ascii_case("utf8") { "utf8mb3" } else { name };
        Self::ALL.iter().copied().find(|c| c.name().eq_ignore_ascii_case(name))
    }

    /// Size of the shortest character in bytes.
    pub const fn min_len(self) -> usize {
        match self {
            Self::Ucs2 | Self::Utf16 | Self::Utf16le => 2,
            Self::Utf32 => 4,
            _ => 1,
        }
    }

    /// Whether every byte below 0x80 is an ASCII character, wherever it stands.
    pub const fn is_ascii_compatible(self) -> bool {
        let trails =
            matches!(self, Self::Big5 | Self::Cp932 | Self::Euckr | Self::Gbk | Self::Sjis);
        self.is_ascii_superset() && !trails
    }

    /// Whether a text of ASCII bytes only is the ASCII text.
    pub const fn is_ascii_superset(self) -> bool {
        self.min_len() == 1 && !matches!(self, Self::Swe7)
    }

    /// Whether a search for a character's bytes can only find that character.
    pub const fn is_self_synchronizing(self) -> bool {
        self.max_len() == 1 || matches!(self, Self::Utf8mb3 | Self::Utf8mb4)
    }

    /// The `_bin` collation of the character set (`binary` for binary).
    pub fn bin_collation(self) -> CollationId {
        match self {
            Self::Binary => CollationId::BINARY,
            _ => CollationId::from_name(&format!("{}_bin", self.name()))
                .unwrap_or(self.default_collation()),
        }
    }
}
