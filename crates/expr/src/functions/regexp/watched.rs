//! A pattern whose matching ends when the statement has to: PCRE2 calls back at every item of it.
//!
//! Must not unwind: what calls back is C. Slower than matching without; for long work only.

use std::ffi::{c_int, c_void};
use std::ptr;

use pcre2_sys::{
    PCRE2_AUTO_CALLOUT, PCRE2_ERROR_CALLOUT, PCRE2_ERROR_MATCHLIMIT, PCRE2_ERROR_NOMATCH,
    PCRE2_JIT_COMPLETE, pcre2_code_8, pcre2_code_free_8, pcre2_compile_8,
    pcre2_get_error_message_8, pcre2_get_ovector_count_8, pcre2_get_ovector_pointer_8,
    pcre2_jit_compile_8, pcre2_match_8, pcre2_match_context_8, pcre2_match_context_create_8,
    pcre2_match_context_free_8, pcre2_match_data_8, pcre2_match_data_create_from_pattern_8,
    pcre2_match_data_free_8,
};
use selkie_meter::spend;
use selkie_types::SqlError;

use super::Groups;

/// The most callbacks of one match. Compat: PCRE2 gives up after as many steps.
const MOST: usize = 10_000_000;

type Callback = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;

unsafe extern "C" {
    // Not among the bindings of the crate.
    fn pcre2_set_callout_8(
        context: *mut pcre2_match_context_8,
        callback: Option<Callback>,
        data: *mut c_void,
    ) -> c_int;
}

/// The reason why a match has no result.
pub(super) enum Failure {
    /// The statement has to end.
    Ended(SqlError),
    /// PCRE2 failed, with this message.
    Told(String),
}

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Watched(*mut pcre2_code_8);

// SAFETY: a compiled pattern is not changed once it was made, and may be used by several threads.
unsafe impl Send for Watched {}
// SAFETY: as above.
unsafe impl Sync for Watched {}

impl Drop for Watched {
    fn drop(&mut self) {
        // SAFETY: it was made by `new` and is freed once.
        unsafe { pcre2_code_free_8(self.0) }
    }
}

/// PCRE2's memory for one match, freed with it.
struct Scratch {
    data: *mut pcre2_match_data_8,
    context: *mut pcre2_match_context_8,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: both were made by `Watched::scratch`; freeing nothing is allowed.
        unsafe {
            pcre2_match_data_free_8(self.data);
            pcre2_match_context_free_8(self.context);
        }
    }
}

/// State that the callbacks of one match share.
struct Watch {
    calls: usize,
    /// Units of work between two calls.
    step: usize,
    ended: Option<SqlError>,
}

unsafe extern "C" fn look(_: *mut c_void, data: *mut c_void) -> c_int {
    // SAFETY: `find_at` passes its own, which nobody else touches while the match lasts.
    let watch = unsafe { &mut *data.cast::<Watch>() };
    watch.calls += 1;
    if watch.calls > MOST {
        return PCRE2_ERROR_MATCHLIMIT;
    }
    match spend(watch.step) {
        Ok(()) => 0,
        Err(error) => {
            watch.ended = Some(error);
            PCRE2_ERROR_CALLOUT
        }
    }
}

impl Watched {
    /// Compiles a pattern that was compiled without being watched before.
    pub(super) fn new(pattern: &str, options: u32) -> Option<Self> {
        let (mut error, mut offset) = (0, 0);
        // SAFETY: the text is as long as is said, and lives as long as the call.
        let code = unsafe {
            let options = options | PCRE2_AUTO_CALLOUT;
            let text = pattern.as_ptr();
            pcre2_compile_8(text, pattern.len(), options, &mut error, &mut offset, ptr::null_mut())
        };
        if code.is_null() {
            return None;
        }
        // Without it matching is slower, and nothing else.
        // SAFETY: the code was just made and nobody else has it.
        unsafe { pcre2_jit_compile_8(code, PCRE2_JIT_COMPLETE) };
        Some(Self(code))
    }

    fn scratch(&self) -> Option<Scratch> {
        // SAFETY: the code is valid; without contexts of their own both use the C library's memory.
        let scratch = unsafe {
            Scratch {
                data: pcre2_match_data_create_from_pattern_8(self.0, ptr::null_mut()),
                context: pcre2_match_context_create_8(ptr::null_mut()),
            }
        };
        (!scratch.data.is_null() && !scratch.context.is_null()).then_some(scratch)
    }

    /// The groups of the first match that begins at `start` or later.
    pub(super) fn find_at(&self, text: &[u8], start: usize) -> Result<Option<Groups>, Failure> {
        let no_memory = || Failure::Told("no more memory".to_owned());
        let scratch = self.scratch().ok_or_else(no_memory)?;
        // An item that repeats looks at much of the text between two calls.
        let mut watch = Watch { calls: 0, step: 32 + text.len() / 16, ended: None };
        // SAFETY: all that is passed lives until the match is over, and `start` lies in the text.
        let found = unsafe {
            pcre2_set_callout_8(scratch.context, Some(look), (&raw mut watch).cast());
            let (data, context) = (scratch.data, scratch.context);
            pcre2_match_8(self.0, text.as_ptr(), text.len(), start, 0, data, context)
        };
        if let Some(error) = watch.ended {
            return Err(Failure::Ended(error));
        }
        match found {
            PCRE2_ERROR_NOMATCH => Ok(None),
            ..0 => Err(Failure::Told(message(found))),
            _ => Ok(Some(scratch.groups())),
        }
    }
}

impl Scratch {
    fn groups(&self) -> Groups {
        // SAFETY: the data has that many pairs of places, all of them set by the match.
        let places = unsafe {
            let count = pcre2_get_ovector_count_8(self.data) as usize;
            std::slice::from_raw_parts(pcre2_get_ovector_pointer_8(self.data), count * 2)
        };
        let pairs = places.chunks_exact(2);
        pairs.map(|pair| (pair[0] != usize::MAX).then_some((pair[0], pair[1]))).collect()
    }
}

fn message(code: c_int) -> String {
    let mut text = [0u8; 256];
    // SAFETY: the buffer is as long as is said.
    let length = unsafe { pcre2_get_error_message_8(code, text.as_mut_ptr(), text.len()) };
    String::from_utf8_lossy(&text[..usize::try_from(length).unwrap_or(0)]).into_owned()
}
