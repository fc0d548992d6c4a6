//! The names in a folder, as the system tells them, and in order.

use std::ffi::CStr;
use std::ops::Range;
use std::os::fd::BorrowedFd;

use rustix::fs::FileType;

/// Names of one folder in one piece of memory, each with the NUL after it that the system wants.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    bytes: Vec<u8>,
}

impl Names {
    /// Where the name now is, without its NUL.
    fn push(&mut self, name: &[u8]) -> Range<usize> {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(name);
        self.bytes.push(0);
        begin..begin + name.len()
    }

    /// The raw bytes of a name.
    pub fn get(&self, at: &Range<usize>) -> &[u8] {
        self.bytes.get(at.clone()).unwrap_or_default()
    }

    /// As the system takes it.
    pub fn as_c_str(&self, at: &Range<usize>) -> &CStr {
        self.bytes.get(at.start..=at.end).and_then(|name| CStr::from_bytes_with_nul(name).ok()).unwrap_or_default()
    }
}

/// A name that was found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    beginning: u128,
    /// Where it is among the names.
    pub name: Range<usize>,
    /// What stands there, where the file system tells that with the name; else unknown.
    pub file_type: FileType,
}

/// Lists folders, one after another, always in the same memory.
#[derive(Debug)]
pub(super) struct Lister {
    buffer: Vec<u8>,
    /// Of the folder that was listed last.
    pub names: Names,
    /// The same, sorted.
    pub found: Vec<Found>,
}

impl Lister {
    /// Takes memory for the system's answers; most folders fit into one.
    pub fn new() -> Lister {
        Lister { buffer: Vec::with_capacity(32 << 10), names: Names::default(), found: Vec::new() }
    }

    /// Lists an open folder that nobody has read from.
    ///
    /// # Errors
    /// What the system says.
    pub fn list(&mut self, folder: BorrowedFd<'_>) -> rustix::io::Result<()> {
        let Lister { buffer, names, found } = self;
        names.bytes.clear();
        found.clear();
        each_name(folder, buffer, |name, file_type| {
            if !matches!(name, b"." | b"..") {
                found.push(Found { beginning: beginning(name), name: names.push(name), file_type });
            }
        })?;
        found.sort_unstable_by(|one, other| {
            one.beginning.cmp(&other.beginning).then_with(|| names.get(&one.name).cmp(names.get(&other.name)))
        });
        Ok(())
    }

    /// As [`list`](Lister::list), from what is known of a folder: its names in their order, and whether a folder stands there.
    pub fn recall<'a>(&mut self, known: impl Iterator<Item = (&'a [u8], bool)>) {
        let Lister { names, found, .. } = self;
        names.bytes.clear();
        found.clear();
        found.extend(known.map(|(name, is_folder)| {
            let file_type = if is_folder { FileType::Directory } else { FileType::RegularFile };
            Found { beginning: beginning(name), name: names.push(name), file_type }
        }));
    }

    /// Whether the name was found.
    pub fn has(&self, name: &[u8]) -> bool {
        self.found.binary_search_by(|other| self.names.get(&other.name).cmp(name)).is_ok()
    }
}

#[cfg(target_os = "linux")]
fn each_name(
    folder: BorrowedFd<'_>,
    buffer: &mut Vec<u8>,
    mut take: impl FnMut(&[u8], FileType),
) -> rustix::io::Result<()> {
    let mut entries = rustix::fs::RawDir::new(folder, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry?;
        take(entry.file_name().to_bytes(), entry.file_type());
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn each_name(
    folder: BorrowedFd<'_>,
    _buffer: &mut Vec<u8>,
    mut take: impl FnMut(&[u8], FileType),
) -> rustix::io::Result<()> {
    for entry in rustix::fs::Dir::read_from(folder)? {
        let entry = entry?;
        take(entry.file_name().to_bytes(), entry.file_type());
    }
    Ok(())
}

/// The first bytes of a name as a number that is ordered as they are: most names differ there, and no name holds NUL.
fn beginning(name: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(name).for_each(|(place, byte)| *place = *byte);
    u128::from_be_bytes(bytes)
}
