//! The objects of a store: bytes, found by their BLAKE3, wherever in the packs they are.
//!
//! Whatever is read is checked against its id. An object that is in two packs is read from the other one if one of
//! them is damaged. One that is stored as a difference is there only as long as its base is.

mod check;

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub use check::Checked;

use super::merged::{self, Merged};
use super::pack::{self, Frame, Frames, PIECE_BYTES, Unpack, WrittenPack};
use super::packed::{Base, Packed};
use crate::disk;
pub use crate::disk::hash::{Hasher, id_of};
use crate::disk::layout::Layout;
use crate::error::{Error, ErrorKind, Result};
use crate::model::ids::ObjectId;
use crate::model::tree::Tree;

/// Largest object that [`Objects::read`] takes into memory (1 GiB); [`Objects::write_to`] has no limit.
const MEMORY_BYTES: u64 = 1 << 30;
/// Packs that are kept open at a time.
const OPEN_FILES: usize = 16;

/// Where an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Location {
    /// The number of its pack.
    pub pack: usize,
    /// The place in it.
    pub frame: Frame,
}

/// Objects and where they are.
pub(super) type Entries = Vec<(ObjectId, Location)>;

/// One pack as it was found.
#[derive(Debug)]
struct Pack {
    id: ObjectId,
    path: PathBuf,
    /// Bytes.
    size: u64,
    /// Its index is whole and belongs to its name: what it names counts as stored.
    is_whole: bool,
}

/// One pack with its frames, sorted by id.
#[derive(Debug)]
pub(super) struct FoundPack {
    /// Its name.
    pub id: ObjectId,
    /// Its file.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
    /// Its index is whole and belongs to its name.
    pub is_whole: bool,
    /// Where its objects are.
    pub frames: Frames,
}

/// The objects of a store, as they were when it was opened.
#[derive(Debug)]
pub struct Objects {
    layout: Layout,
    /// The packs by name, with their lengths in bytes.
    files: Vec<(ObjectId, u64)>,
    is_from_packs: bool,
    /// What is in them. It is read when somebody asks: a snapshot of a work tree that is as it was does not.
    index: OnceLock<Index>,
    open: Mutex<Vec<(usize, Arc<File>)>>,
    /// Contents that were read and checked, and will be asked for again.
    kept: OnceLock<HashMap<ObjectId, Vec<u8>>>,
    /// The objects as they were when a pack was found gone: `prune` had moved what is needed of it.
    later: OnceLock<Box<Objects>>,
}

/// What is in the packs of a store.
#[derive(Debug, Default)]
struct Index {
    packs: Vec<Pack>,
    /// Sorted by id, then by pack; an id may be there twice.
    entries: Entries,
    faults: Vec<Error>,
    /// Packs that the merged index does not have as they are now, and packs of it that are gone.
    unmerged: usize,
}

impl Index {
    fn new(layout: &Layout, files: &[(ObjectId, u64)], merged: Merged) -> Index {
        let mut index = Index::default();
        let mut of_packs = Vec::with_capacity(files.len());
        let mut known: HashMap<_, _> = merged.packs.iter().zip(0usize..).collect();
        // Of those that are still there, what they are called here.
        let mut numbers = vec![None; merged.packs.len()];
        for file @ &(id, size) in files {
            let pack = Pack { id, path: layout.pack(&id), size, is_whole: true };
            match known.remove(file).and_then(|at| numbers.get_mut(at)) {
                Some(number) => {
                    *number = Some(index.packs.len());
                    index.packs.push(pack);
                }
                None => of_packs.push(index.add_unmerged(pack)),
            }
        }
        index.unmerged += known.len();
        for (number, mut entries) in numbers.into_iter().zip(merged.entries) {
            let Some(number) = number else { continue };
            entries.iter_mut().for_each(|(_, at)| at.pack = number);
            of_packs.push(entries);
        }
        index.entries = in_order(of_packs);
        index
    }

    /// Reads the index of a pack from the pack itself. One that is not whole is marked so, and what can still be found in it
    /// is answered.
    fn add_unmerged(&mut self, mut pack: Pack) -> Entries {
        self.unmerged += 1;
        let number = self.packs.len();
        let entry = |id, frame| (id, Location { pack: number, frame });
        let read = disk::open_regular(&pack.path).and_then(|file| {
            let index = pack::read_index(&file, entry);
            Ok((index.map_err(|error| Error::io("read the pack", &pack.path, &error))?, file))
        });
        let (index, file) = match read {
            Ok(read) => read,
            Err(error) => {
                self.faults.push(error);
                return Entries::new();
            }
        };
        pack.is_whole = index.as_ref().is_ok_and(|index| index.checksum == pack.id);
        if !pack.is_whole {
            let why = index.as_ref().err().map_or("it is not the pack that its name says", |why| why.as_str());
            self.faults.push(damaged_pack(&pack.path, why));
        }
        self.packs.push(pack);
        match index {
            Ok(index) => index.entries,
            Err(_) => pack::scan(&file).into_iter().map(|(id, frame)| entry(id, frame)).collect(),
        }
    }

