//! What people read. The texts under `fixtures/golden/` were accepted by reading them;
//! `HIGHWATER_UPDATE_GOLDENS=1 cargo test` writes them again.

mod edges;
mod loops;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use highwater::config;
use highwater::model::cases::{Outcome, TestCase};
use highwater::model::ids::Iteration;
use highwater::model::ledger::{Event, Flaking, TestHistory, TestStanding};
use highwater::model::reruns::Runs;
use highwater::model::transitions::{Renamed, SameBecause};
use highwater::report::{self, IterationExtra, Screen, WholeLoop, terminal};

use edges::{hostile, hostile_text, many_alerts, measured_oddly, nobody_eligible, restored_view};
use loops::{Loop, best_of, hourbook, long, loop_id, object, selection, unmeasured};

/// What the loops are chosen by.
const SCORE: &str = "quality_score";

fn screen(width: usize) -> Screen {
    Screen { width, colour: false }
}

fn markdown(of: &Loop, n: usize) -> String {
    let points = of.points();
    let files = vec![
        ('M', "src/hourbook/durations.py".to_owned()),
        ('D', "tests/test_total_row.py".to_owned()),
        ('A', hostile_text()),
    ];
    let extra = IterationExtra { changed_files: Some(files), history: &points[..n], why_stopped: None };
    report::iteration_markdown(&of.records[n], &of.best_after(n), &object(7), &extra).unwrap()
}

fn diff_of(of: &Loop, a: usize, b: usize, screen: Screen) -> String {
    let points = of.points();
    let deltas = of.records[b].from_previous.clone().unwrap_or_default();
    let lost = deltas.tests_lost.clone().unwrap_or_default().names;
    let view = terminal::DiffView {
        a: &points[a],
        b: &points[b],
        deltas: &deltas,
        tests: Some(terminal::DiffTests {
            lost: &lost,
            broken: &[],
            fixed: &[hostile_text()],
            newly_skipped: &[],
            unskipped: &[],
            added: &[],
            renamed: &[Renamed { from: hostile_text(), to: "b::test_x".to_owned(), because: SameBecause::Body }],
        }),
        files: &[('A', hostile_text()), ('D', "tests/test_total_row.py".to_owned()), ('M', "src/report.py".to_owned())],
    };
    terminal::diff(&view, screen)
}

fn status_of(of: &Loop, is_closed: bool, screen: Screen) -> String {
    let view = terminal::StatusView {
        hook_faults: None,
        record: of.records.last().unwrap(),
        best: &of.best,
        head: &object(7),
        is_closed,
        pending_restore: (!is_closed).then_some(3),
        accepted: &[],
        other_open_loops: &["auth".to_owned(), "search-2".to_owned()],
    };
    terminal::status(&view, screen)
}

fn changed_files() -> Vec<(char, String)> {
    let mut files = vec![('A', hostile_text()), ('D', "tests/test_total_row.py".to_owned())];
    files.extend((0..6).map(|n| ('M', format!("src/hourbook/part{n}.py"))));
    files
}

fn tests_of(screen: Screen) -> String {
    let standing = |outcome, since, last: Option<u32>| TestStanding {
        outcome,
        bad_since: Some(Iteration(since)),
        last_passed: last.map(Iteration),
    };
    let hostile = hostile_text();
    let case = TestCase {
        file: Some("tests/test_report.py".to_owned()),
        line: Some(12),
        message: Some("AssertionError: total | assert 1 == 2".to_owned()),
        ..TestCase::new(Outcome::Failed)
    };
    let long = TestCase { file: Some(hostile.clone()), message: Some(hostile.repeat(3)), ..case.clone() };
    let row = |id, standing, case| terminal::TestRow { id, standing, case, files: changed_files() };
    let rows = [
        row("tests.test_report::test_total_row", standing(Outcome::Failed, 9, Some(8)), Some(&case)),
        row(&hostile, standing(Outcome::Errored, 9, Some(8)), Some(&long)),
        row("tests.test_durations::test_red", standing(Outcome::Failed, 2, None), None),
    ];
    let flaky = ["tests.test_clock::test_now".to_owned(), hostile.clone()];
    let flaking = Flaking { runs: Runs { runs: 12, failed: 3 }, iterations: (3..20).map(Iteration).collect() };
    let flaky: Vec<(&String, &Flaking)> = flaky.iter().map(|id| (id, &flaking)).collect();
    let view = terminal::TestsView {
        loop_id: &loop_id(),
        iteration: Iteration(11),
        passed: Some(140),
        failed: 3,
        skipped: Some(2),
        all_named: true,
        broken: Some(&rows),
        flaky: Some(&flaky),
    };
    terminal::tests(&view, screen)
}

