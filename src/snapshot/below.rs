//! Opening what lies below a folder, and nothing else.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::OFlags;
use rustix::io::Errno;

/// Opens a path below a folder. No part of it may be a link or cross a mount, whatever is swapped in meanwhile.
///
/// # Errors
/// `LOOP` or `NOTDIR` if a link or another thing stands on the way, `XDEV` if it is on another file system or mount; what
/// [`is_unknown_call`] tells if the system cannot promise this.
#[cfg(target_os = "linux")]
pub(super) fn open_below(folder: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::{Mode, ResolveFlags};
    /// A rename elsewhere in the tree makes the kernel unsure whether we are still below the folder; it says so.
    const TRIES: u32 = 16;
    let resolve =
        ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV;
    let mut result = Err(Errno::AGAIN);
    for _ in 0..TRIES {
        result = rustix::fs::openat2(folder, path, flags, Mode::empty(), resolve);
        if !matches!(result, Err(Errno::AGAIN)) {
            break;
        }
    }
    result
}

/// Other systems have no such call.
#[cfg(not(target_os = "linux"))]
pub(super) fn open_below(_folder: BorrowedFd<'_>, _path: &[u8], _flags: OFlags) -> rustix::io::Result<OwnedFd> {
    Err(Errno::NOSYS)
}

/// Whether the call itself failed: old kernels, and sandboxes that do not let it through.
pub(super) fn is_unknown_call(error: Errno) -> bool {
    matches!(error, Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::TOOBIG | Errno::NOTSUP)
}
