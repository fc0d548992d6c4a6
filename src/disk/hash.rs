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

/// The end of an object in pretty JSON.
const END: &[u8] = b"\n}\n";

/// Puts BLAKE3 of an object in pretty JSON into it, as its last key: of all bytes before the comma in front of it.
pub fn sealed(mut json: Vec<u8>) -> Vec<u8> {
    json.truncate(json.len().saturating_sub(END.len()));
    let seal = seal_of(&json);
    json.extend_from_slice(&seal);
    json
}

/// Whether a file is one of [`sealed`], every byte as it was.
pub fn is_sealed(bytes: &[u8]) -> bool {
    let at = bytes.len().checked_sub(seal_of(&[]).len());
    at.and_then(|at| bytes.split_at_checked(at)).is_some_and(|(before, seal)| seal == seal_of(before))
}

fn seal_of(before: &[u8]) -> Vec<u8> {
    let mut seal = format!(",\n  \"blake3\": \"{}\"", id_of(before)).into_bytes();
    seal.extend_from_slice(END);
    seal
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

    #[test]
    fn every_changed_byte_of_what_is_sealed_shows() {
        let good = sealed(b"{\n  \"a\": 1\n}\n".to_vec());
        let read: serde_json::Value = serde_json::from_slice(&good).unwrap();
        assert_eq!(read["blake3"], id_of(b"{\n  \"a\": 1").to_string());
        assert!(is_sealed(&good) && !is_sealed(b"{\n  \"a\": 1\n}\n") && !is_sealed(b""));
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x20;
            assert!(!is_sealed(&bad) && !is_sealed(&good[..at]), "byte {at}");
        }
    }
}
