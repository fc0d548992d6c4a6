//! A small project on disk, the built program run in it, and what it answered.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

pub mod work;

/// A work tree of its own, outside any repository.
pub struct Project {
    folder: tempfile::TempDir,
}

/// What a command came to.
#[derive(Debug)]
pub struct Answer {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Answer {
    /// The one JSON object on stdout.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Fails the test unless the exit code is this one.
    #[track_caller]
    pub fn expect(self, code: i32) -> Answer {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

impl Project {
    /// A tree with one source file.
    pub fn new() -> Project {
        let project = Project { folder: tempfile::tempdir().unwrap() };
        project.write("src/lib.py", "def one():\n    return 1\n");
        project
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn exists(&self, name: &str) -> bool {
        std::fs::symlink_metadata(self.path(name)).is_ok()
    }

    /// Writes `junit.xml`, as a runner would: `(name, passes)`.
    pub fn tests(&self, tests: &[(&str, bool)]) {
        self.write("junit.xml", junit(tests));
    }

    /// Writes `coverage.xml`: `covered` of ten lines ran.
    pub fn coverage(&self, covered: u32) {
        let lines: String =
            (1..=10).map(|n| format!("<line number=\"{n}\" hits=\"{}\"/>", u32::from(n <= covered))).collect();
        self.write(
            "coverage.xml",
            format!(
                "<?xml version=\"1.0\"?>\n<coverage line-rate=\"0.{covered}\" version=\"7\"><packages><package name=\"p\"><classes>\
                 <class name=\"lib.py\" filename=\"src/lib.py\"><methods/><lines>{lines}</lines></class></classes></package>\
                 </packages></coverage>\n"
            ),
        );
    }

    /// The program, about to run here, free of whatever the environment says.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("highwater"));
        command.args(arguments).current_dir(self.root());
        forget_environment(&mut command);
        command.env("HIGHWATER_ROOT", self.root());
        command
    }

    /// A script for the shell, about to run here; `"$0"` in it is the program, and `"$@"` are the arguments.
    pub fn shell(&self, script: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("sh");
        let program = assert_cmd::cargo::cargo_bin!("highwater");
        command.args(["-c", script]).arg(program).args(arguments).current_dir(self.root());
        forget_environment(&mut command);
        command
    }

    /// Runs the program here with this standard input.
    pub fn run_with(&self, arguments: &[&str], input: &str) -> Answer {
        use std::io::Write;
        use std::process::Stdio;
        let mut command = self.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A program that refuses its options reads nothing.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        answer(&child.wait_with_output().unwrap())
    }

    /// Runs the program here.
    pub fn run(&self, arguments: &[&str]) -> Answer {
        let output = self.command(arguments).output().unwrap();
        answer(&output)
    }
}

fn forget_environment(command: &mut Command) {
    for name in ["HIGHWATER_ROOT", "HIGHWATER_CONFIG", "HIGHWATER_LOOP", "COLUMNS"] {
        command.env_remove(name);
    }
    leave_home(command);
}

/// Lets a command find nothing of what whoever runs the tests has in the home: git ignores by it.
pub fn leave_home(command: &mut Command) {
    for name in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
        command.env_remove(name);
    }
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", NO_HOME).env("XDG_CONFIG_HOME", NO_HOME);
}

const NO_HOME: &str = "/nonexistent";

/// Whether `HIGHWATER_SOAK` asks for all that takes long.
pub fn is_soak() -> bool {
    std::env::var_os("HIGHWATER_SOAK").is_some()
}

/// Every how manyth point is tried, where it is usually this: optimized, as in `.ci/run`, and where a soak or `FAULTS` asks.
/// README's command, which is neither, tries a third of those; `FAULTS=all` tries all there are.
pub fn stride(usual: usize) -> usize {
    match std::env::var("FAULTS") {
        Ok(faults) if faults == "all" => 1,
        Err(_) if cfg!(debug_assertions) && !is_soak() => 3 * usual,
        _ => usual,
    }
}

/// Whether strace is there and may trace: a container can forbid it. Says "skipped" if not, or fails the test where
/// `FAULTS` asks for the proofs.
pub fn can_trace() -> bool {
    let probe = Command::new("strace").args(["-f", "-qq", "-o", "/dev/null", "true"]).output();
    let why = match probe {
        Ok(output) if output.status.success() => return true,
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    let asked = std::env::var("FAULTS").is_ok_and(|faults| matches!(faults.as_str(), "required" | "all"));
    assert!(!asked, "no strace: {why}");
    eprintln!("skipped: no strace ({why})");
    false
}

/// Writes a file that nobody may write to, as those of a store.
pub fn overwrite(path: &Path, bytes: &[u8]) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// A FIFO. The system's own program makes it, because rustix has no call for it on macOS.
pub fn make_fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// What a finished process answered.
pub fn answer(output: &std::process::Output) -> Answer {
    use std::os::unix::process::ExitStatusExt;
    Answer {
        code: output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap_or(0)),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A JUnit report of these tests.
pub fn junit(tests: &[(&str, bool)]) -> String {
    let failed = tests.iter().filter(|(_, passes)| !passes).count();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<testsuites><testsuite name=\"unit\" tests=\"{}\" failures=\"{failed}\">\n",
        tests.len()
    );
    for (name, passes) in tests {
        text.push_str(&format!("<testcase classname=\"tests.unit\" name=\"{name}\" time=\"0.01\""));
        text.push_str(if *passes {
            "/>\n"
        } else {
            "><failure message=\"assert 1 == 2\">trace</failure></testcase>\n"
        });
    }
    text.push_str("</testsuite></testsuites>\n");
    text
}

/// Fails the test unless `value` has the shape that the schema says.
#[track_caller]
pub fn assert_shape(schema: &str, value: &Value) {
    let known = highwater::cli::schemas::SCHEMAS.iter().find(|one| one.name == schema);
    let known = known.unwrap_or_else(|| panic!("no schema {schema}"));
    let schema: Value = serde_json::from_str(known.text).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let faults: Vec<String> =
        validator.iter_errors(value).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
    assert!(faults.is_empty(), "{}\n{value:#}", faults.join("\n"));
}
