//! A pattern whose match stops when the statement must end: PCRE2 calls back at every item.
//!
//! Must not unwind: the caller of the callback is C. Slower than an unwatched match, so for long
//! work only.

use std::ffi::{c_int, c_void};
use std::ptr;

use pcre2_sys::{
    PCRE2_AUTO_CALLOUT, PCRE2_ERROR_CALLOUT, PCRE2_ERROR_JIT_STACKLIMIT, PCRE2_ERROR_MATCHLIMIT,
    PCRE2_ERROR_NOMATCH, PCRE2_JIT_COMPLETE, PCRE2_NO_JIT, pcre2_code_8, pcre2_code_free_8,
    pcre2_compile_8, pcre2_get_error_message_8, pcre2_get_ovector_count_8,
    pcre2_get_ovector_pointer_8, pcre2_jit_compile_8, pcre2_match_8, pcre2_match_context_8,
    pcre2_match_context_create_8, pcre2_match_context_free_8, pcre2_match_data_8,
    pcre2_match_data_create_from_pattern_8, pcre2_match_data_free_8, pcre2_set_heap_limit_8,
};
use selkie_meter::spend;
use selkie_types::SqlError;

use super::Groups;

/// Most callbacks of one match. Compat: PCRE2 gives up after the same number of steps.
const MOST: usize = 10_000_000;

/// Most memory of one match without the JIT, in KiB.
const HEAP: u32 = 48 << 10;

type Callback = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;

unsafe extern "C" {
    // The Rust crate does not bind this function.
    fn pcre2_set_callout_8(
        context: *mut pcre2_match_context_8,
        callback: Option<Callback>,
        data: *mut c_void,
    ) -> c_int;
}

/// Reason for a match without a result.
pub(super) enum Failure {
    /// The statement must end.
    Ended(SqlError),
    /// PCRE2 failed, with this message.
    Told(String),
}

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Watched(*mut pcre2_code_8);

// SAFETY: a compiled pattern is never changed, and PCRE2 allows several threads to use it.
unsafe impl Send for Watched {}
// SAFETY: as above.
unsafe impl Sync for Watched {}

impl Drop for Watched {
    fn drop(&mut self) {
        // SAFETY: `new` made it, and it is freed once.
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
        // SAFETY: `Watched::scratch` made both; freeing a null pointer is allowed.
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
    // SAFETY: `find_at` passes its own `Watch`, which nothing else uses during the match.
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
    /// Compiles a pattern that the unwatched compiler already accepted.
    pub(super) fn new(pattern: &str, options: u32) -> Option<Self> {
        let (mut error, mut offset) = (0, 0);
        // SAFETY: the length is that of the text, which lives as long as the call.
        let code = unsafe {
            let options = options | PCRE2_AUTO_CALLOUT;
            let text = pattern.as_ptr();
            pcre2_compile_8(text, pattern.len(), options, &mut error, &mut offset, ptr::null_mut())
        };
        if code.is_null() {
            return None;
        }
        // Without the JIT matching is only slower.
        // SAFETY: the code was just made and has no other user.
        unsafe { pcre2_jit_compile_8(code, PCRE2_JIT_COMPLETE) };
        Some(Self(code))
    }

    /// Result code of a match from `start` on, with these options.
    fn run(
        &self,
        scratch: &Scratch,
        text: &[u8],
        start: usize,
        options: u32,
    ) -> Result<c_int, Failure> {
        // A repeated item may look at much of the text between two calls.
        let mut watch = Watch { calls: 0, step: 32 + text.len() / 16, ended: None };
        // SAFETY: all arguments live until the match is over, and `start` is within the text.
        let found = unsafe {
            pcre2_set_callout_8(scratch.context, Some(look), (&raw mut watch).cast());
            pcre2_set_heap_limit_8(scratch.context, HEAP);
            let (data, context) = (scratch.data, scratch.context);
            pcre2_match_8(self.0, text.as_ptr(), text.len(), start, options, data, context)
        };
        match watch.ended {
            Some(error) => Err(Failure::Ended(error)),
            None => Ok(found),
        }
    }

    fn scratch(&self) -> Option<Scratch> {
        // SAFETY: the code is valid; null contexts mean the C library's memory functions.
        let scratch = unsafe {
            Scratch {
                data: pcre2_match_data_create_from_pattern_8(self.0, ptr::null_mut()),
                context: pcre2_match_context_create_8(ptr::null_mut()),
            }
        };
        (!scratch.data.is_null() && !scratch.context.is_null()).then_some(scratch)
    }

    /// The groups of the first match from `start` on.
    pub(super) fn find_at(&self, text: &[u8], start: usize) -> Result<Option<Groups>, Failure> {
        let no_memory = || Failure::Told("no more memory".to_owned());
        let scratch = self.scratch().ok_or_else(no_memory)?;
        let found = match self.run(&scratch, text, start, 0)? {
            // The JIT's stack is small: a group that is repeated a thousand times fills it.
            PCRE2_ERROR_JIT_STACKLIMIT => self.run(&scratch, text, start, PCRE2_NO_JIT)?,
            found => found,
        };
        match found {
            PCRE2_ERROR_NOMATCH => Ok(None),
            ..0 => Err(Failure::Told(message(found))),
            _ => Ok(Some(scratch.groups())),
        }
    }
}

impl Scratch {
    fn groups(&self) -> Groups {
        // SAFETY: the data has this many pairs of offsets, and the match has set them all.
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
    // SAFETY: the length is that of the buffer.
    let length = unsafe { pcre2_get_error_message_8(code, text.as_mut_ptr(), text.len()) };
    String::from_utf8_lossy(&text[..usize::try_from(length).unwrap_or(0)]).into_owned()
}
