//! Folders that tools fill and make again: caches, dependencies, virtual environments. A project without ignore rules would
//! else have its compiler's output kept, and put back, at every iteration. What git tracks below them, or
//! `capture.include` names, is kept all the same.

use std::io::Read;
use std::path::Path;

/// Names under which package managers and interpreters put what they can fetch or compile again.
const NAMES: [&[u8]; 6] = [b"node_modules", b"bower_components", b"__pycache__", b".tox", b".nox", b".gradle"];

/// How a cache directory says that it is one (the Cache Directory Tagging Specification; cargo's `target` does).
const SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// Whether a folder of that name is filled by tools.
pub(super) fn has_disposable_name(name: &[u8]) -> bool {
    NAMES.contains(&name)
}

/// Whether what lies in a folder says that tools fill it: a cache tag, or that it is a Python environment. `has` tells the
/// names in it, so that most folders cost no further look.
pub(super) fn is_marked_disposable(folder: &Path, has: impl Fn(&[u8]) -> bool) -> bool {
    has(b"CACHEDIR.TAG") && is_tagged(&folder.join("CACHEDIR.TAG"))
        || has(b"pyvenv.cfg") && is_file(&folder.join("pyvenv.cfg"))
}

fn is_tagged(tag: &Path) -> bool {
    if !is_file(tag) {
        return false;
    }
    let mut begin = [0; SIGNATURE.len()];
    std::fs::File::open(tag).and_then(|mut file| file.read_exact(&mut begin)).is_ok() && begin == SIGNATURE
}

/// An error reads as "no": the folder is then kept, which loses nothing.
fn is_file(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_are_told_by_name_tag_or_environment() {
        let root = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let folder = root.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            folder
        };
        let is_marked = |folder: &Path| is_marked_disposable(folder, |_| true);
        assert!(has_disposable_name(b"node_modules") && !has_disposable_name(b"modules"));
        let target = folder("target");
        assert!(!has_disposable_name(b"target") && !is_marked(&target), "a name that people use too");
        std::fs::write(target.join("CACHEDIR.TAG"), "Signature: something else entirely, and long enough").unwrap();
        assert!(!is_marked(&target));
        std::fs::write(target.join("CACHEDIR.TAG"), [SIGNATURE, b"\n# made by a tool\n"].concat()).unwrap();
        assert!(is_marked(&target) && !is_marked_disposable(&target, |_| false));
        let linked = folder("linked");
        std::os::unix::fs::symlink(target.join("CACHEDIR.TAG"), linked.join("CACHEDIR.TAG")).unwrap();
        assert!(!is_marked(&linked));
        let environment = folder("env");
        std::fs::write(environment.join("pyvenv.cfg"), "home = /usr\n").unwrap();
        assert!(is_marked(&environment));
    }
}
