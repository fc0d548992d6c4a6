//! Metrics of the user's own from outside: samples, crashes, contexts, reports of metrics, a choice by several of them.

use serde_json::{Value, json};

use crate::support::{Project, assert_shape};

fn metric<'a>(record: &'a Value, name: &str) -> &'a Value {
    &record["metrics"]["custom"][name]
}

fn begun(config: &str) -> Project {
    let project = Project::new();
    project.write("highwater.yaml", config);
    project.tests(&[("a", true)]);
    project
}

fn record(project: &Project, arguments: &[&str]) -> Value {
    let first = !project.exists(".progress");
    let command = if first { &["begin", "--loop", "m"][..] } else { &["record"] };
    project.write("src/lib.py", format!("# {}\n", arguments.join(" ")));
    project.tests(&[("a", true)]);
    let answer = project.run(&[command, &["--json"], arguments].concat()).expect(0).json();
    assert_shape("record", &answer);
    answer
}

#[test]
fn a_metric_may_be_given_more_than_once_and_a_crash_is_no_value() {
    let project = begun("metrics: {ms: {direction: lower, unit: ms, repeats: 3}}\n");
    let first = record(&project, &["--metric", "ms=10", "--metric", "ms=12", "--metric", "ms=11"]);
    assert_eq!(
        (&metric(&first, "ms")["value"], &metric(&first, "ms")["samples"]),
        (&json!(11.0), &json!([10.0, 12.0, 11.0]))
    );
    let crash = record(&project, &["--metric", "ms=nan"]);
    assert_eq!(
        (&metric(&crash, "ms")["value"], &metric(&crash, "ms")["reason"]),
        (&Value::Null, &json!("nan is not finite"))
    );
    assert_eq!(crash["warnings"], json!(["ms has 0 of the 3 samples that metrics.ms.repeats asks for"]));
    let worse = record(&project, &["--metric", "ms=20", "--metric", "ms=21", "--metric", "ms=22"]);
    let alert = worse["alerts"].as_array().unwrap().iter().find(|alert| alert["rule"] == "metric_worse").unwrap();
    assert_eq!(
        (&alert["status"], &worse["class_rule"]),
        (&json!("confirmed"), &json!("R7")),
        "three samples on both sides"
    );
    project.run(&["record", "--metric", "a b=1"]).expect(64);
}

#[test]
fn where_a_metric_chooses_every_answer_names_it() {
    let project = begun("metrics: {ms: {direction: lower}}\nselect: {primary: ms}\n");
    record(&project, &["--metric", "ms=10"]);
    record(&project, &["--metric", "ms=8"]);
    project.tests(&[("a", true)]);
    let third = project.run(&["record", "--metric", "ms=9"]).expect(0).stdout;
    assert!(third.contains("$ highwater record --loop m --metric ms=VALUE"), "{third}");
    assert!(third.contains("iteration 1  by ms 8"), "{third}");
    assert!(project.run(&["status"]).expect(0).stdout.contains("iteration 1  by ms 8"));
    assert!(project.run(&["report", "summary"]).expect(0).stdout.contains("**Best**: Iteration 1 (ms: 8)"));
    assert!(project.run(&["report", "2"]).expect(0).stdout.contains("Iteration 1 (ms: 8)"));
    let gate = project.run(&["gate", "--json"]).expect(0).json();
    assert!(gate["for_agent"].as_str().unwrap().contains("The best so far is iteration 1 (ms 8)."), "{gate}");
}

#[test]
fn values_of_another_context_are_told_and_not_compared() {
    let project = begun("metrics: {ms: {direction: lower, min_effect: \"5 %\"}}\n");
    record(&project, &["--metric", "ms=10"]);
    let other = record(&project, &["--metric", "ms=90", "--context", "beside a build"]);
    let rules: Vec<&Value> = other["alerts"].as_array().unwrap().iter().map(|alert| &alert["rule"]).collect();
    assert_eq!(rules, [&json!("metric_context_changed")]);
    let worse = record(&project, &["--metric", "ms=96", "--context", "beside a build"]);
    assert!(worse["alerts"].as_array().unwrap().iter().any(|alert| alert["rule"] == "metric_worse"), "{worse:#}");
}

