//! The contract between the executor and any storage engine