fn no_tests(screen: Screen) -> String {
    let view = terminal::TestsView {
        loop_id: &loop_id(),
        iteration: Iteration(0),
        passed: Some(1),
        failed: 0,
        skipped: Some(0),
        all_named: true,
        broken: Some(&[]),
        flaky: Some(&[]),
    };
    terminal::tests(&view, screen)
}

fn history_of(screen: Screen) -> String {
    use Outcome::{Errored, Failed, Passed, Skipped};
    let changes = [
        (0, None, Some(Passed)),
        (2, Some(Passed), Some(Failed)),
        (3, Some(Failed), Some(Passed)),
        (4, Some(Passed), Some(Skipped)),
        (6, Some(Skipped), Some(Failed)),
        (7, Some(Failed), Some(Errored)),
        (9, Some(Errored), None),
    ];
    let event = |(iteration, was, now)| Event { iteration: Iteration(iteration), id: "t::x".to_owned(), was, now };
    let history = TestHistory {
        ids: vec!["tests.test_report::test_total_row".to_owned(), hostile_text()],
        events: changes.into_iter().map(event).collect(),
        on_one_tree: Flaking { runs: Runs { runs: 4, failed: 1 }, iterations: vec![Iteration(2)] },
    };
    let files: Vec<Vec<(char, String)>> =
        (0..changes.len()).map(|n| if n == 3 { Vec::new() } else { changed_files() }).collect();
    terminal::test_history(&terminal::HistoryView { loop_id: &loop_id(), history: &history, files: &files }, screen)
}

fn generic_table(screen: Screen) -> String {
    let rows = [
        [
            "junit",
            "test",
            "reports of most test runners in the XML that JUnit made common, however they deviate from it",
        ],
        ["lcov", "coverage", "line coverage as text"],
        ["odd", "test", &hostile_text()],
    ];
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect();
    terminal::table(&["format", "kind", "about"], &rows, screen)
}

/// Every screen of every loop, by name.
fn screens(screen: Screen) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let loops = [
        ("hourbook", hourbook()),
        ("unmeasured", unmeasured()),
        ("long", long()),
        ("hostile", hostile()),
        ("alerts", many_alerts()),
        ("odd", measured_oddly()),
    ];
    for (name, of) in &loops {
        let points = of.points();
        // Of the long loop only the log is of interest.
        let of_interest = of.records.iter().enumerate().take(12);
        for (n, record) in of_interest {
            let best = of.best_after(n);
            all.insert(format!("recorded-{name}-{n:03}"), terminal::recorded(record, &best, &object(7), screen));
            all.insert(format!("show-{name}-{n:03}"), terminal::show(record, screen));
        }
        let end = selection(of);
        all.insert(format!("log-{name}"), terminal::log(&of_log(), &points, &of.best, SCORE, None, screen));
        all.insert(
            format!("log-{name}-closed"),
            terminal::log(&of_log(), &points, &of.best, SCORE, Some(&end), screen),
        );
        all.insert(format!("selected-{name}"), terminal::selected(&end, &points, screen));
        all.insert(format!("status-{name}"), status_of(of, false, screen));
        all.insert(format!("status-{name}-closed"), status_of(of, true, screen));
    }
    let hourbook = &loops[0].1;
    let early = &hourbook.points()[..5];
    all.insert(
        "log-hourbook-early".into(),
        terminal::log(&of_log(), early, &hourbook.best_after(4), SCORE, None, screen),
    );
    all.insert("log-nothing".into(), terminal::log(&of_log(), &[], &best_of(&[]), SCORE, None, screen));
    all.insert("selected-nobody".into(), terminal::selected(&nobody_eligible(), &[], screen));
    all.insert("diff".into(), diff_of(hourbook, 3, 4, screen));
    for (name, view) in restored_view() {
        all.insert(format!("restored-{name}"), terminal::restored(&view, screen));
    }
    all.insert("table".into(), generic_table(screen));
    all.insert("tests".into(), tests_of(screen));
    all.insert("tests-none".into(), no_tests(screen));
    all.insert("test-history".into(), history_of(screen));
    all
}