#[test]
fn a_report_of_metrics_needs_no_config_and_is_verified() {
    let project = begun("");
    let estimates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/reports/criterion/good.json");
    let estimates = std::fs::read_to_string(estimates).unwrap();
    let path = "target/criterion/sum 100/new/estimates.json";
    let name = "bench.sum 100.time";
    for time in ["18.0", "18.1", "18.2", "90.0"] {
        let text = estimates.replacen("18.21157321354812", time, 1);
        assert_ne!(text, estimates);
        project.write(path, text);
        let record = record(&project, &[]);
        assert_eq!(
            (&metric(&record, name)["unit"], &metric(&record, name)["direction"]),
            (&json!("ns"), &json!("lower"))
        );
        assert_eq!(metric(&record, name)["value"].to_string(), time);
        let is_worse = record["alerts"].as_array().unwrap().iter().any(|alert| alert["rule"] == "metric_worse");
        assert_eq!(is_worse, time == "90.0", "{record:#}");
    }
    let page = project.run(&["show", "3"]).expect(0).stdout;
    assert!(page.contains("bench.sum 100.time 90 ns"), "{page}");
    project.run(&["verify", "--recompute"]).expect(0);
    let skipped = record(&project, &["--skip", "metric"]);
    assert!(metric(&skipped, name).is_null());
}

#[test]
fn a_choice_by_several_objectives_explains_itself() {
    let project = begun(
        "metrics: {us: {direction: lower, unit: µs}, allocs: {direction: lower}}\nselect: {primary: us, objectives: [us, allocs]}\n",
    );
    for (us, allocs) in [("3350", "24882"), ("3314", "24882"), ("3445", "24647")] {
        record(&project, &["--metric", &format!("us={us}"), "--metric", &format!("allocs={allocs}")]);
    }
    let answer = project.run(&["finish", "--json"]).expect(0).json();
    let selection: Value = serde_json::from_str(&project.read(".progress/m/selection.json")).unwrap();
    assert_shape("selection", &selection);
    assert_eq!((&selection["selected"], &selection["pareto_front"]), (&json!(1), &json!([1, 2])), "{answer:#}");
    assert_eq!(selection["pareto"]["candidates"][0]["dominated_by"], 1);
    assert_eq!(selection["pareto"]["objectives"][0], json!({"name": "us", "direction": "lower", "unit": "µs"}));
    let report = project.run(&["report", "selection"]).expect(0).stdout;
    assert!(
        report.contains("| Iteration | us (µs, lower is better) | allocs (lower is better) | Dominated By |"),
        "{report}"
    );
    assert!(report.contains("| 0 | 3350 | 24882 | iteration 1 |"), "{report}");
    assert!(report.contains("| 2 | 3445 | 24647 | none: on the front |"), "{report}");
}

#[test]
fn inspect_tells_the_metrics_of_a_report() {
    let project = Project::new();
    let fixture = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/reports/go-bench-text/good.txt");
    project.write("bench.txt", std::fs::read(fixture).unwrap());
    let answer = project.run(&["inspect", "--json", "bench.txt"]).expect(0).json();
    assert_shape("inspected", &answer);
    let time = &answer["figures"]["metrics"]["bench.example.test/sum.BenchmarkMake.time"];
    assert_eq!((&time["value"], &time["unit"]), (&json!(0.8673), &json!("ns/op")));
    let page = project.run(&["inspect", "bench.txt"]).expect(0).stdout;
    assert!(page.contains("go-bench-text (metric)") && page.contains("0.8673") && page.contains("lower"), "{page}");
}

#[test]
fn the_log_of_a_loop_that_a_metric_chose_in_tells_its_values_and_not_the_scores() {
    let project = begun("metrics: {ms: {direction: lower}}\nselect: {primary: ms}\n");
    for value in ["ms=30", "ms=20", "ms=25"] {
        record(&project, &["--metric", value]);
    }
    let open = project.run(&["log"]).expect(0).stdout;
    assert!(open.contains("▲ peak: iteration 1, ms 20; the last, 2, has 25\n  → "), "{open}");
    assert!(open.contains("metric") && !open.contains("higher, but not"), "{open}");
    let finished = project.run(&["finish"]).expect(0).stdout;
    assert!(finished.contains("late regression: only the final iteration is worse"), "{finished}");
    assert!(finished.contains("% of its ms\n"), "{finished}");
    let log = project.run(&["log"]).expect(0).stdout;
    assert!(log.contains("▲ peak: iteration 1, ms 20; the last, 2, has 25\n"), "{log}");
}

