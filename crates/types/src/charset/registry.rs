//! The collations by number: a list here, and the family of Unicode 14 in `uca1400.rs`.
//! Numbers and properties are MariaDB's: clients send and store them.

use hashbrown::HashMap;
use std::sync::LazyLock;

use super::collation::Rule::*;
use super::collation::{Collation, CollationId, Pad, Rule};
use super::list::Charset;
use super::uca1400;

macro_rules! collations {
    ($($id:literal $name:ident $charset:ident $len:literal $pad:ident $rule:ident $(($table:literal))?;)*) => {
        pub(super) static COLLATIONS: &[Collation] = &[$(
            Collation {
                id: CollationId($id),
                name: stringify!($name),
                charset: Charset::$charset,
                sort_len: $len,
                pad: Pad::$pad,
                rule: $rule $(($table))?,
                levels: extra_levels($rule $(($table))?),
            },
        )*];
    };
}

/// Largest number in the list, plus one.
const NUMBERS: usize = 1280;

/// Position of each number in the list, plus one; zero if it is not in the list.
static POSITIONS: [u16; NUMBERS] = positions();

const fn positions() -> [u16; NUMBERS] {
    let mut positions = [0; NUMBERS];
    let mut i = 0;
    while i < COLLATIONS.len() {
        positions[COLLATIONS[i].id.0 as usize] = i as u16 + 1;
        i += 1;
    }
    positions
}

/// The collation with a number.
pub(super) fn find(id: CollationId) -> Option<&'static Collation> {
    match POSITIONS.get(usize::from(id.0)) {
        Some(&position) if position > 0 => Some(&COLLATIONS[usize::from(position) - 1]),
        Some(_) => None,
        None => uca1400::find(id),
    }
}

/// All collations, by number.
pub(super) fn all() -> impl Iterator<Item = &'static Collation> {
    COLLATIONS.iter().chain(uca1400::all())
}

/// The collation with this name, which must be in lower case.
pub(super) fn named(name: &str) -> Option<CollationId> {
    static NAMES: LazyLock<HashMap<&'static str, CollationId>> =
        LazyLock::new(|| all().map(|c| (c.name, c.id)).collect());
    NAMES.get(name).copied()
}

/// The further levels that a listed collation uses.
const fn extra_levels(rule: Rule) -> &'static [u8] {
    // Thai of Unicode 5.2 is the only one here with a second level.
    if matches!(rule, Tailored(25)) { &[1] } else { &[] }
}

/// The collation of bytes.
pub(super) fn binary() -> &'static Collation {
    &COLLATIONS[usize::from(POSITIONS[CollationId::BINARY.0 as usize]) - 1]
}

