//! The supported collations, by number. Data only.

use super::collation::Rule::*;
use super::collation::{Collation, CollationId, Pad};
use super::list::Charset;

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
            },
        )*];
    };
}

/// One more than the largest number.
const NUMBERS: usize = 3100;

/// Position of each number in the list, plus one; zero where there is none.
static POSITIONS: [u8; NUMBERS] = positions();

const fn positions() -> [u8; NUMBERS] {
    let mut positions = [0; NUMBERS];
    let mut i = 0;
    while i < COLLATIONS.len() {
        positions[COLLATIONS[i].id.0 as usize] = i as u8 + 1;
        i += 1;
    }
    positions
}

/// The collation with a number.
pub(super) fn find(id: CollationId) -> Option<&'static Collation> {
    match POSITIONS.get(usize::from(id.0)) {
        Some(&position) if position > 0 => Some(&COLLATIONS[usize::from(position) - 1]),
        _ => None,
    }
}

/// The collation of bytes.
pub(super) fn binary() -> &'static Collation {
    &COLLATIONS[usize::from(POSITIONS[CollationId::BINARY.0 as usize]) - 1]
}

collations! {
    3 dec8_swedish_ci Dec8 1 PadSpace Table(0);
    4 cp850_general_ci Cp850 1 PadSpace Table(1);
    5 latin1_german1_ci Latin1 1 PadSpace Table(2);
    6 hp8_english_ci Hp8 1 PadSpace Table(3);
    7 koi8r_general_ci Koi8r 1 PadSpace Table(4);
    8 latin1_swedish_ci Latin1 1 PadSpace Table(5);
    9 latin2_general_ci Latin2 1 PadSpace Table(6);
    10 swe7_swedish_ci Swe7 1 PadSpace Table(7);
    11 ascii_general_ci Ascii 1 PadSpace Table(8);
    14 cp1251_bulgarian_ci Cp1251 1 PadSpace Table(9);
    15 latin1_danish_ci Latin1 1 PadSpace Table(10);
    16 hebrew_general_ci Hebrew 1 PadSpace Table(11);
    20 latin7_estonian_cs Latin7 1 PadSpace Table(12);
    21 latin2_hungarian_ci Latin2 1 PadSpace Table(13);
    22 koi8u_general_ci Koi8u 1 PadSpace Table(14);
    23 cp1251_ukrainian_ci Cp1251 1 PadSpace Table(15);
    25 greek_general_ci Greek 1 PadSpace Table(16);
    26 cp1250_general_ci Cp1250 1 PadSpace Table(17);
    27 latin2_croatian_ci Latin2 1 PadSpace Table(18);
    29 cp1257_lithuanian_ci Cp1257 1 PadSpace Table(19);
    30 latin5_turkish_ci Latin5 1 PadSpace Table(20);
    32 armscii8_general_ci Armscii8 1 PadSpace Table(21);
    33 utf8mb3_general_ci Utf8mb3 1 PadSpace General;
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
    90 ucs2_bin Ucs2 1 PadSpace Code;
    92 geostd8_general_ci Geostd8 1 PadSpace Table(36);
    93 geostd8_bin Geostd8 1 PadSpace Code;
    94 latin1_spanish_ci Latin1 1 PadSpace Table(37);
    99 cp1250_polish_ci Cp1250 1 PadSpace Table(38);
    101 utf16_unicode_ci Utf16 8 PadSpace Unicode400;
    123 utf16_unicode_520_ci Utf16 8 PadSpace Unicode520;
    128 ucs2_unicode_ci Ucs2 8 PadSpace Unicode400;
    150 ucs2_unicode_520_ci Ucs2 8 PadSpace Unicode520;
    159 ucs2_general_mysql500_ci Ucs2 1 PadSpace General500;
    160 utf32_unicode_ci Utf32 8 PadSpace Unicode400;
    182 utf32_unicode_520_ci Utf32 8 PadSpace Unicode520;
    192 utf8mb3_unicode_ci Utf8mb3 8 PadSpace Unicode400;
    214 utf8mb3_unicode_520_ci Utf8mb3 8 PadSpace Unicode520;
    223 utf8mb3_general_mysql500_ci Utf8mb3 1 PadSpace General500;
    224 utf8mb4_unicode_ci Utf8mb4 8 PadSpace Unicode400;
    246 utf8mb4_unicode_520_ci Utf8mb4 8 PadSpace Unicode520;
    1027 dec8_swedish_nopad_ci Dec8 1 NoPad Table(0);
    1028 cp850_general_nopad_ci Cp850 1 NoPad Table(1);
    1030 hp8_english_nopad_ci Hp8 1 NoPad Table(3);
    1031 koi8r_general_nopad_ci Koi8r 1 NoPad Table(4);
    1032 latin1_swedish_nopad_ci Latin1 1 NoPad Table(5);
    1033 latin2_general_nopad_ci Latin2 1 NoPad Table(6);
    1034 swe7_swedish_nopad_ci Swe7 1 NoPad Table(7);
    1035 ascii_general_nopad_ci Ascii 1 NoPad Table(8);
    1040 hebrew_general_nopad_ci Hebrew 1 NoPad Table(11);
    1046 koi8u_general_nopad_ci Koi8u 1 NoPad Table(14);
    1049 greek_general_nopad_ci Greek 1 NoPad Table(16);
    1050 cp1250_general_nopad_ci Cp1250 1 NoPad Table(17);
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
    1114 ucs2_nopad_bin Ucs2 1 NoPad Code;
    1116 geostd8_general_nopad_ci Geostd8 1 NoPad Table(36);
    1117 geostd8_nopad_bin Geostd8 1 NoPad Code;
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
    2048 utf8mb3_uca1400_ai_ci Utf8mb3 8 PadSpace Unicode1400;
    2052 utf8mb3_uca1400_nopad_ai_ci Utf8mb3 8 NoPad Unicode1400;
    2304 utf8mb4_uca1400_ai_ci Utf8mb4 8 PadSpace Unicode1400;
    2308 utf8mb4_uca1400_nopad_ai_ci Utf8mb4 8 NoPad Unicode1400;
    2560 ucs2_uca1400_ai_ci Ucs2 8 PadSpace Unicode1400;
    2564 ucs2_uca1400_nopad_ai_ci Ucs2 8 NoPad Unicode1400;
    2816 utf16_uca1400_ai_ci Utf16 8 PadSpace Unicode1400;
    2820 utf16_uca1400_nopad_ai_ci Utf16 8 NoPad Unicode1400;
    3072 utf32_uca1400_ai_ci Utf32 8 PadSpace Unicode1400;
    3076 utf32_uca1400_nopad_ai_ci Utf32 8 NoPad Unicode1400;
}
