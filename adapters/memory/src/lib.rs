//! Storage, writer and event bus in memory.
