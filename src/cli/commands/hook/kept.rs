//! What is kept of a file before hooks go into it, so that they can come out again to the byte.

use std::path::{Path, PathBuf};

use super::places;
use crate::cli::answers::VERSION;
use crate::cli::answers::hook::Note;
use crate::cli::args::Scope;
use crate::cli::context::Context;
use crate::disk::{self, hash, theirs};
use crate::error::{Error, Result};
use crate::integrations::install::{File, Install};

/// A config is text that people write.
pub const MAX_BYTES: u64 = 2 << 20;

/// The place of one file's copy and note.
pub struct Kept {
    folder: PathBuf,
    copy: PathBuf,
    note: PathBuf,
}

/// A file as it was before hooks were installed.
pub struct Before {
    /// Its text; `None` if it was not there.
    pub text: Option<String>,
    /// The folders that were made for it.
    pub folders: Vec<PathBuf>,
    /// Nobody has changed the file since.
    pub is_untouched: bool,
}

impl Kept {
    /// Where the copy of that file is kept.
    ///
    /// # Errors
    /// Bad input if the user has no home.
    pub fn new(context: &Context, install: &Install, file: &File, scope: Scope) -> Result<Kept> {
        let (folder, name) = places::kept(context, install, file, scope)?;
        let (copy, note) = (folder.join(format!("{name}.before")), folder.join(format!("{name}.note")));
        Ok(Kept { folder, copy, note })
    }

    /// The copy.
    pub fn copy(&self) -> &Path {
        &self.copy
    }

    /// What is kept of `real`, which says `text` now; `None` if nothing whole is, or what is kept is another file's.
    ///
    /// # Errors
    /// Bad input if the copy is no text, a failure if the system says no.
    pub fn load(&self, real: &Path, text: &str) -> Result<Option<Before>> {
        let Some(bytes) = disk::read_if_present(&self.note, MAX_BYTES)? else { return Ok(None) };
        let Ok(note) = serde_json::from_slice::<Note>(&bytes) else { return Ok(None) };
        if note.file != real {
            return Ok(None);
        }
        let text_before = if note.was_there { text_of(&self.copy)? } else { None };
        if note.was_there != text_before.is_some() {
            return Ok(None);
        }
        let is_untouched = note.written == hash::id_of(text.as_bytes());
        Ok(Some(Before { text: text_before, folders: note.folders, is_untouched }))
    }

    /// Keeps the file as it was, before `written` is written.
    ///
    /// # Errors
    /// A failure that names what could not be written.
    pub fn save(&self, context: &Context, real: &Path, before: &Before, written: &str) -> Result<()> {
        if self.folder.starts_with(context.layout.store()) {
            disk::open_store(&context.layout)?;
        }
        disk::make_directory(&self.folder)?;
        if let Some(text) = &before.text {
            disk::replace_synced(&self.copy, text.as_bytes())?;
        }
        let note = Note {
            schema_version: VERSION,
            file: real.to_path_buf(),
            was_there: before.text.is_some(),
            folders: before.folders.clone(),
            written: hash::id_of(written.as_bytes()),
        };
        let bytes = serde_json::to_vec_pretty(&note)
            .map_err(|error| Error::bug("a note cannot be written as JSON").because(error.to_string()))?;
        disk::replace_synced(&self.note, &bytes)
    }

    /// Lets the copy go.
    ///
    /// # Errors
    /// A failure that names it.
    pub fn forget(&self) -> Result<()> {
        theirs::remove(&self.copy, &[])?;
        // The folder above is the store, which holds more, or one that is ours alone.
        let above = self.folder.parent().map(Path::to_path_buf);
        let folders: Vec<PathBuf> = above.into_iter().chain([self.folder.clone()]).collect();
        theirs::remove(&self.note, &folders)
    }
}

/// Whether a note can name the file: it is JSON, which holds text.
///
/// # Errors
/// Bad input if its path is not UTF-8.
pub fn check_path(real: &Path) -> Result<()> {
    if real.to_str().is_some() {
        return Ok(());
    }
    Err(Error::bad_input("hooks cannot be installed below a path that is not UTF-8 text")
        .at(real)
        .because("what was there before is kept by its path; nothing was changed")
        .help("give the folder a name that is UTF-8 text, or install for all projects (--scope user)"))
}

/// The text of a file; `None` if it is not there.
///
/// # Errors
/// Bad input if it is no text, a failure if the system says no.
pub fn text_of(real: &Path) -> Result<Option<String>> {
    let Some(bytes) = disk::read_if_present(real, MAX_BYTES)? else { return Ok(None) };
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| Error::bad_input("not UTF-8 text").at(real).help("nothing was changed"))
}
