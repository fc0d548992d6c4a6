//! BLAKE3, the one hash of the crate: names of objects, packs and artifacts, and the chain of records.

use std::io::{self, Write};

use crate::model::ids::ObjectId;

/// The id of these bytes.
pub fn id_of(bytes: &[u8]) -> ObjectId {
    ObjectId(*blake3::hash(bytes).as_bytes())
}

/// Makes the id of bytes that come in pieces.
#[derive(Clone, Debug, Default)]
pub struct Hasher(blake3::Hasher);

impl Hasher {
    /// Of no bytes yet.
    pub fn new() -> Hasher {
        Hasher::default()
    }

    /// Takes the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The id of all pieces so far.
    pub fn finish(&self) -> ObjectId {
        ObjectId(*self.0.finalize().as_bytes())
    }
}

impl Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_have_the_id_of_the_whole() {
        let mut hasher = Hasher::new();
        hasher.update(b"ab");
        hasher.write_all(b"c").unwrap();
        assert_eq!(hasher.finish(), id_of(b"abc"));
        // The published BLAKE3 of no bytes.
        assert_eq!(id_of(b"").to_string(), "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
    }
}
