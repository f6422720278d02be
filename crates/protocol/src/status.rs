//! Server status flags in OK and EOF packets.
//!
//! Must not hold session state: the server makes the flags for each packet.

use std::ops::{BitOr, BitOrAssign};

/// A set of server status flags.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Status(pub u16);

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident = $value:literal;)*) => {
        impl Status { $($(#[$doc])* pub const $name: Self = Self($value);)* }
    };
}

flags! {
    /// No flag.
    NONE = 0;
    /// A transaction is open.
    IN_TRANS = 0x0001;
    /// Autocommit is on.
    AUTOCOMMIT = 0x0002;
    /// Another result follows.
    MORE_RESULTS = 0x0008;
    /// No good index was used.
    NO_GOOD_INDEX_USED = 0x0010;
    /// No index was used.
    NO_INDEX_USED = 0x0020;
    /// A cursor is open.
    CURSOR_EXISTS = 0x0040;
    /// The cursor's last row was sent.
    LAST_ROW_SENT = 0x0080;
    /// A database was dropped.
    DB_DROPPED = 0x0100;
    /// Backslash is an ordinary character in strings.
    NO_BACKSLASH_ESCAPES = 0x0200;
    /// The metadata of a prepared statement changed.
    METADATA_CHANGED = 0x0400;
    /// The statement was slow.
    QUERY_WAS_SLOW = 0x0800;
    /// The result set contains the OUT parameters of a call.
    PS_OUT_PARAMS = 0x1000;
    /// The open transaction is read-only.
    IN_TRANS_READONLY = 0x2000;
    /// The OK packet contains session state changes.
    SESSION_STATE_CHANGED = 0x4000;
    /// `ANSI_QUOTES` is on.
    ANSI_QUOTES = 0x8000;
}

impl Status {
    /// Whether all flags of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// This set without the flags of `other`.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Sets or clears a flag.
    pub fn set(&mut self, flag: Self, on: bool) {
        if on { self.0 |= flag.0 } else { self.0 &= !flag.0 }
    }
}

impl BitOr for Status {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Status {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
