//! Completions and manual pages, as the shells and the readers take them. A shell that is not here is said to be skipped.

use std::process::Command;

use crate::support::{Answer, Project, answer};

/// Runs a program in the project; `None` if it is not installed.
fn program(project: &Project, name: &str, arguments: &[&str]) -> Option<Answer> {
    match Command::new(name).args(arguments).current_dir(project.root()).output() {
        Ok(output) => Some(answer(&output)),
        Err(error) => {
            eprintln!("skipped: no {name} ({error})");
            None
        }
    }
}

#[test]
fn bash_completes_commands_and_options() {
    let project = Project::new();
    project.write("highwater.bash", project.run(&["completions", "bash"]).expect(0).stdout);
    let script = "source ./highwater.bash
        COMP_WORDS=(highwater rec) COMP_CWORD=1; _highwater highwater rec highwater; echo \"${COMPREPLY[@]}\"
        COMP_WORDS=(highwater gate --lo) COMP_CWORD=2; _highwater highwater --lo gate; echo \"${COMPREPLY[@]}\"";
    if let Some(said) = program(&project, "bash", &["--norc", "-c", script]) {
        assert_eq!(said.expect(0).stdout, "record\n--loop\n");
    }
}

#[test]
fn the_other_shells_read_their_completions() {
    let project = Project::new();
    for (shell, check) in [("zsh", "-n"), ("fish", "-n"), ("powershell", ""), ("elvish", "")] {
        let script = project.run(&["completions", shell]).expect(0).stdout;
        assert!(script.contains("record") && script.contains("exit-code"), "{shell}");
        project.write(shell, script);
        if !check.is_empty() {
            let _ = program(&project, shell, &[check, shell]).map(|said| said.expect(0));
        }
    }
    project.run(&["completions", "tcsh"]).expect(64);
}

#[test]
fn every_command_has_a_manual_page_that_renders_without_a_warning() {
    let project = Project::new();
    assert!(project.run(&["man"]).expect(0).stdout.contains(".TH highwater 1"));
    project.run(&["man", "-o", "man/man1"]).expect(0);
    let pages: Vec<String> = std::fs::read_dir(project.path("man/man1"))
        .unwrap()
        .map(|entry| format!("man/man1/{}", entry.unwrap().file_name().into_string().unwrap()))
        .collect();
    for page in ["highwater.1", "highwater-record.1", "highwater-config-show.1"] {
        assert!(pages.contains(&format!("man/man1/{page}")), "{pages:?}");
    }
    let arguments: Vec<&str> = ["-ww", "-man", "-Tutf8"].into_iter().chain(pages.iter().map(String::as_str)).collect();
    if let Some(said) = program(&project, "groff", &arguments) {
        let said = said.expect(0);
        assert_eq!(said.stderr, "");
        assert!(said.stdout.contains("RECORD") || said.stdout.contains("record"));
    }
}
