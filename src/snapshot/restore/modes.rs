//! File systems that keep no permission bits (exFAT, others through FUSE): there all files have the same ones, whatever was
//! asked for. A tree that was stored elsewhere is given back with those: waiting for others, no restore would ever end.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use rustix::io::Errno;

use super::beneath::errno;
use super::manifest::{Kind, Manifest};
use crate::disk::layout::Layout;
use crate::disk::{self, Temporary};
use crate::error::{Error, Result};

/// Permission bits.
const BITS: u32 = 0o777;

/// The tree as the file system of the store, which is the work tree's, can keep it; `None` if that is as it is.
///
/// # Errors
/// A failure that names the folder in which that is tried out.
pub fn as_kept(layout: &Layout, tree: &Manifest) -> Result<Option<Manifest>> {
    const ASKED: u32 = 0o640;
    let folder = layout.restores();
    let failed = |error: &std::io::Error| Error::io("look at", &folder, error);
    let mut probe = Temporary::new(&folder)?;
    match probe.file().set_permissions(Permissions::from_mode(ASKED)) {
        // That it cannot be done shows in what is there.
        Err(error) if !matches!(errno(&error), Errno::PERM | Errno::NOTSUP | Errno::NOSYS) => {
            return Err(failed(&error));
        }
        _ => {}
    }
    let file = probe.file().metadata().map_err(|error| failed(&error))?.mode() & BITS;
    if file == ASKED {
        return Ok(None);
    }
    let directory = disk::metadata(&folder)?.map_or(file, |meta| meta.mode() & BITS);
    Ok(Some(with_modes(tree, file, directory)))
}

fn with_modes(tree: &Manifest, file: u32, directory: u32) -> Manifest {
    let entries = tree.iter().map(|(path, state)| {
        let mode = match state.kind {
            Kind::File => file,
            Kind::Directory => directory,
            Kind::Link | Kind::Unheld => state.mode,
        };
        (path.clone(), super::State { mode, ..*state })
    });
    entries.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::{ObjectId, TreePath};
    use crate::snapshot::restore::State;

    #[test]
    fn where_modes_are_kept_nothing_is_changed() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        disk::make_directory(&layout.restores()).unwrap();
        assert_eq!(as_kept(&layout, &Manifest::default()).unwrap(), None);
        assert!(disk::list(&layout.restores()).unwrap().is_empty());
    }

    #[test]
    fn files_and_directories_get_what_there_is_and_links_keep_theirs() {
        let state = |kind, mode| State { kind, mode, size: 0, object: ObjectId([0; 32]) };
        let tree = |modes: [u32; 3]| -> Manifest {
            let states = [Kind::File, Kind::Directory, Kind::Link].into_iter().zip(modes);
            let names = ["a", "b", "c"].map(|name| TreePath::new(name).unwrap());
            names.into_iter().zip(states.map(|(kind, mode)| state(kind, mode))).collect()
        };
        assert_eq!(with_modes(&tree([0o644, 0o700, 0]), 0o666, 0o777), tree([0o666, 0o777, 0]));
    }
}
