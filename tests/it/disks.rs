//! Real file systems that fill up and that lose power (PROMISES H2, H3, W2). Both need root, and the second loop devices and
//! mkfs.ext4: without them the tests say "skipped" and pass, unless `FAULTS` is `required` or `all`.
//!
//! Killing a process loses nothing that the kernel has already; a missing sync shows here only.

use std::path::{Path, PathBuf};
use std::process::Command;

use highwater::model::ids::Iteration;

use crate::faults::{assert_kept, assert_next_record, assert_one_tree, first_two, prepared};
use crate::support::work::{Listing, Work, copy, in_memory, listing, points};
use crate::support::{Answer, can_trace};

/// Something that is mounted until this is dropped.
struct Mount {
    at: PathBuf,
}

impl Mount {
    /// Mounts, or says why not.
    fn new(at: &Path, options: &[&str], what: &Path) -> Result<Mount, String> {
        std::fs::create_dir_all(at).unwrap();
        let ran = Command::new("mount").args(options).arg(what).arg(at).output();
        match ran {
            Ok(output) if output.status.success() => Ok(Mount { at: at.to_owned() }),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn resize(&self, bytes: u64) {
        let size = format!("remount,size={bytes}");
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

fn skipped(why: &str) {
    let asked = std::env::var("FAULTS").is_ok_and(|faults| matches!(faults.as_str(), "required" | "all"));
    assert!(!asked, "{why}");
    eprintln!("skipped: {why}");
}

fn is_soak() -> bool {
    std::env::var_os("HIGHWATER_SOAK").is_some()
}

/// A tree on a file system of its own that can be made to fill up.
fn on_tmpfs(place: &Path, base: &Path) -> Result<(Mount, Work, u64), String> {
    let mount = Mount::new(place, &["-t", "tmpfs", "-o", "size=64m"], Path::new("tmpfs"))?;
    copy(base, place);
    let stat = rustix::fs::statvfs(place).unwrap();
    Ok((mount, Work::at(place), (stat.f_blocks - stat.f_bfree) * stat.f_frsize))
}

/// The right result, or an error that says that there is no room, and where.
#[track_caller]
fn assert_full(answer: &Answer, at: &str) {
    let says_so = answer.stderr.contains("o space") && answer.stderr.contains("--> ");
    assert!(answer.code == 0 || answer.code == 1 && says_so, "{at}: {answer:?}");
}

#[test]
fn a_full_disk_harms_nothing_and_the_same_command_works_once_there_is_room() {
    const PAGE: u64 = 4096;
    let project = prepared();
    // Some 30 pages that do not compress to nothing, so that there is much to run out of room with.
    let word = |n: u64| format!("{:x}\n", n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    project.write("noise", (0..12_000).map(word).collect::<String>());
    let (before, first) = (listing(project.root()), first_two(project.root()));
    // A restore keeps some room free, so it is refused for longer.
    for (command, most) in [(&["record", "--json"][..], 100), (&["restore", "0", "--json"], 400)] {
        let (mut full, mut done) = (0, 0);
        let parts: u64 = if is_soak() { most } else { 16 };
        for pages in (0..parts).map(|part| part * most / parts) {
            let place = tempfile::tempdir().unwrap();
            let (mount, work, used) = match on_tmpfs(place.path(), project.root()) {
                Ok(mounted) => mounted,
                Err(why) => return skipped(&format!("no tmpfs of a size can be mounted ({why})")),
            };
            mount.resize(used + pages * PAGE);
            let at = format!("{command:?} with room for {pages} pages");
            let answer = work.run(command);
            assert_full(&answer, &at);
            mount.resize(64 << 20);
            assert_kept(&work, &first, &at);
            *if answer.code == 0 { &mut done } else { &mut full } += 1;
            if command[0] == "record" {
                assert_eq!(work.listing(), before, "{at}");
                let is_there = work.store().numbers().unwrap().contains(&Iteration(2));
                assert!(answer.code != 0 || is_there, "{at}: {answer:?}");
                assert_next_record(&work, &at);
            } else {
                assert_one_tree(&work, &before, &first[0], answer.code == 0, &at);
            }
            assert_kept(&work, &first, &at);
        }
        eprintln!("{command:?}: {full} sizes were too small, {done} were not");
        assert!(full >= 3 && done >= 3, "{full} too small, {done} not: nothing was proved");
    }
}

/// A disk with a tree on it, in a file.
fn disk_of(base: &Path, folder: &Path) -> Result<PathBuf, String> {
    let image = folder.join("base.img");
    std::fs::File::create(&image).unwrap().set_len(16 << 20).unwrap();
    let made = Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&image).output();
    match made {
        Ok(output) if output.status.success() => {}
        Ok(output) => return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => return Err(format!("mkfs.ext4: {error}")),
    }
    let mounted = Mount::new(&folder.join("base"), &["-o", "loop"], &image)?;
    copy(base, &mounted.at);
    let _ = std::fs::remove_dir(mounted.at.join("lost+found"));
    assert!(Command::new("sync").arg("-f").arg(&mounted.at).status().unwrap().success());
    assert!(Command::new("umount").arg(&mounted.at).status().unwrap().success());
    std::mem::forget(mounted);
    Ok(image)
}

/// Runs the command on a copy of the disk, killed before a call or to its end, and takes the power away in that instant:
/// what the disk has then is a copy of its file, without what the kernel had not written yet.
fn after_power_loss(
    image: &Path,
    folder: &Path,
    command: &[&str],
    point: Option<&(String, usize)>,
    check: impl FnOnce(&Work, &str),
) {
    let (running, lost) = (folder.join("running.img"), folder.join("lost.img"));
    std::fs::copy(image, &running).unwrap();
    let stdout = {
        let mounted = Mount::new(&folder.join("running"), &["-o", "loop"], &running).unwrap();
        let work = Work::at(&mounted.at);
        let output = match point {
            Some((name, count)) => {
                let inject = format!("inject={name}:signal=KILL:when={count}");
                let options = ["-o", "/dev/null", "-e", &format!("trace={name}"), "-e", &inject];
                work.traced(&options, command)
            }
            None => work.traced(&["-o", "/dev/null", "-e", "trace=none"], command),
        };
        std::fs::copy(&running, &lost).unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let mounted = Mount::new(&folder.join("lost"), &["-o", "loop"], &lost).unwrap();
    let _ = std::fs::remove_dir(mounted.at.join("lost+found"));
    check(&Work::at(&mounted.at), &stdout);
}

#[test]
fn what_was_acknowledged_survives_a_power_loss() {
    if !can_trace() {
        return;
    }
    let project = prepared();
    let (before, first): (Listing, Vec<Listing>) = (listing(project.root()), first_two(project.root()));
    let folder = in_memory();
    let image = match disk_of(project.root(), folder.path()) {
        Ok(image) => image,
        Err(why) => return skipped(&format!("no file system can be made on a loop device ({why})")),
    };
    let matters = |name: &str, _: &str| ["fsync", "linkat", "link", "rename", "renameat2", "unlink"].contains(&name);
    let mut losses = 0;
    for command in [&["record", "--json"][..], &["restore", "0", "--json"]] {
        let points = points(project.root(), command, matters);
        let step = if is_soak() { 1 } else { (points.len() / 20).max(1) };
        let points = points.iter().step_by(step).map(Some).chain([None]);
        for point in points {
            let at = format!("{command:?}, power lost before {point:?}");
            after_power_loss(&image, folder.path(), command, point, |work, stdout| {
                losses += 1;
                assert_kept(work, &first, &at);
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
                assert_kept(work, &first, &at);
            });
        }
    }
    eprintln!("{losses} power losses");
    assert!(losses >= 30, "{losses} losses are too few: nothing was proved");
}