/// Every report, by name.
fn reports() -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let config = config::defaults().unwrap();
    let loops = [
        ("hourbook", hourbook(), vec![0, 4, 5, 11]),
        ("unmeasured", unmeasured(), vec![1]),
        ("hostile", hostile(), vec![1]),
        ("odd", measured_oddly(), vec![1]),
    ];
    for (name, of, iterations) in &loops {
        for n in iterations {
            all.insert(format!("iteration-{name}-{n:03}.md"), markdown(of, *n));
        }
        let (points, end) = (of.points(), selection(of));
        all.insert(format!("selection-{name}.md"), report::selection_markdown(&end, &points, &config, None).unwrap());
        let summary = report::summary_markdown(&loop_id(), &points, &of.best, None).unwrap();
        all.insert(format!("summary-{name}.md"), summary);
        let whole = WholeLoop { loop_id: &loop_id(), points: &points, best: &of.best, selection: None };
        all.insert(format!("summary-{name}.html"), report::html(&whole).unwrap());
    }
    let (of, end) = (hourbook(), selection(&hourbook()));
    let closed = report::summary_markdown(&loop_id(), &of.points(), &of.best, Some(&end)).unwrap();
    all.insert("summary-hourbook-closed.md".into(), closed);
    let nobody = report::selection_markdown(&nobody_eligible(), &[], &config, None).unwrap();
    all.insert("selection-nobody.md".into(), nobody);
    all
}

fn paragraphs() -> String {
    let loops = [hourbook(), unmeasured(), hostile(), many_alerts()];
    let mut lines = Vec::new();
    for of in &loops {
        lines.extend(of.records.iter().enumerate().map(|(n, record)| report::for_agent(record, &of.best_after(n))));
    }
    lines.join("\n") + "\n"
}

/// What is kept under `fixtures/golden/`: all reports, and the screens that differ in kind, at the widths that matter.
fn accepted() -> BTreeMap<String, String> {
    let mut all = reports();
    let at_80 = [
        "recorded-hourbook-000",
        "recorded-hourbook-004",
        "recorded-hourbook-008",
        "recorded-unmeasured-001",
        "recorded-hostile-001",
        "recorded-alerts-001",
        "recorded-odd-001",
        "show-hourbook-011",
        "show-odd-001",
        "log-hourbook",
        "log-hourbook-closed",
        "log-hourbook-early",
        "log-unmeasured",
        "log-long",
        "log-nothing",
        "selected-hourbook",
        "selected-nobody",
        "status-hourbook",
        "status-hourbook-closed",
        "diff",
        "restored-worktree",
        "restored-dry",
        "restored-into",
        "restored-back",
        "restored-directories",
        "table",
        "tests",
        "tests-none",
        "test-history",
    ];
    let elsewhere = [
        (60, vec!["recorded-hourbook-004", "log-hourbook"]),
        (100, vec!["log-hourbook"]),
        (140, vec!["recorded-hourbook-004", "log-hourbook", "table"]),
    ];
    for (width, names) in [(80, at_80.to_vec())].into_iter().chain(elsewhere) {
        let screens = screens(screen(width));
        for name in names {
            all.insert(format!("{name}-{width}.txt"), screens[name].clone());
        }
    }
    let coloured = screens(Screen { width: 80, colour: true });
    for name in ["recorded-hourbook-004", "log-hourbook"] {
        all.insert(format!("{name}-80-colour.txt"), coloured[name].clone());
    }
    all.insert("for-agent.txt".into(), paragraphs());
    all
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/golden"))
}