    fn is_whole(&self, pack: usize) -> bool {
        self.packs.get(pack).is_some_and(|pack| pack.is_whole)
    }
}

impl Objects {
    /// Finds the packs of a store. One that is damaged costs only what it held: see [`Objects::faults`]. A store without
    /// objects is empty.
    ///
    /// # Errors
    /// The folder of packs cannot be listed.
    pub fn open(layout: &Layout) -> Result<Objects> {
        Ok(Objects {
            layout: layout.clone(),
            files: pack_files(layout)?,
            is_from_packs: false,
            index: OnceLock::new(),
            open: Mutex::new(Vec::new()),
            kept: OnceLock::new(),
            later: OnceLock::new(),
        })
    }

    /// As [`Objects::open`]; every index is read from its own pack.
    ///
    /// # Errors
    /// As [`Objects::open`].
    pub(super) fn open_from_packs(layout: &Layout) -> Result<Objects> {
        Ok(Objects { is_from_packs: true, ..Objects::open(layout)? })
    }

    /// As [`Objects::open_from_packs`], of those packs alone.
    ///
    /// # Errors
    /// As [`Objects::open`].
    pub(super) fn open_some(layout: &Layout, is_wanted: impl Fn(&ObjectId) -> bool) -> Result<Objects> {
        let mut objects = Objects::open_from_packs(layout)?;
        objects.files.retain(|(id, _)| is_wanted(id));
        Ok(objects)
    }

    /// Keeps contents that were read from here: they are not read again. Only the first that are given stay.
    pub(super) fn keep(&self, read: HashMap<ObjectId, Vec<u8>>) {
        let _ = self.kept.set(read);
    }