collations! {
    1 big5_chinese_ci Big5 1 PadSpace MultiByte;
    2 latin2_czech_cs Latin2 4 PadSpace Whole(0);
    3 dec8_swedish_ci Dec8 1 PadSpace Table(0);
    4 cp850_general_ci Cp850 1 PadSpace Table(1);
    5 latin1_german1_ci Latin1 1 PadSpace Table(2);
    6 hp8_english_ci Hp8 1 PadSpace Table(3);
    7 koi8r_general_ci Koi8r 1 PadSpace Table(4);
    8 latin1_swedish_ci Latin1 1 PadSpace Table(5);
    9 latin2_general_ci Latin2 1 PadSpace Table(6);
    10 swe7_swedish_ci Swe7 1 PadSpace Table(7);
    11 ascii_general_ci Ascii 1 PadSpace Table(8);
    12 ujis_japanese_ci Ujis 1 PadSpace MultiByte;
    13 sjis_japanese_ci Sjis 1 PadSpace MultiByte;
    14 cp1251_bulgarian_ci Cp1251 1 PadSpace Table(9);
    15 latin1_danish_ci Latin1 1 PadSpace Table(10);
    16 hebrew_general_ci Hebrew 1 PadSpace Table(11);
    18 tis620_thai_ci Tis620 4 PadSpace Whole(2);
    19 euckr_korean_ci Euckr 1 PadSpace MultiByte;
    20 latin7_estonian_cs Latin7 1 PadSpace Table(12);
    21 latin2_hungarian_ci Latin2 1 PadSpace Table(13);
    22 koi8u_general_ci Koi8u 1 PadSpace Table(14);
    23 cp1251_ukrainian_ci Cp1251 1 PadSpace Table(15);
    24 gb2312_chinese_ci Gb2312 1 PadSpace MultiByte;
    25 greek_general_ci Greek 1 PadSpace Table(16);
    26 cp1250_general_ci Cp1250 1 PadSpace Table(17);
    27 latin2_croatian_ci Latin2 1 PadSpace Table(18);
    28 gbk_chinese_ci Gbk 1 PadSpace MultiByte;
    29 cp1257_lithuanian_ci Cp1257 1 PadSpace Table(19);
    30 latin5_turkish_ci Latin5 1 PadSpace Table(20);
    31 latin1_german2_ci Latin1 2 PadSpace German;
    32 armscii8_general_ci Armscii8 1 PadSpace Table(21);
    33 utf8mb3_general_ci Utf8mb3 1 PadSpace General;
    34 cp1250_czech_cs Cp1250 2 PadSpace Whole(1);
    35 ucs2_general_ci Ucs2 1 PadSpace General;
    36 cp866_general_ci Cp866 1 PadSpace Table(22);
    37 keybcs2_general_ci Keybcs2 1 PadSpace Table(23);
    38 macce_general_ci Macce 1 PadSpace Table(24);
    39 macroman_general_ci Macroman 1 PadSpace Table(25);
    40 cp852_general_ci Cp852 1 PadSpace Table(26);
    41 latin7_general_ci Latin7 1 PadSpace Table(27);
    42 latin7_general_cs Latin7 1 PadSpace Table(28);
    43 macce_bin Macce 1 PadSpace Code;
    44 cp1250_croatian_ci Cp1250 1 PadSpace Table(29);
    45 utf8mb4_general_ci Utf8mb4 1 PadSpace General;
    46 utf8mb4_bin Utf8mb4 1 PadSpace Code;
    47 latin1_bin Latin1 1 PadSpace Code;
    48 latin1_general_ci Latin1 1 PadSpace Table(30);
    49 latin1_general_cs Latin1 1 PadSpace Table(31);
    50 cp1251_bin Cp1251 1 PadSpace Code;
    51 cp1251_general_ci Cp1251 1 PadSpace Table(32);
    52 cp1251_general_cs Cp1251 1 PadSpace Table(33);
    53 macroman_bin Macroman 1 PadSpace Code;
    54 utf16_general_ci Utf16 1 PadSpace General;
    55 utf16_bin Utf16 1 PadSpace Code;
    56 utf16le_general_ci Utf16le 1 PadSpace General;
    57 cp1256_general_ci Cp1256 1 PadSpace Table(34);
    58 cp1257_bin Cp1257 1 PadSpace Code;
    59 cp1257_general_ci Cp1257 1 PadSpace Table(35);
    60 utf32_general_ci Utf32 1 PadSpace General;
    61 utf32_bin Utf32 1 PadSpace Code;
    62 utf16le_bin Utf16le 1 PadSpace Code;
    63 binary Binary 1 NoPad Code;
    64 armscii8_bin Armscii8 1 PadSpace Code;
    65 ascii_bin Ascii 1 PadSpace Code;
    66 cp1250_bin Cp1250 1 PadSpace Code;
    67 cp1256_bin Cp1256 1 PadSpace Code;
    68 cp866_bin Cp866 1 PadSpace Code;
    69 dec8_bin Dec8 1 PadSpace Code;
    70 greek_bin Greek 1 PadSpace Code;
    71 hebrew_bin Hebrew 1 PadSpace Code;
    72 hp8_bin Hp8 1 PadSpace Code;
    73 keybcs2_bin Keybcs2 1 PadSpace Code;
    74 koi8r_bin Koi8r 1 PadSpace Code;
    75 koi8u_bin Koi8u 1 PadSpace Code;
    77 latin2_bin Latin2 1 PadSpace Code;
    78 latin5_bin Latin5 1 PadSpace Code;
    79 latin7_bin Latin7 1 PadSpace Code;
    80 cp850_bin Cp850 1 PadSpace Code;
    81 cp852_bin Cp852 1 PadSpace Code;
    82 swe7_bin Swe7 1 PadSpace Code;
    83 utf8mb3_bin Utf8mb3 1 PadSpace Code;
    84 big5_bin Big5 1 PadSpace Code;
    85 euckr_bin Euckr 1 PadSpace Code;
    86 gb2312_bin Gb2312 1 PadSpace Code;
    87 gbk_bin Gbk 1 PadSpace Code;
    88 sjis_bin Sjis 1 PadSpace Code;
    89 tis620_bin Tis620 1 PadSpace Code;
    90 ucs2_bin Ucs2 1 PadSpace Code;
    91 ujis_bin Ujis 1 PadSpace Code;
    92 geostd8_general_ci Geostd8 1 PadSpace Table(36);
    93 geostd8_bin Geostd8 1 PadSpace Code;
    94 latin1_spanish_ci Latin1 1 PadSpace Table(37);
    95 cp932_japanese_ci Cp932 1 PadSpace MultiByte;
    96 cp932_bin Cp932 1 PadSpace Code;
    97 eucjpms_japanese_ci Eucjpms 1 PadSpace MultiByte;
    98 eucjpms_bin Eucjpms 1 PadSpace Code;
    99 cp1250_polish_ci Cp1250 1 PadSpace Table(38);
    101 utf16_unicode_ci Utf16 8 PadSpace Unicode400;
    102 utf16_icelandic_ci Utf16 8 PadSpace Tailored(1);
    103 utf16_latvian_ci Utf16 8 PadSpace Tailored(2);
    104 utf16_romanian_ci Utf16 8 PadSpace Tailored(3);
    105 utf16_slovenian_ci Utf16 8 PadSpace Tailored(4);
    106 utf16_polish_ci Utf16 8 PadSpace Tailored(5);
    107 utf16_estonian_ci Utf16 8 PadSpace Tailored(6);
    108 utf16_spanish_ci Utf16 8 PadSpace Tailored(7);
    109 utf16_swedish_ci Utf16 8 PadSpace Tailored(8);
    110 utf16_turkish_ci Utf16 8 PadSpace Tailored(9);
    111 utf16_czech_ci Utf16 8 PadSpace Tailored(10);
    112 utf16_danish_ci Utf16 8 PadSpace Tailored(11);
    113 utf16_lithuanian_ci Utf16 8 PadSpace Tailored(12);
    114 utf16_slovak_ci Utf16 8 PadSpace Tailored(13);
    115 utf16_spanish2_ci Utf16 8 PadSpace Tailored(14);
    116 utf16_roman_ci Utf16 8 PadSpace Tailored(15);
    117 utf16_persian_ci Utf16 8 PadSpace Tailored(16);
    118 utf16_esperanto_ci Utf16 8 PadSpace Tailored(17);
    119 utf16_hungarian_ci Utf16 8 PadSpace Tailored(18);
    120 utf16_sinhala_ci Utf16 8 PadSpace Tailored(19);
    121 utf16_german2_ci Utf16 8 PadSpace Tailored(20);
    122 utf16_croatian_mysql561_ci Utf16 8 PadSpace Tailored(21);
    123 utf16_unicode_520_ci Utf16 8 PadSpace Unicode520;
    124 utf16_vietnamese_ci Utf16 8 PadSpace Tailored(22);
    128 ucs2_unicode_ci Ucs2 8 PadSpace Unicode400;
    129 ucs2_icelandic_ci Ucs2 8 PadSpace Tailored(1);
    130 ucs2_latvian_ci Ucs2 8 PadSpace Tailored(2);
    131 ucs2_romanian_ci Ucs2 8 PadSpace Tailored(3);
    132 ucs2_slovenian_ci Ucs2 8 PadSpace Tailored(4);
    133 ucs2_polish_ci Ucs2 8 PadSpace Tailored(5);
    134 ucs2_estonian_ci Ucs2 8 PadSpace Tailored(6);
    135 ucs2_spanish_ci Ucs2 8 PadSpace Tailored(7);
    136 ucs2_swedish_ci Ucs2 8 PadSpace Tailored(8);
    137 ucs2_turkish_ci Ucs2 8 PadSpace Tailored(9);
    138 ucs2_czech_ci Ucs2 8 PadSpace Tailored(10);
    139 ucs2_danish_ci Ucs2 8 PadSpace Tailored(11);
    140 ucs2_lithuanian_ci Ucs2 8 PadSpace Tailored(12);
    141 ucs2_slovak_ci Ucs2 8 PadSpace Tailored(13);
    142 ucs2_spanish2_ci Ucs2 8 PadSpace Tailored(14);
    143 ucs2_roman_ci Ucs2 8 PadSpace Tailored(15);
    144 ucs2_persian_ci Ucs2 8 PadSpace Tailored(16);
    145 ucs2_esperanto_ci Ucs2 8 PadSpace Tailored(17);
    146 ucs2_hungarian_ci Ucs2 8 PadSpace Tailored(18);
    147 ucs2_sinhala_ci Ucs2 8 PadSpace Tailored(19);
    148 ucs2_german2_ci Ucs2 8 PadSpace Tailored(20);
    149 ucs2_croatian_mysql561_ci Ucs2 8 PadSpace Tailored(21);
    150 ucs2_unicode_520_ci Ucs2 8 PadSpace Unicode520;
    151 ucs2_vietnamese_ci Ucs2 8 PadSpace Tailored(22);
    159 ucs2_general_mysql500_ci Ucs2 1 PadSpace General500;
    160 utf32_unicode_ci Utf32 8 PadSpace Unicode400;
    161 utf32_icelandic_ci Utf32 8 PadSpace Tailored(1);
    162 utf32_latvian_ci Utf32 8 PadSpace Tailored(2);
    163 utf32_romanian_ci Utf32 8 PadSpace Tailored(3);
    164 utf32_slovenian_ci Utf32 8 PadSpace Tailored(4);
    165 utf32_polish_ci Utf32 8 PadSpace Tailored(5);
    166 utf32_estonian_ci Utf32 8 PadSpace Tailored(6);
    167 utf32_spanish_ci Utf32 8 PadSpace Tailored(7);
    168 utf32_swedish_ci Utf32 8 PadSpace Tailored(8);
    169 utf32_turkish_ci Utf32 8 PadSpace Tailored(9);
    170 utf32_czech_ci Utf32 8 PadSpace Tailored(10);
    171 utf32_danish_ci Utf32 8 PadSpace Tailored(11);
    172 utf32_lithuanian_ci Utf32 8 PadSpace Tailored(12);
    173 utf32_slovak_ci Utf32 8 PadSpace Tailored(13);
    174 utf32_spanish2_ci Utf32 8 PadSpace Tailored(14);
    175 utf32_roman_ci Utf32 8 PadSpace Tailored(15);
    176 utf32_persian_ci Utf32 8 PadSpace Tailored(16);
    177 utf32_esperanto_ci Utf32 8 PadSpace Tailored(17);
    178 utf32_hungarian_ci Utf32 8 PadSpace Tailored(18);
    179 utf32_sinhala_ci Utf32 8 PadSpace Tailored(19);
    180 utf32_german2_ci Utf32 8 PadSpace Tailored(20);
    181 utf32_croatian_mysql561_ci Utf32 8 PadSpace Tailored(21);
    182 utf32_unicode_520_ci Utf32 8 PadSpace Unicode520;
    183 utf32_vietnamese_ci Utf32 8 PadSpace Tailored(22);
    192 utf8mb3_unicode_ci Utf8mb3 8 PadSpace Unicode400;
    193 utf8mb3_icelandic_ci Utf8mb3 8 PadSpace Tailored(1);
    194 utf8mb3_latvian_ci Utf8mb3 8 PadSpace Tailored(2);
    195 utf8mb3_romanian_ci Utf8mb3 8 PadSpace Tailored(3);
    196 utf8mb3_slovenian_ci Utf8mb3 8 PadSpace Tailored(4);
    197 utf8mb3_polish_ci Utf8mb3 8 PadSpace Tailored(5);
    198 utf8mb3_estonian_ci Utf8mb3 8 PadSpace Tailored(6);
    199 utf8mb3_spanish_ci Utf8mb3 8 PadSpace Tailored(7);
    200 utf8mb3_swedish_ci Utf8mb3 8 PadSpace Tailored(8);
    201 utf8mb3_turkish_ci Utf8mb3 8 PadSpace Tailored(9);
    202 utf8mb3_czech_ci Utf8mb3 8 PadSpace Tailored(10);
    203 utf8mb3_danish_ci Utf8mb3 8 PadSpace Tailored(11);
    204 utf8mb3_lithuanian_ci Utf8mb3 8 PadSpace Tailored(12);
    205 utf8mb3_slovak_ci Utf8mb3 8 PadSpace Tailored(13);
    206 utf8mb3_spanish2_ci Utf8mb3 8 PadSpace Tailored(14);
    207 utf8mb3_roman_ci Utf8mb3 8 PadSpace Tailored(15);
    208 utf8mb3_persian_ci Utf8mb3 8 PadSpace Tailored(16);
    209 utf8mb3_esperanto_ci Utf8mb3 8 PadSpace Tailored(17);
    210 utf8mb3_hungarian_ci Utf8mb3 8 PadSpace Tailored(18);
    211 utf8mb3_sinhala_ci Utf8mb3 8 PadSpace Tailored(19);
    212 utf8mb3_german2_ci Utf8mb3 8 PadSpace Tailored(20);
    213 utf8mb3_croatian_mysql561_ci Utf8mb3 8 PadSpace Tailored(21);
    214 utf8mb3_unicode_520_ci Utf8mb3 8 PadSpace Unicode520;
    215 utf8mb3_vietnamese_ci Utf8mb3 8 PadSpace Tailored(22);
    223 utf8mb3_general_mysql500_ci Utf8mb3 1 PadSpace General500;
    224 utf8mb4_unicode_ci Utf8mb4 8 PadSpace Unicode400;
    225 utf8mb4_icelandic_ci Utf8mb4 8 PadSpace Tailored(1);
    226 utf8mb4_latvian_ci Utf8mb4 8 PadSpace Tailored(2);
    227 utf8mb4_romanian_ci Utf8mb4 8 PadSpace Tailored(3);
    228 utf8mb4_slovenian_ci Utf8mb4 8 PadSpace Tailored(4);
    229 utf8mb4_polish_ci Utf8mb4 8 PadSpace Tailored(5);
    230 utf8mb4_estonian_ci Utf8mb4 8 PadSpace Tailored(6);
    231 utf8mb4_spanish_ci Utf8mb4 8 PadSpace Tailored(7);
    232 utf8mb4_swedish_ci Utf8mb4 8 PadSpace Tailored(8);
    233 utf8mb4_turkish_ci Utf8mb4 8 PadSpace Tailored(9);
    234 utf8mb4_czech_ci Utf8mb4 8 PadSpace Tailored(10);
    235 utf8mb4_danish_ci Utf8mb4 8 PadSpace Tailored(11);
    236 utf8mb4_lithuanian_ci Utf8mb4 8 PadSpace Tailored(12);
    237 utf8mb4_slovak_ci Utf8mb4 8 PadSpace Tailored(13);
    238 utf8mb4_spanish2_ci Utf8mb4 8 PadSpace Tailored(14);
    239 utf8mb4_roman_ci Utf8mb4 8 PadSpace Tailored(15);
    240 utf8mb4_persian_ci Utf8mb4 8 PadSpace Tailored(16);
    241 utf8mb4_esperanto_ci Utf8mb4 8 PadSpace Tailored(17);
    242 utf8mb4_hungarian_ci Utf8mb4 8 PadSpace Tailored(18);
    243 utf8mb4_sinhala_ci Utf8mb4 8 PadSpace Tailored(19);
    244 utf8mb4_german2_ci Utf8mb4 8 PadSpace Tailored(20);
    245 utf8mb4_croatian_mysql561_ci Utf8mb4 8 PadSpace Tailored(21);
    246 utf8mb4_unicode_520_ci Utf8mb4 8 PadSpace Unicode520;
    247 utf8mb4_vietnamese_ci Utf8mb4 8 PadSpace Tailored(22);
    576 utf8mb3_croatian_ci Utf8mb3 8 PadSpace Tailored(23);
    577 utf8mb3_myanmar_ci Utf8mb3 8 PadSpace Tailored(24);
    578 utf8mb3_thai_520_w2 Utf8mb3 4 PadSpace Tailored(25);
    608 utf8mb4_croatian_ci Utf8mb4 8 PadSpace Tailored(23);
    609 utf8mb4_myanmar_ci Utf8mb4 8 PadSpace Tailored(24);
    610 utf8mb4_thai_520_w2 Utf8mb4 4 PadSpace Tailored(25);
    640 ucs2_croatian_ci Ucs2 8 PadSpace Tailored(23);
    641 ucs2_myanmar_ci Ucs2 8 PadSpace Tailored(24);
    642 ucs2_thai_520_w2 Ucs2 4 PadSpace Tailored(25);
    672 utf16_croatian_ci Utf16 8 PadSpace Tailored(23);
    673 utf16_myanmar_ci Utf16 8 PadSpace Tailored(24);
    674 utf16_thai_520_w2 Utf16 4 PadSpace Tailored(25);
    736 utf32_croatian_ci Utf32 8 PadSpace Tailored(23);
    737 utf32_myanmar_ci Utf32 8 PadSpace Tailored(24);
    738 utf32_thai_520_w2 Utf32 4 PadSpace Tailored(25);
    1025 big5_chinese_nopad_ci Big5 1 NoPad MultiByte;
    1027 dec8_swedish_nopad_ci Dec8 1 NoPad Table(0);
    1028 cp850_general_nopad_ci Cp850 1 NoPad Table(1);
    1030 hp8_english_nopad_ci Hp8 1 NoPad Table(3);
    1031 koi8r_general_nopad_ci Koi8r 1 NoPad Table(4);
    1032 latin1_swedish_nopad_ci Latin1 1 NoPad Table(5);
    1033 latin2_general_nopad_ci Latin2 1 NoPad Table(6);
    1034 swe7_swedish_nopad_ci Swe7 1 NoPad Table(7);
    1035 ascii_general_nopad_ci Ascii 1 NoPad Table(8);
    1036 ujis_japanese_nopad_ci Ujis 1 NoPad MultiByte;
    1037 sjis_japanese_nopad_ci Sjis 1 NoPad MultiByte;
    1040 hebrew_general_nopad_ci Hebrew 1 NoPad Table(11);
    1042 tis620_thai_nopad_ci Tis620 4 NoPad Whole(2);
    1043 euckr_korean_nopad_ci Euckr 1 NoPad MultiByte;
    1046 koi8u_general_nopad_ci Koi8u 1 NoPad Table(14);
    1048 gb2312_chinese_nopad_ci Gb2312 1 NoPad MultiByte;
    1049 greek_general_nopad_ci Greek 1 NoPad Table(16);
    1050 cp1250_general_nopad_ci Cp1250 1 NoPad Table(17);
    1052 gbk_chinese_nopad_ci Gbk 1 NoPad MultiByte;
    1054 latin5_turkish_nopad_ci Latin5 1 NoPad Table(20);
    1056 armscii8_general_nopad_ci Armscii8 1 NoPad Table(21);
    1057 utf8mb3_general_nopad_ci Utf8mb3 1 NoPad General;
    1059 ucs2_general_nopad_ci Ucs2 1 NoPad General;
    1060 cp866_general_nopad_ci Cp866 1 NoPad Table(22);
    1061 keybcs2_general_nopad_ci Keybcs2 1 NoPad Table(23);
    1062 macce_general_nopad_ci Macce 1 NoPad Table(24);
    1063 macroman_general_nopad_ci Macroman 1 NoPad Table(25);
    1064 cp852_general_nopad_ci Cp852 1 NoPad Table(26);
    1065 latin7_general_nopad_ci Latin7 1 NoPad Table(27);
    1067 macce_nopad_bin Macce 1 NoPad Code;
    1069 utf8mb4_general_nopad_ci Utf8mb4 1 NoPad General;
    1070 utf8mb4_nopad_bin Utf8mb4 1 NoPad Code;
    1071 latin1_nopad_bin Latin1 1 NoPad Code;
    1074 cp1251_nopad_bin Cp1251 1 NoPad Code;
    1075 cp1251_general_nopad_ci Cp1251 1 NoPad Table(32);
    1077 macroman_nopad_bin Macroman 1 NoPad Code;
    1078 utf16_general_nopad_ci Utf16 1 NoPad General;
    1079 utf16_nopad_bin Utf16 1 NoPad Code;
    1080 utf16le_general_nopad_ci Utf16le 1 NoPad General;
    1081 cp1256_general_nopad_ci Cp1256 1 NoPad Table(34);
    1082 cp1257_nopad_bin Cp1257 1 NoPad Code;
    1083 cp1257_general_nopad_ci Cp1257 1 NoPad Table(35);
    1084 utf32_general_nopad_ci Utf32 1 NoPad General;
    1085 utf32_nopad_bin Utf32 1 NoPad Code;
    1086 utf16le_nopad_bin Utf16le 1 NoPad Code;
    1088 armscii8_nopad_bin Armscii8 1 NoPad Code;
    1089 ascii_nopad_bin Ascii 1 NoPad Code;
    1090 cp1250_nopad_bin Cp1250 1 NoPad Code;
    1091 cp1256_nopad_bin Cp1256 1 NoPad Code;
    1092 cp866_nopad_bin Cp866 1 NoPad Code;
    1093 dec8_nopad_bin Dec8 1 NoPad Code;
    1094 greek_nopad_bin Greek 1 NoPad Code;
    1095 hebrew_nopad_bin Hebrew 1 NoPad Code;
    1096 hp8_nopad_bin Hp8 1 NoPad Code;
    1097 keybcs2_nopad_bin Keybcs2 1 NoPad Code;
    1098 koi8r_nopad_bin Koi8r 1 NoPad Code;
    1099 koi8u_nopad_bin Koi8u 1 NoPad Code;
    1101 latin2_nopad_bin Latin2 1 NoPad Code;
    1102 latin5_nopad_bin Latin5 1 NoPad Code;
    1103 latin7_nopad_bin Latin7 1 NoPad Code;
    1104 cp850_nopad_bin Cp850 1 NoPad Code;
    1105 cp852_nopad_bin Cp852 1 NoPad Code;
    1106 swe7_nopad_bin Swe7 1 NoPad Code;
    1107 utf8mb3_nopad_bin Utf8mb3 1 NoPad Code;
    1108 big5_nopad_bin Big5 1 NoPad Code;
    1109 euckr_nopad_bin Euckr 1 NoPad Code;
    1110 gb2312_nopad_bin Gb2312 1 NoPad Code;
    1111 gbk_nopad_bin Gbk 1 NoPad Code;
    1112 sjis_nopad_bin Sjis 1 NoPad Code;
    1113 tis620_nopad_bin Tis620 1 NoPad Code;
    1114 ucs2_nopad_bin Ucs2 1 NoPad Code;
    1115 ujis_nopad_bin Ujis 1 NoPad Code;
    1116 geostd8_general_nopad_ci Geostd8 1 NoPad Table(36);
    1117 geostd8_nopad_bin Geostd8 1 NoPad Code;
    1119 cp932_japanese_nopad_ci Cp932 1 NoPad MultiByte;
    1120 cp932_nopad_bin Cp932 1 NoPad Code;
    1121 eucjpms_japanese_nopad_ci Eucjpms 1 NoPad MultiByte;
    1122 eucjpms_nopad_bin Eucjpms 1 NoPad Code;
    1125 utf16_unicode_nopad_ci Utf16 8 NoPad Unicode400;
    1147 utf16_unicode_520_nopad_ci Utf16 8 NoPad Unicode520;
    1152 ucs2_unicode_nopad_ci Ucs2 8 NoPad Unicode400;
    1174 ucs2_unicode_520_nopad_ci Ucs2 8 NoPad Unicode520;
    1184 utf32_unicode_nopad_ci Utf32 8 NoPad Unicode400;
    1206 utf32_unicode_520_nopad_ci Utf32 8 NoPad Unicode520;
    1216 utf8mb3_unicode_nopad_ci Utf8mb3 8 NoPad Unicode400;
    1238 utf8mb3_unicode_520_nopad_ci Utf8mb3 8 NoPad Unicode520;
    1248 utf8mb4_unicode_nopad_ci Utf8mb4 8 NoPad Unicode400;
    1270 utf8mb4_unicode_520_nopad_ci Utf8mb4 8 NoPad Unicode520;
}