#[test]
fn what_people_read_is_as_it_was_accepted() {
    let accepted = accepted();
    if std::env::var("HIGHWATER_UPDATE_GOLDENS").is_ok_and(|value| value == "1") {
        std::fs::create_dir_all(folder()).unwrap();
        for (name, text) in &accepted {
            std::fs::write(folder().join(name), text).unwrap();
        }
    }
    for (name, text) in &accepted {
        let kept = std::fs::read_to_string(folder().join(name)).unwrap_or_default();
        assert_eq!(kept, *text, "{name} is not as it was accepted");
    }
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let orphans: Vec<String> = entries.filter(|name| !accepted.contains_key(name)).collect();
    assert!(orphans.is_empty(), "nothing makes these goldens: {orphans:?}");
}

#[test]
fn every_report_has_a_golden() {
    let accepted = accepted();
    for report in report::REPORTS {
        let begins = format!("{}-", report.name);
        assert!(accepted.keys().any(|name| name.starts_with(&begins) && name.ends_with(".md")), "{}", report.name);
    }
}

/// Columns of a line, measured without the crate's own means: what is wide and what has no width in these tests.
fn columns(line: &str) -> usize {
    line.chars()
        .map(|c| match c {
            '\u{300}'..='\u{36f}' => 0,
            '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' => 2,
            '\u{ff00}'..='\u{ff60}' | '\u{1f300}'..='\u{1faff}' => 2,
            _ => 1,
        })
        .sum()
}

fn without_colour(text: &str) -> String {
    ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m"]
        .iter()
        .fold(text.to_owned(), |text, code| text.replace(code, ""))
}

#[test]
fn no_line_of_any_screen_is_wider_than_the_screen() {
    for width in [40, 41, 60, 79, 80, 100, 119, 140, 200] {
        for (name, text) in screens(screen(width)) {
            for line in text.lines() {
                assert!(columns(line) <= width, "{name} at {width}: {} columns: {line:?}", columns(line));
                assert_eq!(line, line.trim_end(), "{name} at {width}: blanks at the end");
            }
        }
    }
}

#[test]
fn colour_adds_nothing_but_colour() {
    for width in [60, 80, 140] {
        let plain = screens(screen(width));
        for (name, text) in screens(Screen { width, colour: true }) {
            assert_eq!(without_colour(&text), plain[&name], "{name} at {width}");
            for line in text.lines() {
                let opened = line.rfind("\x1b[").is_none_or(|at| line[at..].starts_with("\x1b[0m"));
                assert!(opened, "{name} at {width}: a colour runs over the end of {line:?}");
            }
        }
    }
}