    fn kept(&self, id: &ObjectId) -> Option<&Vec<u8>> {
        self.kept.get()?.get(id)
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let merged = if self.is_from_packs { Merged::default() } else { merged::load(&self.layout.pack_index()) };
            match pack_files(&self.layout) {
                // `prune` was here meanwhile: what is needed of a pack that is gone is in another one.
                Ok(now) if !self.files.iter().all(|file| now.binary_search(file).is_ok()) => {
                    Index::new(&self.layout, &now, merged)
                }
                _ => Index::new(&self.layout, &self.files, merged),
            }
        })
    }

    /// Takes in a pack that was written since the store was opened.
    pub(super) fn learn(&mut self, written: WrittenPack) {
        self.files.push((written.id, written.bytes));
        if let Some(index) = self.index.get_mut() {
            let path = self.layout.pack(&written.id);
            let new = index.add_unmerged(Pack { id: written.id, path, size: written.bytes, is_whole: true });
            let known = std::mem::take(&mut index.entries);
            index.entries = in_order(vec![known, new]);
        }
    }

    /// Writes the merged index again, if the packs were looked into and that was dear: the next start then opens few of them.
    /// Failing costs time only.
    pub fn merge_indexes(&self, layout: &Layout) {
        if self.index.get().is_some_and(|index| index.unmerged >= merged::WORTH_PACKS) {
            merged::store(layout, &self.known_packs());
        }
    }

    /// What the merged index says of these packs, if it is right.
    pub(super) fn known_packs(&self) -> Vec<(ObjectId, merged::KnownPack)> {
        let whole = self.packs().into_iter().filter(|pack| pack.is_whole);
        whole.map(|pack| (pack.id, merged::KnownPack { size: pack.size, frames: pack.frames })).collect()
    }

    /// The packs by name, with their lengths in bytes; without those that were looked into and are not whole.
    pub(super) fn pack_files(&self) -> Vec<(ObjectId, u64)> {
        match self.index.get() {
            Some(index) => index.packs.iter().filter(|pack| pack.is_whole).map(|pack| (pack.id, pack.size)).collect(),
            None => self.files.clone(),
        }
    }

    /// The same, and all of them are looked into.
    pub(super) fn whole_packs(&self) -> Vec<(ObjectId, u64)> {
        self.index();
        self.pack_files()
    }

    /// The packs with their frames.
    pub(super) fn packs(&self) -> Vec<FoundPack> {
        let of_pack = |pack: &Pack| FoundPack {
            id: pack.id,
            path: pack.path.clone(),
            size: pack.size,
            is_whole: pack.is_whole,
            frames: Vec::new(),
        };
        let index = self.index();
        let mut packs: Vec<FoundPack> = index.packs.iter().map(of_pack).collect();
        for (id, at) in &index.entries {
            if let Some(pack) = packs.get_mut(at.pack) {
                pack.frames.push((*id, at.frame));
            }
        }
        packs
    }

    /// What is wrong with packs, as far as their indexes tell; each names its file.
    pub fn faults(&self) -> &[Error] {
        &self.index().faults
    }

    /// The ids of all objects, in order, each once.
    pub fn ids(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let mut last = None;
        self.index().entries.iter().map(|(id, _)| *id).filter(move |id| last.replace(*id) != Some(*id))
    }

    /// Whether the index of a whole pack names the object. Its bytes are not looked at.
    pub fn has(&self, id: &ObjectId) -> bool {
        self.is_in(id, |pack| self.index().is_whole(pack))
    }

    /// Whether a good pack names the object, and one its base if it is a difference.
    fn is_in(&self, id: &ObjectId, is_good: impl Fn(usize) -> bool) -> bool {
        let has_base = |at: &Location| {
            let Ok(base) = self.base_at(id, at) else { return false };
            self.base_locations(&base).any(|at| is_good(at.pack))
        };
        self.locations(id).iter().any(|(_, at)| is_good(at.pack) && (!at.frame.is_difference || has_base(at)))
    }

    /// The size of an object in bytes, as the packs' indexes have it; `None` if no pack names it.
    pub fn length(&self, id: &ObjectId) -> Option<u64> {
        self.locations(id).first().map(|(_, at)| at.frame.length)
    }

    fn locations(&self, id: &ObjectId) -> &[(ObjectId, Location)] {
        let entries = &self.index().entries;
        let begin = entries.partition_point(|(other, _)| other < id);
        let end = entries.partition_point(|(other, _)| other <= id);
        entries.get(begin..end).unwrap_or_default()
    }

    /// Where the object is, and is no difference.
    fn plain_locations(&self, id: &ObjectId) -> impl Iterator<Item = &Location> {
        self.locations(id).iter().map(|(_, at)| at).filter(|at| !at.frame.is_difference)
    }

    /// Where it can be read as a base: no difference, and small enough to be had in one piece.
    fn base_locations(&self, id: &ObjectId) -> impl Iterator<Item = &Location> {
        self.plain_locations(id).filter(|at| at.frame.length <= PIECE_BYTES)
    }

    fn base_at(&self, id: &ObjectId, at: &Location) -> Result<ObjectId> {
        let (file, path) = self.file(at.pack)?;
        pack::base_of(&file, at.frame).map_err(|error| unpack_error(id, path, error))
    }

    /// The bytes that a frame needs to be read: those of its base if it is a difference.
    fn base_bytes(&self, id: &ObjectId, path: &Path, file: &File, frame: Frame) -> Result<Option<Vec<u8>>> {
        if !frame.is_difference {
            return Ok(None);
        }
        let base = pack::base_of(file, frame).map_err(|error| unpack_error(id, path, error))?;
        let bytes = self.plain(&base).map_err(|mut error| {
            error.message = format!("object {} is read with another: {}", id.short(), error.message);
            error
        })?;
        Ok(Some(bytes))
    }

    /// The bytes of an object from where it can be a base, checked.
    fn plain(&self, id: &ObjectId) -> Result<Vec<u8>> {
        if let Some(kept) = self.kept(id) {
            return Ok(kept.clone());
        }
        if self.has_lost_a_pack_of(id) {
            return self.later()?.plain(id);
        }
        self.first_sound(id, self.base_locations(id), |at| {
            let mut bytes = Vec::new();
            self.unpack(id, at, &mut bytes)?;
            Ok(bytes)
        })
    }

    /// The bases of those objects that are differences. A damaged one has none, and of a pack that is gone `prune` has
    /// moved what is needed.
    ///
    /// # Errors
    /// A failure that names the pack.
    pub(super) fn bases(&self, ids: &HashSet<ObjectId>) -> Result<Vec<ObjectId>> {
        let mut bases = Vec::new();
        for (id, at) in self.index().entries.iter().filter(|(id, at)| at.frame.is_difference && ids.contains(id)) {
            match self.base_at(id, at) {
                Ok(base) => bases.push(base),
                Err(error) if error.kind == ErrorKind::BadInput || self.has_lost_a_pack_of(id) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(bases)
    }

    /// What a new state of this object can be stored as a difference from; `None` if no whole pack has that.
    pub(super) fn base(&self, before: &ObjectId) -> Option<Base> {
        let at = self.locations(before).iter().map(|(_, at)| at).min_by_key(|at| at.frame.is_difference)?;
        let id = if at.frame.is_difference { self.base_at(before, at).ok()? } else { *before };
        let is_stored = self.base_locations(&id).any(|at| self.index().is_whole(at.pack));
        let bytes = is_stored.then(|| self.plain(&id).ok()).flatten()?;
        Some(Base { id, bytes })
    }

    /// An object as it is stored, checked: by itself wherever it is, so that what is a difference from it stays readable.
    ///
    /// # Errors
    /// As [`Objects::read`].
    pub(super) fn packed(&self, id: &ObjectId) -> Result<Packed> {
        let differences = self.locations(id).iter().map(|(_, at)| at).filter(|at| at.frame.is_difference);
        self.first_sound(id, self.plain_locations(id).chain(differences), |at| {
            self.unpack(id, at, &mut io::sink())?;
            let (file, path) = self.file(at.pack)?;
            let stored = pack::stored(&file, at.frame).map_err(|error| unpack_error(id, path, error))?;
            Ok(Packed::from_stored(*id, at.frame.length, at.frame.is_difference, stored))
        })
    }

    /// The bytes of an object of at most 1 GiB, checked.
    ///
    /// # Errors
    /// Bad input that names the pack if the object is missing or damaged; a failure if the system says no.
    pub fn read(&self, id: &ObjectId) -> Result<Vec<u8>> {
        if self.length(id).is_some_and(|length| length > MEMORY_BYTES) {
            return Err(Error::failed(format!("object {} is too large for memory", id.short())));
        }
        let mut bytes = Vec::new();
        self.write_to(id, &mut bytes)?;
        Ok(bytes)
    }

    /// Whether a pack that can be opened holds the object; it is not read.
    pub fn is_at_hand(&self, id: &ObjectId) -> bool {
        self.is_in(id, |pack| self.file(pack).is_ok())
    }

    /// A directory.
    ///
    /// # Errors
    /// As [`Objects::read`], and bad input if the object is no directory or a hostile one.
    pub fn tree(&self, id: &ObjectId) -> Result<Tree> {
        Tree::decode(&self.read(id)?).map_err(|error| error.in_file(&format!("object {}", id.short())))
    }

    /// Writes the object to `out` in pieces, and answers its length in bytes. On an error, what `out` took is worthless.
    ///
    /// # Errors
    /// As [`Objects::read`]; a failure if `out` refuses.
    pub fn write_to(&self, id: &ObjectId, out: &mut dyn Write) -> Result<u64> {
        if let Some(kept) = self.kept(id) {
            return out.write_all(kept).map(|()| pack::count(kept.len())).map_err(|error| refused(id, &error));
        }
        if self.has_lost_a_pack_of(id) {
            return self.later()?.write_from(id, out);
        }
        self.write_from(id, out)
    }

    fn write_from(&self, id: &ObjectId, out: &mut dyn Write) -> Result<u64> {
        let at = self.sound_location(id)?;
        self.unpack(id, &at, out)?;
        Ok(at.frame.length)
    }

    /// Whether a pack with the object is gone since the store was opened. A pack that is open stays readable.
    fn has_lost_a_pack_of(&self, id: &ObjectId) -> bool {
        let is_gone = |number: usize| {
            let is_open = self.file(number).is_ok();
            !is_open
                && self.index().packs.get(number).is_some_and(|pack| matches!(disk::metadata(&pack.path), Ok(None)))
        };
        self.locations(id).iter().any(|(_, at)| is_gone(at.pack))
    }

    fn later(&self) -> Result<&Objects> {
        if let Some(later) = self.later.get() {
            return Ok(later);
        }
        let later = Box::new(Objects::open(&self.layout)?);
        Ok(self.later.get_or_init(|| later))
    }

    /// Where to read the object. If it is in several packs, the first in which it is sound.
    fn sound_location(&self, id: &ObjectId) -> Result<Location> {
        match self.locations(id) {
            [] => Err(self.missing(id)),
            [(_, at)] => Ok(*at),
            many => self.first_sound(id, many.iter().map(|(_, at)| at), |at| {
                self.unpack(id, at, &mut io::sink())?;
                Ok(*at)
            }),
        }
    }

    /// What `read` makes of an object in the first place where it is sound; the last fault if it is nowhere.
    fn first_sound<'a, T>(
        &self,
        id: &ObjectId,
        locations: impl Iterator<Item = &'a Location>,
        read: impl Fn(&Location) -> Result<T>,
    ) -> Result<T> {
        let mut fault = None;
        for at in locations {
            match read(at) {
                Ok(read) => return Ok(read),
                Err(error) => fault = Some(error),
            }
        }
        Err(fault.unwrap_or_else(|| self.missing(id)))
    }

    fn unpack(&self, id: &ObjectId, at: &Location, out: &mut dyn Write) -> Result<()> {
        let (file, path) = self.file(at.pack)?;
        let base = self.base_bytes(id, path, &file, at.frame)?;
        pack::unpack(&file, at.frame, id, base.as_deref(), out).map_err(|error| unpack_error(id, path, error))
    }

    /// The open pack; a few are kept open.
    fn file(&self, pack: usize) -> Result<(Arc<File>, &Path)> {
        let Some(Pack { path, .. }) = self.index().packs.get(pack) else {
            return Err(Error::bug("an object is in a pack without name"));
        };
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, file)) = open.iter().find(|(other, _)| *other == pack) {
            return Ok((Arc::clone(file), path));
        }
        let file = Arc::new(disk::open_regular(path)?);
        if open.len() >= OPEN_FILES {
            open.remove(0);
        }
        open.push((pack, Arc::clone(&file)));
        Ok((file, path))
    }

    fn missing(&self, id: &ObjectId) -> Error {
        let mut error = Error::bad_input(format!("object {} is missing", id.short())).help(HELP);
        match self.faults().iter().find(|fault| fault.kind == ErrorKind::Failed).or(self.faults().first()) {
            Some(fault) => {
                error.kind = fault.kind;
                error.placed(fault.place.clone()).because(fault.to_string())
            }
            None => error.at(&self.layout.objects()).because("no pack of the store holds it"),
        }
    }
}

