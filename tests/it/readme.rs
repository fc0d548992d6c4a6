//! README says what the program says.

use std::path::Path;

use crate::support::Project;

/// The text between `<!-- name -->` and `<!-- /name -->`, rewritten first if asked to.
fn part(name: &str, expected: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let (before, rest) = readme.split_once(&open).expect("the part begins");
    let (found, after) = rest.split_once(&close).expect("the part ends");
    if std::env::var_os("HIGHWATER_UPDATE_README").is_some() {
        std::fs::write(&path, format!("{before}{open}{expected}{close}{after}")).unwrap();
        return expected.to_owned();
    }
    found.to_owned()
}

#[test]
fn the_table_of_formats_is_the_programs() {
    let mut table = String::from("| format | kind | written by |\n|---|---|---|\n");
    for format in highwater::ingest::FORMATS {
        table.push_str(&format!(
            "| `{}` | {} | {} |\n",
            format.name,
            format.kind.name(),
            format.written_by.replace('|', "\\|")
        ));
    }
    assert_eq!(
        part("formats", &table),
        table,
        "HIGHWATER_UPDATE_README=1 cargo test --test it readme -- --test-threads=1 writes it"
    );
}

#[test]
fn the_table_of_agents_is_the_programs() {
    let mut table = String::from("| `--agent` | agent | in the work tree | the user's own |\n|---|---|---|---|\n");
    for install in highwater::integrations::install::INSTALLS {
        let file = install.files.last().unwrap().path;
        let user: Vec<String> = install
            .user
            .iter()
            .map(|(name, below)| match *name {
                "HOME" => format!("`~/{below}`"),
                name if below.is_empty() => format!("`${name}`"),
                name => format!("`${name}/{below}`"),
            })
            .collect();
        let (agent, title, project) = (install.agent, install.title, install.project);
        table.push_str(&format!("| `{agent}` | {title} | `{project}/{file}` | {} |\n", user.join(", else ")));
    }
    assert_eq!(
        part("agents", &table),
        table,
        "HIGHWATER_UPDATE_README=1 cargo test --test it readme -- --test-threads=1 writes it"
    );
}

#[test]
fn the_demo_looks_as_the_readme_shows() {
    let project = Project::new();
    let output = project.command(&["demo", "--keep", "demo"]).env("COLUMNS", "100").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let log = text.split("$ highwater log\n").nth(1).and_then(|rest| rest.split("$ highwater finish").next()).unwrap();
    let shown = format!("```\n$ highwater log\n{}\n```\n", log.split("\nIteration 4").next().unwrap().trim_end());
    assert_eq!(
        part("demo", &shown),
        shown,
        "HIGHWATER_UPDATE_README=1 cargo test --test it readme -- --test-threads=1 writes it"
    );
}

#[test]
fn the_recipes_are_those_that_the_tests_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/recipes");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut text = String::new();
    for file in files {
        let recipe = std::fs::read_to_string(file).unwrap();
        let (says, script) = recipe.split_once("\n\n").unwrap();
        let says: Vec<&str> = says.lines().map(|line| line.strip_prefix("# ").unwrap()).collect();
        text.push_str(&format!("\n{}\n\n```sh\n{script}```\n", says.join("\n")));
    }
    text.push('\n');
    assert_eq!(
        part("recipes", &text),
        text,
        "HIGHWATER_UPDATE_README=1 cargo test --test it readme -- --test-threads=1 writes it"
    );
}
