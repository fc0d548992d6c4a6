//! One directory of a snapshot, and its one encoding: equal directories have equal bytes, so equal ids.

use super::ids::{ObjectId, check_name};
use crate::error::Error;

/// What a name in a directory stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file; the object is its content.
    File,
    /// A symbolic link; the object is its target, verbatim.
    Link,
    /// A directory; the object is its [`Tree`].
    Directory,
    /// A file that was seen and could not be kept (too large, unreadable, changing while read): no object.
    Unheld,
}

/// One name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// Raw bytes of one component, checked.
    pub name: Vec<u8>,
    /// What it is.
    pub kind: EntryKind,
    /// Permission bits, at most 0o777; 0 for links.
    pub mode: u32,
    /// Bytes of a file or of a link's target; of an unheld file as it was seen; 0 for directories.
    pub size: u64,
    /// The content; all zero for unheld files.
    pub object: ObjectId,
}

/// One directory: entries in the order of their names' bytes, each name once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    entries: Vec<TreeEntry>,
}

/// First bytes of an encoded directory: name and version of the layout.
const MAGIC: &[u8; 8] = b"hwtree\x00\x01";

impl Tree {
    /// Sorts and checks the entries.
    ///
    /// # Errors
    /// Bad input if a name is refused or met twice, or a mode has other than permission bits.
    pub fn new(mut entries: Vec<TreeEntry>) -> Result<Tree, Error> {
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        let twice = entries.windows(2).any(|pair| matches!(pair, [a, b] if a.name == b.name));
        if twice {
            return Err(damaged("a name is there twice"));
        }
        for entry in &entries {
            check_name(&entry.name).map_err(damaged)?;
            if entry.mode & !0o777 != 0 {
                return Err(damaged("a mode has other than permission bits"));
            }
        }
        Ok(Tree { entries })
    }

    /// In the order of their names' bytes.
    pub fn entries(&self) -> &[TreeEntry] {
        &self.entries
    }

    /// The entry of that name.
    pub fn get(&self, name: &[u8]) -> Option<&TreeEntry> {
        let at = self.entries.binary_search_by(|entry| entry.name.as_slice().cmp(name)).ok()?;
        self.entries.get(at)
    }

    /// The canonical bytes: magic, then for each entry kind (1 byte), mode (u16), size (u64), object (32 bytes),
    /// length of the name (u16), name. Integers are little endian.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 + self.entries.len() * 64);
        bytes.extend_from_slice(MAGIC);
        for entry in &self.entries {
            bytes.push(match entry.kind {
                EntryKind::File => b'f',
                EntryKind::Link => b'l',
                EntryKind::Directory => b'd',
                EntryKind::Unheld => b'u',
            });
            // Both fit: a mode has nine bits, a name at most 255 bytes (checked in `new`).
            bytes.extend_from_slice(&u16::try_from(entry.mode).unwrap_or_default().to_le_bytes());
            bytes.extend_from_slice(&entry.size.to_le_bytes());
            bytes.extend_from_slice(&entry.object.0);
            bytes.extend_from_slice(&u16::try_from(entry.name.len()).unwrap_or_default().to_le_bytes());
            bytes.extend_from_slice(&entry.name);
        }
        bytes
    }

    /// Reads what [`Tree::encode`] wrote, and nothing else: names are checked, order and uniqueness too.
    ///
    /// # Errors
    /// Bad input that says what is wrong with the stored directory.
    pub fn decode(bytes: &[u8]) -> Result<Tree, Error> {
        let mut rest = bytes.strip_prefix(MAGIC).ok_or_else(|| damaged("it does not begin as a directory object"))?;
        let mut entries: Vec<TreeEntry> = Vec::new();
        while let Some((kind, after)) = rest.split_first() {
            let kind = match kind {
                b'f' => EntryKind::File,
                b'l' => EntryKind::Link,
                b'd' => EntryKind::Directory,
                b'u' => EntryKind::Unheld,
                _ => return Err(damaged("an entry is of an unknown kind")),
            };
            rest = after;
            let mode = u32::from(u16::from_le_bytes(take(&mut rest)?));
            let size = u64::from_le_bytes(take(&mut rest)?);
            let object = ObjectId(take(&mut rest)?);
            let length = usize::from(u16::from_le_bytes(take(&mut rest)?));
            let (name, after) = rest.split_at_checked(length).ok_or_else(cut)?;
            rest = after;
            if entries.last().is_some_and(|last| last.name.as_slice() >= name) {
                return Err(damaged("names are out of order or there twice"));
            }
            entries.push(TreeEntry { name: name.to_vec(), kind, mode, size, object });
        }
        Tree::new(entries)
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], Error> {
    let (head, tail) = rest.split_first_chunk::<N>().ok_or_else(cut)?;
    *rest = tail;
    Ok(*head)
}

fn cut() -> Error {
    damaged("it is cut short")
}

fn damaged(why: &str) -> Error {
    Error::bad_input(format!("stored directory is damaged: {why}"))
        .help("run `highwater verify` to see what is affected")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str) -> TreeEntry {
        TreeEntry { name: name.into(), kind: EntryKind::File, mode: 0o644, size: 3, object: ObjectId([7; 32]) }
    }

    #[test]
    fn a_directory_comes_back_and_its_bytes_do_not_depend_on_the_order_of_entries() {
        let one = Tree::new(vec![entry("b"), entry("a"), entry("\u{fc}")]).unwrap();
        let other = Tree::new(vec![entry("\u{fc}"), entry("a"), entry("b")]).unwrap();
        assert_eq!(one.encode(), other.encode());
        assert_eq!(Tree::decode(&one.encode()).unwrap(), one);
        assert_eq!(Tree::decode(&Tree::default().encode()).unwrap(), Tree::default());
        assert!(one.get(b"a").is_some() && one.get(b"c").is_none());
    }

    #[test]
    fn hostile_directories_are_refused() {
        let mut setuid = entry("a");
        setuid.mode = 0o4755;
        assert!(Tree::new(vec![setuid]).is_err());
        assert!(Tree::new(vec![entry("a"), entry("a")]).is_err());
        assert!(Tree::new(vec![entry("..")]).is_err());
        let good = Tree::new(vec![entry("a"), entry("b")]).unwrap().encode();
        for end in 1..good.len() {
            let result = Tree::decode(&good[..end]);
            // A cut at an entry's end is a valid, shorter directory; its id no longer matches, which the reader checks.
            assert!(result.is_err() || (end - 8) % 46 == 0, "cut at {end}");
        }
        let mut unknown = good.clone();
        unknown[8] = b'x';
        assert!(Tree::decode(&unknown).is_err());
    }
}