fn unpack_error(id: &ObjectId, path: &Path, error: Unpack) -> Error {
    match error {
        Unpack::Damaged(why) => {
            Error::bad_input(format!("object {} is damaged", id.short())).at(path).because(why).help(HELP)
        }
        Unpack::Unread(error) => Error::io("read the pack", path, &error),
        Unpack::Out(error) => refused(id, &error),
    }
}

fn refused(id: &ObjectId, error: &io::Error) -> Error {
    Error::failed(format!("cannot write out object {}", id.short())).because(error.to_string())
}

const HELP: &str = "`highwater verify` says what is still restorable";

fn damaged_pack(path: &Path, why: &str) -> Error {
    Error::bad_input("pack is damaged").at(path).because(why).help(HELP)
}

/// The entries of all packs in one order. Mostly one pack holds nearly all, and stays where it is: to sort it with the others
/// would take as much memory again.
fn in_order(mut of_packs: Vec<Entries>) -> Entries {
    of_packs.sort_by_key(Vec::len);
    let mut all = of_packs.pop().unwrap_or_default();
    let mut others = of_packs.concat();
    if others.len() > all.len() / 16 {
        all.append(&mut others);
    }
    // Runs that are in order, one a pack.
    all.sort();
    others.sort();
    let mut end = all.len();
    all.extend_from_slice(&others);
    // From the end, so that nothing is moved twice.
    while let Some(entry) = others.pop() {
        let begin = all.get(..end).unwrap_or_default().partition_point(|other| *other < entry);
        all.copy_within(begin..end, begin + others.len() + 1);
        if let Some(place) = all.get_mut(begin + others.len()) {
            *place = entry;
        }
        end = begin;
    }
    all
}

/// The packs of a store by name, with their lengths in bytes. Whatever else lies in the folder is no pack.
pub(super) fn pack_files(layout: &Layout) -> Result<Vec<(ObjectId, u64)>> {
    let folder = layout.objects();
    if disk::metadata(&folder)?.is_some_and(|meta| !meta.is_dir()) {
        return Err(Error::bad_input("the folder of packs is not a directory").at(&folder));
    }
    let mut packs = disk::list_lengths(&folder, |name| name.to_str()?.strip_suffix(".pack")?.parse().ok())?;
    packs.sort_unstable();
    Ok(packs)
}

#[cfg(test)]
mod tests;
