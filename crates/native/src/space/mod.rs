//! Space inside and among data files: a file per table, page allocation by bitmaps that are changed
//! through the log like any other page, growth ahead of need. Nothing here may know the content of
//! the pages.

mod alloc;
mod file;
mod map;
mod spare;

pub(crate) use alloc::Reservation;
pub(crate) use file::data_file_name;
pub(crate) use file::{FILE_META_OFFSET, Space};
#[cfg(test)]
pub(crate) use map::EXTENT;
pub(crate) use map::{REGION_OVERHEAD, REGION_PAGES};
