//! The words of a command, and of the scripts that it runs: programs, and files.

/// The words of a command. What a shell is given as one argument is taken apart; quotes are not understood, so that a word may
/// be a piece of one.
pub(super) fn words(argv: &[String]) -> impl Iterator<Item = &str> {
    let is_between = |c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')' | '"' | '\'' | '`');
    argv.iter().flat_map(move |word| word.split(is_between)).filter(|word| !word.is_empty())
}

/// The programs that a command may run, by their names.
pub(super) fn programs(argv: &[String]) -> impl Iterator<Item = &str> {
    words(argv).filter_map(|word| word.rsplit('/').next())
}

/// The scripts that npm and its like print as they run them, `> tsc && eslint .`, and Yarn and Bun, `$ tsc && eslint .`.
pub(super) fn scripts(output: &str) -> impl Iterator<Item = &str> {
    output.lines().filter_map(|line| line.strip_prefix("> ").or_else(|| line.strip_prefix("$ ")))
}

/// What may be a file that a command writes, as it names it: `r.xml` of `--junitxml=r.xml`, `--cov-report=xml:r.xml` or `>r.xml`.
/// What `tee` writes is not among them: it was printed, too.
pub(super) fn files(argv: &[String]) -> impl Iterator<Item = &str> {
    let mut is_tee_s = false;
    let is_its_own = move |word: &&str| {
        let was_tee_s = is_tee_s;
        is_tee_s = *word == "tee" || was_tee_s && word.starts_with('-');
        !was_tee_s
    };
    words(argv).filter(is_its_own).flat_map(|word| word.split(['=', ':', ',', '>'])).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_in_many_ways() {
        let named = |command: &str| {
            files(&["bash".to_owned(), "-c".to_owned(), command.to_owned()])
                .skip(2)
                .map(String::from)
                .collect::<Vec<_>>()
        };
        for (command, file) in [
            ("pytest --junitxml=out/r.xml", "out/r.xml"),
            ("pytest --cov-report xml:cov.xml", "cov.xml"),
            ("JEST_JUNIT_OUTPUT_FILE=j.xml npx jest", "j.xml"),
            ("mocha --reporter-options output=m.xml,toConsole=1", "m.xml"),
            ("ruff check --output-file 'r.json' .", "r.json"),
            ("eslint -f json .>e.json", "e.json"),
            ("(eslint -f json . > e.json) && tsc", "e.json"),
        ] {
            assert!(named(command).contains(&file.to_owned()), "{command}");
        }
        assert_eq!(named("pytest --junitxml=r.xml | tee -a p.log"), ["pytest", "--junitxml", "r.xml", "tee"]);
    }

    #[test]
    fn scripts_are_printed_by_who_runs_them() {
        assert_eq!(
            scripts("\n> a@1.0.0 test\n> vitest run\n\n$ tsc\n >no\n").collect::<Vec<_>>(),
            ["a@1.0.0 test", "vitest run", "tsc"]
        );
    }
}
