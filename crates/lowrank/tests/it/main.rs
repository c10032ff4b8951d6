//! Integration tests.

mod input;