#[test]
fn a_report_of_tests_that_lies_about_is_told_where_only_metrics_are_given() {
    let told = |given: &[&str]| {
        let project = Project::new();
        project.tests(&[("a", true)]);
        project.run(&[&["begin"], given].concat()).expect(0).stderr.contains("junit.xml was found and counts")
    };
    assert!(told(&["--metric", "ms=1"]));
    for given in [&[][..], &["--metric", "ms=1", "--skip", "test"], &["--metric", "ms=1", "--report", "junit.xml"]] {
        assert!(!told(given), "{given:?}");
    }
}

#[test]
fn a_metric_without_a_direction_is_told_to_be_judged_by_nobody() {
    let begin = |config: &str| {
        let project = Project::new();
        project.write("highwater.yaml", config);
        project.run(&["begin", "--metric", "ms=30", "--metric", "us=3"]).expect(0).stdout.replace("\n    ", " ")
    };
    let told = "kept, and not judged: for that, highwater.yaml says before begin which way is better: metrics:";
    assert!(begin("").contains(&format!("ms and 1 more are {told} {{ms: {{direction: lower}}}}")), "{}", begin(""));
    let one = begin("metrics: {ms: {direction: lower}}\n");
    assert!(one.contains(&format!("us is {told}")), "{one}");
    assert!(!begin("metrics: {ms: {direction: lower}, us: {direction: higher}}\n").contains("not judged"));
}

#[test]
fn remarks_that_have_no_room_beside_the_score_are_told_apart_below_it() {
    let project = Project::new();
    project.write("highwater.yaml", "metrics: {ms: {direction: lower}}\nselect: {primary: ms}\n");
    let shown = project.run(&["begin", "--metric", "ms=30"]).expect(0).stdout;
    assert!(shown.contains("▲ peak, the best so far, partial: 10% of the weights measured"), "{shown}");
}

#[test]
fn an_agent_is_told_what_the_metrics_came_to() {
    let project = Project::new();
    let names = ["a=1", "b=-2.5", "c=3", "d=4", "e=nan"];
    let given: Vec<&str> = names.iter().flat_map(|one| ["--metric", one]).collect();
    project.run(&[&["begin"], &given[..]].concat()).expect(0);
    let gate = project.run(&["gate", "--json"]).expect(0).json();
    let told = gate["for_agent"].as_str().unwrap();
    assert!(told.ends_with("Metrics: a 1, b -2.5, c 3 and 1 more."), "{told}");
}

// ANALYSIS §12.6.
#[test]
fn the_iteration_at_which_a_level_changed_is_told() {
    let project = Project::new();
    let record = |value: f64, command: &str| {
        project.tests(&[("a", true), ("b", true)]);
        project.run(&[command, "--metric", &format!("latency={value}")]).expect(0);
    };
    record(50.0, "begin");
    for value in [50.4, 49.7, 50.1] {
        record(value, "record");
    }
    let levels = |project: &Project| project.run(&["log", "--changes", "--json"]).expect(0).json();
    let few = levels(&project);
    crate::support::assert_shape("log-changes", &few);
    assert_eq!(few["metrics"][2]["why_none"], "8 values are needed");
    for value in [49.9, 60.1, 59.8, 60.3, 59.9, 60.2] {
        record(value, "record");
    }
    let told = levels(&project);
    crate::support::assert_shape("log-changes", &told);
    let latency = &told["metrics"][2];
    assert_eq!((&latency["metric"], &latency["values"]), (&"latency".into(), &10.into()));
    let change = &latency["changes"][0];
    assert_eq!((&change["iteration"], &change["seen_at"]), (&5.into(), &7.into()));
    assert_eq!(told["metrics"][1]["why_none"], "it kept its level");
    let screen = project.run(&["log", "--changes"]).expect(0).stdout;
    let row = screen.lines().find(|line| line.contains("latency")).unwrap();
    assert_eq!(
        row.split_whitespace().collect::<Vec<_>>().join(" "),
        "latency 5 50.02 → 60.06 below 0.001 7",
        "{screen}"
    );
    for line in project.run(&["log", "--changes", "--jsonl"]).expect(0).stdout.lines() {
        crate::support::assert_shape("metric-levels", &serde_json::from_str(line).unwrap());
    }
}
