//! Real file systems that fill up and that lose power (PROMISES H2, H3, W2). Both need root, and the second loop devices and
//! mkfs.ext4: without them the tests say "skipped" and pass, unless `FAULTS` is `required` or `all`. `HIGHWATER_SOAK=1` tries
//! every size, every call that changes the disk, and more file systems.
//!
//! Killing a process loses nothing that the kernel has already; a missing sync shows here only.

use std::path::{Path, PathBuf};
use std::process::Command;

use highwater::model::ids::Iteration;

use crate::faults::{
    assert_kept, assert_next_record, assert_one_tree, assert_restorable, changes_the_disk, first_two, prepared,
};
use crate::support::work::{Listing, Work, copy, in_memory, listing, points};
use crate::support::{Answer, Project, can_trace, is_soak, stride};

/// Something that is mounted until this is dropped.
pub struct Mount {
    at: PathBuf,
}

impl Mount {
    /// Mounts, or says why not.
    pub fn new(at: &Path, options: &[&str], what: &Path) -> Result<Mount, String> {
        std::fs::create_dir_all(at).unwrap();
        let ran = Command::new("mount").args(options).arg(what).arg(at).output();
        match ran {
            Ok(output) if output.status.success() => Ok(Mount { at: at.to_owned() }),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    pub fn at(&self) -> &Path {
        &self.at
    }

    /// Lets it hold so many bytes, or files: `size` or `nr_inodes`.
    fn resize(&self, what: &str, most: u64) {
        let size = format!("remount,{what}={most}");
        let ran = Command::new("mount").args(["-o", &size]).arg(&self.at).status().unwrap();
        assert!(ran.success(), "{size}");
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Lazily: a killed command may still be on its way out.
        let _ = Command::new("umount").arg("-l").arg(&self.at).status();
    }
}

pub fn skipped(why: &str) {
    let asked = std::env::var("FAULTS").is_ok_and(|faults| matches!(faults.as_str(), "required" | "all"));
    assert!(!asked, "{why}");
    eprintln!("skipped: {why}");
}

/// What a file system can run out of.
#[derive(Clone, Copy)]
struct Room {
    /// What tmpfs calls it.
    option: &'static str,
    /// How much of it is one step.
    step: u64,
    /// More than is ever needed.
    plenty: u64,
}

const PAGES: Room = Room { option: "size", step: 4096, plenty: 64 << 20 };
const FILES: Room = Room { option: "nr_inodes", step: 1, plenty: 100_000 };

/// A tree on a file system of its own that can be made to fill up, and how much of `room` the tree takes.
fn on_tmpfs(place: &Path, base: &Path, room: Room) -> Result<(Mount, Work, u64), String> {
    let mount = Mount::new(place, &["-t", "tmpfs", "-o", "size=64m,nr_inodes=100000"], Path::new("tmpfs"))?;
    copy(base, place);
    let stat = rustix::fs::statvfs(place).unwrap();
    let pages = (stat.f_blocks - stat.f_bfree) * stat.f_frsize;
    Ok((mount, Work::at(place), if room.option == "size" { pages } else { stat.f_files - stat.f_ffree }))
}

/// The right result, or an error that says that there is no room, and where.
#[track_caller]
fn assert_full(answer: &Answer, at: &str) {
    let says_so = answer.stderr.contains("o space") && answer.stderr.contains("--> ");
    assert!(answer.code == 0 || answer.code == 1 && says_so, "{at}: {answer:?}");
}

#[test]
fn a_full_disk_harms_nothing_and_the_same_command_works_once_there_is_room() {
    let project = prepared();
    // Some 30 pages that do not compress to nothing, so that there is much to run out of room with.
    let word = |n: u64| format!("{:x}\n", n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    project.write("noise", (0..12_000).map(word).collect::<String>());
    let (record, restore) = (&["record", "--json"][..], &["restore", "0", "--json"][..]);
    // A restore keeps some room free, so it is refused for longer.
    for (command, room, most, parts) in
        [(record, PAGES, 100, 16), (restore, PAGES, 400, 16), (record, FILES, 24, 4), (restore, FILES, 24, 4)]
    {
        let parts = if is_soak() { most } else { parts };
        if let Err(why) = fill_up(&project, command, room, most, parts) {
            return skipped(&format!("no tmpfs of a size can be mounted ({why})"));
        }
    }
}

/// Runs the command with room for 0 to `most`, in so many parts; then with what is just not enough, where the last writes
/// fail.
fn fill_up(project: &Project, command: &[&str], room: Room, most: u64, parts: u64) -> Result<(), String> {
    let (before, first) = (listing(project.root()), first_two(project.root()));
    let fits = |step: u64| -> Result<bool, String> {
        let place = tempfile::tempdir().unwrap();
        let (mount, work, used) = on_tmpfs(place.path(), project.root(), room)?;
        mount.resize(room.option, used + step * room.step);
        let at = format!("{command:?} with room for {step}, {}", room.option);
        let answer = work.run(command);
        assert_full(&answer, &at);
        mount.resize(room.option, room.plenty);
        assert_kept(&work, &first, &at);
        if command[0] == "record" {
            assert_eq!(work.listing(), before, "{at}");
            let is_there = work.store().numbers().unwrap().contains(&Iteration(2));
            assert!(answer.code != 0 || is_there, "{at}: {answer:?}");
            assert_next_record(&work, &at);
        } else {
            assert_one_tree(&work, &before, &first[0], answer.code == 0, &at);
        }
        assert_kept(&work, &first, &at);
        Ok(answer.code == 0)
    };
    let mut tried: Vec<(u64, bool)> = Vec::new();
    for step in (0..parts).map(|part| part * most / parts) {
        tried.push((step, fits(step)?));
    }
    let enough = tried.iter().find(|(_, fits)| *fits).map_or(most, |(step, _)| *step);
    let too_little = tried.iter().map(|(step, _)| *step).filter(|step| *step < enough).max().unwrap_or_default();
    for step in (too_little + 1..enough).rev().take(6) {
        tried.push((step, fits(step)?));
    }
    let (done, full): (Vec<_>, Vec<_>) = tried.into_iter().partition(|(_, fits)| *fits);
    let (done, full) = (done.len(), full.len());
    eprintln!("{command:?}, {}: {full} sizes were too small, {done} were not", room.option);
    assert!(full >= 2 && done >= 2, "{full} too small, {done} not: nothing was proved");
    Ok(())
}

// PROMISES F92, W3.
#[test]
fn what_is_mounted_in_the_tree_is_no_part_of_it() {
    // An old kernel has no call that stays on one file system.
    let kernels = [None, Some("inject=openat2:error=ENOSYS")];
    let cases = kernels.iter().flat_map(|kernel| [(kernel, &["--bind"][..]), (kernel, &["-t", "tmpfs"])]);
    for (kernel, options) in cases.filter(|(kernel, _)| kernel.is_none() || can_trace()) {
        let project = prepared();
        let place = project.path("mounted");
        // What is bound is of the tree's own file system: the device does not tell it.
        let elsewhere = tempfile::tempdir_in(project.root().parent().unwrap()).unwrap();
        let mount = match Mount::new(&place, options, elsewhere.path()) {
            Ok(mount) => mount,
            Err(why) => return skipped(&format!("nothing can be mounted ({why})")),
        };
        std::fs::write(mount.at().join("theirs"), "theirs").unwrap();
        let work = Work::at(project.root());
        let told = match kernel {
            None => {
                let recorded = project.run(&["record"]).expect(0);
                format!("{}{}", recorded.stdout, recorded.stderr)
            }
            Some(old) => {
                let recorded = work.traced(&["-o", "/dev/null", "-e", old], &["record"]);
                assert!(recorded.status.success(), "{recorded:?}");
                format!("{}{}", String::from_utf8_lossy(&recorded.stdout), String::from_utf8_lossy(&recorded.stderr))
            }
        };
        assert!(told.contains("mounted: another file system is mounted there"), "{told}");
        assert!(work.iteration(2).keys().all(|name| !name.starts_with("mounted/theirs")));
        for command in [&["restore", "0"][..], &["undo"]] {
            project.run(command).expect(0);
            assert_eq!(std::fs::read(mount.at().join("theirs")).unwrap(), b"theirs", "{command:?}");
        }
    }
}

// PROMISES W1, W2.
#[test]
fn a_disk_that_does_not_tell_kinds_with_names_keeps_the_same_tree() {
    let folder = in_memory();
    let options = ["-q", "-F", "-O", "^filetype"];
    let image = folder.path().join("disk.img");
    std::fs::File::create(&image).unwrap().set_len(16 << 20).unwrap();
    let made = Command::new("mkfs.ext4").args(options).arg(&image).status();
    if !made.is_ok_and(|made| made.success()) {
        return skipped("no ext4 without the kinds of files in its directories can be made");
    }
    let mount = match Mount::new(&folder.path().join("mounted"), &["-o", "loop"], &image) {
        Ok(mount) => mount,
        Err(why) => return skipped(&format!("no disk in a file can be mounted ({why})")),
    };
    std::fs::remove_dir(mount.at().join("lost+found")).unwrap();
    let project = prepared();
    let first = first_two(project.root());
    copy(project.root(), mount.at());
    let work = Work::at(mount.at());
    let before = work.listing();
    assert_eq!(work.run(&["record"]).code, 0);
    assert_eq!(work.iteration(2), before);
    for (command, tree) in [(&["restore", "0"][..], &first[0]), (&["undo"], &before)] {
        assert_eq!(work.run(command).code, 0, "{command:?}");
        assert_eq!(&work.listing(), tree, "{command:?}");
    }
}

// PROMISES W3.
#[test]
fn a_directory_that_something_is_mounted_over_is_in_the_way_and_not_entered() {
    for options in [&["--bind"][..], &["-t", "tmpfs"]] {
        let project = prepared();
        project.write("under/file", "ours");
        project.run(&["record"]).expect(0);
        let elsewhere = tempfile::tempdir_in(project.root().parent().unwrap()).unwrap();
        let mount = match Mount::new(&project.path("under"), options, elsewhere.path()) {
            Ok(mount) => mount,
            Err(why) => return skipped(&format!("nothing can be mounted ({why})")),
        };
        let file = mount.at().join("file");
        std::fs::write(&file, "theirs").unwrap();
        for command in [&["restore", "2", "--dry-run"][..], &["restore", "2"], &["restore", "2", "under/file"]] {
            let refused = project.run(command).expect(65);
            assert!(refused.stderr.contains("a directory on another file system is in the way"), "{refused:?}");
            assert_eq!(std::fs::read(&file).unwrap(), b"theirs", "{command:?}");
        }
    }
}

/// A file system that loses power.
struct FileSystem {
    name: &'static str,
    make: &'static [&'static str],
    options: &'static str,
    /// Bytes, about the fewest that it takes.
    size: u64,
    /// Whether it can be shut down with its journal written.
    shuts_down: bool,
}

/// The first one is tried always, the others in a soak.
const FILE_SYSTEMS: [FileSystem; 4] = [
    FileSystem { name: "ext4", make: &["mkfs.ext4", "-q", "-F"], options: "loop", size: 16 << 20, shuts_down: true },
    FileSystem {
        name: "ext4 noauto_da_alloc",
        make: &["mkfs.ext4", "-q", "-F"],
        options: "loop,noauto_da_alloc",
        size: 16 << 20,
        shuts_down: true,
    },
    FileSystem {
        name: "xfs",
        make: &["mkfs.xfs", "-q", "-f"],
        options: "loop,nouuid",
        size: 300 << 20,
        shuts_down: true,
    },
    FileSystem {
        name: "btrfs",
        make: &["mkfs.btrfs", "-q", "-f"],
        options: "loop",
        size: 128 << 20,
        shuts_down: false,
    },
];

/// What the disk has when the power goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    /// What the kernel wrote by then.
    Plain,
    /// The journal as well: names whose contents may not be there yet.
    WithJournal,
}

/// A disk with a tree on it, in a file.
fn disk_of(base: &Path, folder: &Path, of: &FileSystem) -> Result<PathBuf, String> {
    let image = folder.join("base.img");
    std::fs::File::create(&image).unwrap().set_len(of.size).unwrap();
    let (program, options) = of.make.split_first().unwrap();
    let made = Command::new(program).args(options).arg(&image).output();
    match made {
        Ok(output) if output.status.success() => {}
        Ok(output) => return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => return Err(format!("{program}: {error}")),
    }
    let mounted = Mount::new(&folder.join("base"), &["-o", of.options], &image)?;
    copy(base, &mounted.at);
    let _ = std::fs::remove_dir(mounted.at.join("lost+found"));
    assert!(Command::new("sync").arg("-f").arg(&mounted.at).status().unwrap().success());
    assert!(Command::new("umount").arg(&mounted.at).status().unwrap().success());
    std::mem::forget(mounted);
    Ok(image)
}

/// Copies a disk; holes stay holes.
fn copy_disk(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("--sparse=always").args([from, to]).status().unwrap().success());
}