#[test]
fn nothing_from_outside_reaches_the_terminal_or_the_page_as_it_was() {
    let everything = screens(screen(80)).into_iter().chain(reports()).chain([("for-agent".to_owned(), paragraphs())]);
    for (name, text) in everything {
        for c in text.chars() {
            let is_harmless = c == '\n'
                || !(c.is_control()
                    || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'));
            assert!(is_harmless, "{name} holds {c:?}");
        }
    }
}

/// Bars that divide a table's row: those that are not escaped.
fn bars(line: &str) -> usize {
    line.replace("\\\\", "").replace("\\|", "").matches('|').count()
}

/// The line without its code spans: a run of backticks ends at the next run of the same length.
fn without_code(line: &str) -> String {
    let mut rest = line;
    let mut kept = String::new();
    while let Some(at) = rest.find('`').filter(|at| !rest[..*at].ends_with('\\')) {
        let run = rest[at..].len() - rest[at..].trim_start_matches('`').len();
        kept.push_str(&rest[..at]);
        rest = &rest[at + run..];
        let mut spans = rest.match_indices('`').map(|(at, _)| at).filter(|at| {
            let ticks = rest[*at..].len() - rest[*at..].trim_start_matches('`').len();
            ticks == run && !rest[..*at].ends_with('`')
        });
        let Some(end) = spans.next() else { break };
        rest = &rest[end + run..];
    }
    kept + rest
}

#[test]
fn hostile_names_break_no_table_and_make_no_html() {
    for (name, text) in reports().into_iter().filter(|(name, _)| name.ends_with(".md")) {
        let mut head: Option<usize> = None;
        for line in text.lines() {
            if line.starts_with('|') {
                let expected = *head.get_or_insert(bars(line));
                assert_eq!(bars(line), expected, "{name}: {line}");
            } else {
                head = None;
            }
            let outside_code = without_code(line);
            let tags = ["<details><summary>", "</summary>", "</details>"]
                .iter()
                .fold(outside_code, |t, tag| t.replace(tag, ""));
            assert!(!tags.contains('<'), "{name}: {line}");
        }
    }
}

#[test]
fn hostile_names_make_no_elements_in_a_page() {
    let reports = reports();
    let elements = |name: &str| {
        let tags = reports[name].split('<').skip(1);
        tags.map(|tag| tag.split([' ', '>', '/']).next().unwrap_or_default().to_owned()).collect::<BTreeSet<_>>()
    };
    let known = elements("summary-hourbook.html");
    assert!(known.contains("table") && known.contains("svg"));
    assert!(elements("summary-hostile.html").is_subset(&known));
    assert!(!reports["summary-hostile.html"].chars().any(|c| c.is_control() && c != '\n'));
}

#[test]
fn a_screen_of_80_columns_has_every_essential_column_of_the_log() {
    let log = &screens(screen(80))["log-hourbook"];
    let head = log.lines().find(|line| line.contains("score")).unwrap();
    for title in ["#", "score", "class", "tests", "pass %", "cov %", "errors", "alerts", "next"] {
        assert!(head.contains(title), "{title} is not in {head:?}");
    }
    assert!(log.contains("▲ 8") && log.contains("▲ peak"), "{log}");
    assert!(log.lines().any(|line| line.contains("11") && line.contains("rollback 8")), "{log}");
}

#[test]
fn a_score_above_the_peak_is_explained() {
    let early = &screens(screen(80))["log-hourbook-early"];
    assert!(early.contains("iteration 4: 0.9230, test_count_decreased is open"), "{early}");
    assert!(!screens(screen(80))["log-hourbook"].contains("not the peak"));
}

#[test]
fn what_was_not_measured_is_never_shown_as_zero() {
    let of = unmeasured();
    for text in [markdown(&of, 1), terminal::recorded(&of.records[1], &of.best, &object(7), screen(80))] {
        let names = ["| Test Count |", "| Coverage |", "  test count ", "  coverage "];
        let rows: Vec<&str> = text.lines().filter(|line| names.iter().any(|name| line.starts_with(name))).collect();
        assert_eq!(rows.len(), 2, "{text}");
        assert!(rows.iter().all(|row| row.contains('–') && !row.contains('0')), "{rows:?}");
    }
}

#[test]
fn the_first_lines_tell_the_verdict_and_the_command() {
    let screens = screens(screen(80));
    let top: Vec<&str> = screens["recorded-hourbook-004"].lines().take(5).collect();
    assert!(top.iter().any(|line| line.contains("REGRESSION → roll back to iteration 2")), "{top:?}");
    assert!(top.iter().any(|line| line.trim() == "$ highwater restore 2 --loop hourbook"), "{top:?}");
}

#[test]
fn a_paragraph_for_an_agent_is_one_short_line() {
    for line in paragraphs().lines() {
        assert!(line.chars().count() <= 600, "{} characters: {line}", line.chars().count());
        assert!(line.starts_with("Iteration "), "{line}");
    }
}

#[test]
fn long_lists_are_cut_on_the_screen_and_whole_in_show() {
    let screens = screens(screen(80));
    assert!(screens["recorded-alerts-001"].contains("and 24 more: highwater show 1 --loop hourbook"));
    assert_eq!(screens["show-alerts-001"].matches("[rule_").count(), 30);
}

fn of_log() -> highwater::model::ids::LoopId {
    "auth".parse().unwrap()
}
