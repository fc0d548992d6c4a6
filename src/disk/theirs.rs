//! Files of other programs that we are asked to change: whole or not at all, as ours, but through the user's links, with the
//! mode they have, in folders as the user's umask makes them.

use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::write::Temporary;
use super::{metadata, sync_directory};
use crate::error::{Error, Result};

/// A file that is absent gets this mode, as far as the umask lets it.
const NEW_MODE: u32 = 0o666;

/// The file that a path leads to, links followed; where it would be if nothing is there.
///
/// # Errors
/// Bad input if a link leads nowhere; a failure if the system says no.
pub fn real_path(path: &Path) -> Result<PathBuf> {
    match std::fs::canonicalize(path) {
        Ok(real) => Ok(real),
        Err(error) if error.kind() == ErrorKind::NotFound => match metadata(path)? {
            Some(_) => Err(Error::bad_input("a symbolic link leads nowhere")
                .at(path)
                .help("make the file that it names, or remove the link; nothing was changed")),
            None => match (path.parent(), path.file_name()) {
                (Some(folder), Some(name)) => Ok(real_path(folder)?.join(name)),
                _ => Ok(path.to_path_buf()),
            },
        },
        Err(error) => Err(Error::io("look at", path, &error)),
    }
}

/// Whether the file, if it is there, may be written: it is regular, and its owner's mode says so. For root, too, who could:
/// somebody meant it.
///
/// # Errors
/// A failure that names the file if not.
pub fn check_writable(real: &Path) -> Result<()> {
    match metadata(real)? {
        Some(meta) if !meta.is_file() => Err(Error::bad_input("not a regular file").at(real)),
        Some(meta) if meta.mode() & 0o200 == 0 => Err(Error::failed("the file is read-only")
            .at(real)
            .help(format!("make it writable, then try again: `chmod u+w {}`", real.display()))),
        _ => Ok(()),
    }
}

/// Replaces the file, or makes it with the folders above it; when this returns, it survives a power loss.
///
/// # Errors
/// A failure that names what could not be written.
pub fn rewrite(real: &Path, bytes: &[u8]) -> Result<()> {
    for folder in missing_folders(real) {
        match std::fs::create_dir(&folder) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::io("make the directory", &folder, &error)),
        }
    }
    let mode = match metadata(real)? {
        Some(meta) => meta.mode() & 0o7777,
        None => NEW_MODE & !umask(),
    };
    let folder = real.parent().unwrap_or(Path::new("/"));
    let mut temporary = Temporary::new(folder)?;
    temporary.file().write_all(bytes).map_err(|error| Error::io("write", real, &error))?;
    temporary.seal(mode)?;
    temporary.rename_to(real)?;
    sync_directory(folder)?;
    Ok(())
}

/// The folders above a file that are not there, the outermost first.
pub fn missing_folders(real: &Path) -> Vec<PathBuf> {
    let above = real.ancestors().skip(1);
    let is_missing = |folder: &&Path| !std::fs::metadata(folder).is_ok_and(|meta| meta.is_dir());
    let mut missing: Vec<PathBuf> = above.take_while(is_missing).map(Path::to_path_buf).collect();
    missing.reverse();
    missing
}

/// Asking for the umask is setting it; nobody else makes files meanwhile, because commands are one thread until they read.
fn umask() -> u32 {
    let mask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    rustix::process::umask(mask);
    super::permissions(mask.as_raw_mode())
}

/// Removes the file, then those of the folders, the innermost last, that are empty now: somebody else's file keeps its
/// folder.
///
/// # Errors
/// A failure that names the file.
pub fn remove(real: &Path, folders: &[PathBuf]) -> Result<()> {
    match std::fs::remove_file(real) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(Error::io("remove", real, &error)),
    }
    for folder in folders.iter().rev() {
        if std::fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_keeps_its_mode_and_its_link_and_a_new_one_goes_with_its_folders() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (file, link) = (root.join("settings.json"), root.join("link.json"));
        std::fs::write(&file, "{}").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let real = real_path(&link).unwrap();
        assert_eq!(real, file);
        assert!(missing_folders(&real).is_empty());
        rewrite(&real, b"{ }").unwrap();
        assert_eq!(std::fs::read(&link).unwrap(), b"{ }");
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o777, 0o640);

        let new = root.join("a/b/new.json");
        let made = missing_folders(&new);
        rewrite(&new, b"1").unwrap();
        assert_eq!(made, [root.join("a"), root.join("a/b")]);
        std::fs::write(root.join("a/other"), "").unwrap();
        let mode = |name: &str| std::fs::metadata(root.join(name)).unwrap().mode();
        assert_eq!(mode("a/b/new.json"), mode("a/other"), "as the umask lets any program");
        remove(&new, &made).unwrap();
        assert!(std::fs::metadata(root.join("a/b")).is_err());
        assert!(std::fs::metadata(root.join("a/other")).is_ok(), "somebody else's file keeps its folder");
        remove(&new, &[]).unwrap();
    }

    #[test]
    fn what_is_read_only_or_leads_nowhere_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("settings.json");
        assert!(check_writable(&file).is_ok(), "it may be made");
        std::fs::write(&file, "{}").unwrap();
        assert!(check_writable(&file).is_ok());
        let too_long = dir.path().join("x".repeat(300));
        assert!(real_path(&too_long).is_err() && remove(&too_long, &[]).is_err());
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444)).unwrap();
        assert!(check_writable(&file).unwrap_err().to_string().contains("read-only"));
        assert!(check_writable(dir.path()).is_err());
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path().join("absent"), &link).unwrap();
        assert!(real_path(&link).unwrap_err().help.is_some());
        let absent = dir.path().join("absent");
        assert_eq!(real_path(&absent).unwrap(), dir.path().canonicalize().unwrap().join("absent"));
        let folder = dir.path().join("folder");
        std::os::unix::fs::symlink(dir.path(), &folder).unwrap();
        assert_eq!(real_path(&folder.join("a/b")).unwrap(), dir.path().canonicalize().unwrap().join("a/b"));
    }
}