/// Runs the command on a copy of the disk, killed before a call or to its end, and takes the power away in that instant:
/// what the disk has then is a copy of its file, without what the kernel had not written yet.
fn after_power_loss(
    (image, options): (&Path, &str),
    command: &[&str],
    point: Option<&(String, usize)>,
    loss: Loss,
    check: impl FnOnce(&Work, &str),
) {
    let folder = image.parent().unwrap();
    let (running, lost) = (folder.join("running.img"), folder.join("lost.img"));
    copy_disk(image, &running);
    let stdout = {
        let mounted = Mount::new(&folder.join("running"), &["-o", options], &running).unwrap();
        let work = Work::at(&mounted.at);
        let output = match point {
            Some((name, count)) => {
                let inject = format!("inject={name}:signal=KILL:when={count}");
                let options = ["-o", "/dev/null", "-e", &format!("trace={name}"), "-e", &inject];
                work.traced(&options, command)
            }
            None => work.traced(&["-o", "/dev/null", "-e", "trace=none"], command),
        };
        if loss == Loss::WithJournal {
            let shut = Command::new("xfs_io").args(["-x", "-c", "shutdown -f"]).arg(&mounted.at).status();
            assert!(shut.unwrap().success());
        }
        copy_disk(&running, &lost);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let mounted = Mount::new(&folder.join("lost"), &["-o", options], &lost).unwrap();
    let _ = std::fs::remove_dir(mounted.at.join("lost+found"));
    check(&Work::at(&mounted.at), &stdout);
}

#[test]
fn what_was_acknowledged_survives_a_power_loss() {
    if !can_trace() {
        return;
    }
    let all = if is_soak() { &FILE_SYSTEMS[..] } else { &FILE_SYSTEMS[..1] };
    for of in all {
        lose_power(of, Loss::Plain);
        let can_shut_down = Command::new("xfs_io").arg("-V").output().is_ok();
        match is_soak() && of.shuts_down {
            true if can_shut_down => lose_power(of, Loss::WithJournal),
            true => skipped("no xfs_io, so the journal is always lost as well"),
            false => {}
        }
    }
}

fn lose_power(of: &FileSystem, loss: Loss) {
    let project = prepared();
    let (before, first): (Listing, Vec<Listing>) = (listing(project.root()), first_two(project.root()));
    let folder = in_memory();
    let image = match disk_of(project.root(), folder.path(), of) {
        Ok(image) => image,
        Err(why) => return skipped(&format!("no {} can be made on a loop device ({why})", of.name)),
    };
    let matters = |name: &str, call: &str| {
        let is_sync_or_name = ["fsync", "linkat", "link", "rename", "renameat2", "unlink"].contains(&name);
        is_sync_or_name || is_soak() && changes_the_disk(name, call)
    };
    // What is derived is not synced; it is made again from what is.
    let assert_kept = |work: &Work, at: &str| {
        let findings = assert_restorable(work, &first, at);
        assert!(findings.iter().all(|finding| finding.contains("(derived; ")), "{at}: {findings:?}");
    };
    let mut losses = 0;
    for command in [&["record", "--json"][..], &["restore", "0", "--json"]] {
        let points = points(project.root(), command, matters);
        let step = if is_soak() { 1 } else { stride((points.len() / 25).max(1)) };
        let points = points.iter().step_by(step).map(Some).chain([None]);
        for point in points {
            let at = format!("{}, {command:?}, power lost before {point:?}, {loss:?}", of.name);
            after_power_loss((&image, of.options), command, point, loss, |work, stdout| {
                losses += 1;
                assert_kept(work, &at);
                let is_acknowledged = stdout.contains("\"schema_version\"");
                assert!(point.is_some() || is_acknowledged, "{at}: it did not run");
                if command[0] == "record" {
                    assert_eq!(work.listing(), before, "{at}");
                    let numbers = work.store().numbers().unwrap();
                    assert!(!is_acknowledged || numbers.contains(&Iteration(2)), "{at}: acknowledged, and lost");
                    assert!(!is_acknowledged || work.iteration(2) == before, "{at}: acknowledged, and lost");
                    assert_next_record(work, &at);
                } else {
                    assert_one_tree(work, &before, &first[0], is_acknowledged, &at);
                }
                assert_kept(work, &at);
            });
        }
    }
    eprintln!("{}, {loss:?}: {losses} power losses", of.name);
    assert!(losses * stride(1) >= 30, "{losses} losses are too few: nothing was proved");
}
