//! Running a program that answers a question: its input is fed to it, its output is bounded, and so is its time.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// Bytes of an answer.
const MAX_BYTES: usize = 1 << 20;

/// How often an ended program is looked for once its output has ended.
const TICK: Duration = Duration::from_millis(5);

/// Runs `program` in `folder`, without a shell, and answers what it printed. Its standard error is thrown away.
///
/// It is the first of a process group of its own. When the time is over, or it prints too much, the whole group is killed.
///
/// # Errors
/// Why there is no answer, as a fragment that follows "it": it could not be started, took too long, printed too much, or
/// did not end with exit code 0.
pub fn run(
    program: &str,
    arguments: &[impl AsRef<std::ffi::OsStr>],
    folder: &Path,
    input: Vec<u8>,
    deadline: Instant,
) -> Result<Vec<u8>, String> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("could not be started: {error}"))?;
    let answer = answer(child.stdin.take(), child.stdout.take(), input);
    let result = wait(&mut child, &answer, deadline);
    if result.is_err() {
        // It is not waited for yet, so that its number is still its own.
        if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = child.wait();
    }
    result
}

/// Feeds the input and reads the output, each on a thread of its own: a program may do neither, or both at once.
fn answer(stdin: Option<ChildStdin>, stdout: Option<ChildStdout>, input: Vec<u8>) -> Receiver<Vec<u8>> {
    std::thread::spawn(move || {
        // A program that does not read its input may answer all the same.
        let _ = stdin.map(|mut stdin| stdin.write_all(&input));
    });
    let (done, answer) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let most = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
        let _ = stdout.map(|stdout| stdout.take(most).read_to_end(&mut bytes));
        let _ = done.send(bytes);
    });
    answer
}

fn wait(child: &mut Child, answer: &Receiver<Vec<u8>>, deadline: Instant) -> Result<Vec<u8>, String> {
    let too_long = || "took too long".to_owned();
    let bytes = answer.recv_timeout(deadline.saturating_duration_since(Instant::now())).map_err(|_| too_long())?;
    if bytes.len() > MAX_BYTES {
        return Err(format!("printed more than {} MiB", MAX_BYTES >> 20));
    }
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(bytes),
            Ok(Some(status)) => return Err(format!("ended with {status}")),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(TICK),
            Ok(None) => return Err(too_long()),
            Err(error) => return Err(format!("could not be waited for: {error}")),
        }
    }
}
