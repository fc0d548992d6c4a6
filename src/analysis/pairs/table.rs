//! The pairs. Rule; key, empty where no number decides; stories; the notch.

use super::stories::{
    after, bash, between, called, coded, covered, declare, elsewhere, estimated, grep, named, newly_failing, read,
    revisited, said, searches, seen, signed, state, stepped, timed,
};
use super::{Pair, none};
use crate::analysis::testing::{
    broken_units, tests, with_build, with_complexity, with_coverage, with_errors, with_files,
};
use crate::model::steps::State;
use crate::model::verdict::Status;

pub const PAIRS: &[Pair] = &[
    (
        "test_count_decreased",
        "",
        |c, trips| after(c, "test_count_decreased", &[tests(8, 2), tests(8, if trips { 1 } else { 2 })]),
        none,
    ),
    (
        "working_tests_failing",
        "flake.confirmed",
        |c, trips| newly_failing(c, (0, 0), trips) == Some(Status::Confirmed),
        |c| c.flake.confirmed = 0.57,
    ),
    (
        "working_tests_failing",
        "flake.prior_break",
        |c, trips| newly_failing(c, (0, 0), trips) == Some(Status::Confirmed),
        |c| c.flake.prior_break = 0.5,
    ),
    (
        "working_tests_failing",
        "flake.prior_rate",
        |c, trips| newly_failing(c, (0, 0), trips) == Some(Status::Confirmed),
        |c| c.flake.prior_rate = 0.0005,
    ),
    (
        "working_tests_failing",
        "flake.refuted",
        |c, trips| newly_failing(c, (10, if trips { 5 } else { 1 }), false) == Some(Status::Refuted),
        |c| c.flake.refuted = 0.2,
    ),
    (
        "failing_test_removed",
        "",
        |c, trips| {
            named(c, "failing_test_removed", ["a::x P", "a::y F"], ["a::x P", if trips { "b::z P" } else { "b::y P" }])
        },
        none,
    ),
    (
        "passing_test_removed",
        "",
        |c, trips| {
            named(c, "passing_test_removed", ["a::x P", "a::y P"], ["a::x P", if trips { "b::z P" } else { "b::y P" }])
        },
        none,
    ),
    (
        "suite_not_run",
        "",
        |c, trips| after(c, "suite_not_run", &[tests(9, 0), broken_units(tests(u64::from(!trips), 0), &["t.a"])]),
        none,
    ),
    (
        "suite_partial",
        "",
        |c, trips| {
            after(
                c,
                "suite_partial",
                &[
                    broken_units(tests(8, 0), &["t.a"]),
                    broken_units(tests(8, 0), &["t.a", "t.b"][..1 + usize::from(trips)]),
                ],
            )
        },
        none,
    ),
    (
        "build_broken",
        "",
        |c, trips| after(c, "build_broken", &[with_build(tests(8, 0), true), with_build(tests(8, 0), !trips)]),
        none,
    ),
    (
        "pass_rate_regression",
        "classify.pass_rate_drop",
        |c, trips| after(c, "pass_rate_regression", &[tests(90, 0), if trips { tests(94, 6) } else { tests(95, 5) }]),
        |c| c.classify.pass_rate_drop = 4.9,
    ),
    (
        "coverage_regression",
        "classify.coverage_drop",
        |c, trips| covered(c, "coverage_regression", &[85.0, if trips { 82.9 } else { 83.0 }]),
        |c| c.classify.coverage_drop = 1.9,
    ),
    (
        "coverage_drift",
        "alerts.coverage_drift",
        |c, trips| covered(c, "coverage_drift", &[85.0, 84.0, if trips { 82.9 } else { 83.0 }]),
        |c| c.alerts.coverage_drift = 1.9,
    ),
    (
        "coverage_drift",
        "classify.coverage_drop",
        |c, trips| covered(c, "coverage_drift", if trips { &[85.0, 83.5, 82.9] } else { &[85.0, 82.9] }),
        |c| c.classify.coverage_drop = 2.2,
    ),
    (
        "error_increase",
        "alerts.error_increase",
        |c, trips| {
            after(
                c,
                "error_increase",
                &[
                    with_errors(tests(8, 0), &[("ruff", 1)]),
                    with_errors(tests(8, 0), &[("ruff", if trips { 7 } else { 6 })]),
                ],
            )
        },
        |c| c.alerts.error_increase = 4,
    ),
    (
        "metric_disappeared",
        "",
        |c, trips| {
            after(
                c,
                "metric_disappeared",
                &[with_coverage(tests(8, 0), 80.0), if trips { tests(8, 0) } else { with_coverage(tests(8, 0), 80.0) }],
            )
        },
        none,
    ),
    (
        "file_deletion",
        "",
        |c, trips| {
            after(
                c,
                "file_deletion",
                &[with_files(tests(8, 0), 20), with_files(tests(8, 0), if trips { 19 } else { 20 })],
            )
        },
        none,
    ),
    (
        "complexity_explosion",
        "alerts.complexity_increase",
        |c, trips| {
            after(
                c,
                "complexity_explosion",
                &[with_complexity(tests(8, 0), 4.0), with_complexity(tests(8, 0), if trips { 6.1 } else { 6.0 })],
            )
        },
        |c| c.alerts.complexity_increase = 0.49,
    ),
    (
        "metric_worse",
        "metrics",
        |c, trips| timed(c, "metric_worse", |_| {}, &[10.0, if trips { 10.6 } else { 10.5 }]),
        |c| declare(c, 0.4, None),
    ),
    (
        "guard_worse",
        "metrics",
        |c, trips| timed(c, "guard_worse", |latency| latency.guard = true, &[10.0, if trips { 10.6 } else { 10.5 }]),
        |c| declare(c, 0.4, None),
    ),
    (
        "metric_unresponsive",
        "",
        |c, trips| {
            timed(c, "metric_unresponsive", |_| {}, &[10.0, 11.0, 12.5, 12.5, 12.5, if trips { 12.5 } else { 12.6 }])
        },
        none,
    ),
    (
        "suspicious_best",
        "metrics",
        |c, trips| {
            timed(
                c,
                "suspicious_best",
                |latency| latency.sigma = latency.sigma.or(Some(0.2)),
                &[10.0, if trips { 8.3 } else { 8.4 }],
            )
        },
        |c| declare(c, 0.5, Some(0.19)),
    ),
    ("metric_context_changed", "metrics", elsewhere, none),
    (
        "stalled",
        "stall.window",
        |c, trips| seen(c, "stalled", if trips { "BPPP" } else { "BPP" }, &[0.8; 4], 20),
        |c| c.stall.window = 2,
    ),
    (
        "stalled",
        "stall.max_variance",
        |c, trips| seen(c, "stalled", "BPPP", &[0.9, if trips { 0.61 } else { 0.5 }, 0.9, 0.9], 20),
        |c| c.stall.max_variance = 0.04,
    ),
    (
        "stalled",
        "stall.min_gain",
        |c, trips| seen(c, "stalled", "BPPP", &[0.6, 0.6, if trips { 0.619 } else { 0.62 }, 0.6], 20),
        |c| c.stall.min_gain = 0.03,
    ),
    (
        "infinite_loop",
        "loop.window",
        |c, trips| signed(c, "infinite_loop", if trips { "QAVWXA" } else { "AVWXYA" }, 20),
        |c| c.looping.window = 6,
    ),
    (
        "infinite_loop",
        "loop.min_iteration",
        |c, trips| signed(c, "infinite_loop", "VWXAA", if trips { 11 } else { 10 }),
        |c| c.looping.min_iteration = 9,
    ),
    ("metric_cycling", "", |c, trips| signed(c, "metric_cycling", if trips { "ABAB" } else { "XABA" }, 8), none),
    (
        "progress_stuck",
        "progress.threshold",
        |c, trips| said(c, &[("a", 80), ("a", 0), ("a", 0), ("a", if trips { 49 } else { 50 })]),
        |c| c.progress.threshold = 0.16,
    ),
    (
        "progress_stuck",
        "progress.stuck_after",
        |c, trips| said(c, &[("a", 80), ("a", 0), ("a", if trips { 0 } else { 80 }), ("a", 0)]),
        |c| c.progress.stuck_after = 1,
    ),
    (
        "progress_stuck",
        "progress.talk_only_after",
        |c, trips| {
            said(
                c,
                &[("a", 80), ("b", 0), ("c", 0), ("d", 0), ("e", 0), ("f", 0), ("g", 0)][..if trips { 7 } else { 6 }],
            )
        },
        |c| c.progress.talk_only_after = 5,
    ),
    (
        "estimate_stuck",
        "estimate.window",
        |c, trips| estimated(c, &[40.0, 42.0, 44.0][..if trips { 3 } else { 2 }]),
        |c| c.estimate.window = 2,
    ),
    (
        "estimate_stuck",
        "estimate.min_spread",
        |c, trips| estimated(c, &[40.0, 42.0, if trips { 44.0 } else { 45.0 }]),
        |c| c.estimate.min_spread = 5.1,
    ),
    (
        "stuck_candidate",
        "controller.repeats",
        |c, trips| coded(c, &[9, 1, 1, 1][..if trips { 4 } else { 3 }], 0),
        |c| c.controller.repeats = 2,
    ),
    (
        "stuck_candidate",
        "controller.window",
        |c, trips| coded(c, &revisited(if trips { 20 } else { 21 }), 0),
        |c| c.controller.window = 21,
    ),
    (
        "stuck_candidate",
        "controller.patience",
        |c, trips| coded(c, &[9, 1, 2, 3, 4, 5, 6, 7][..if trips { 8 } else { 7 }], 5),
        |c| c.controller.patience = 5,
    ),
    (
        "stuck_candidate",
        "controller.max_steps",
        |c, trips| {
            let mut c = c.clone();
            c.controller.max_steps -= 496;
            coded(&c, &[9, 1, 2, 3, 4, 5][..if trips { 6 } else { 5 }], 0)
        },
        |c| c.controller.max_steps = 499,
    ),
    (
        "exact_cycle",
        "monitor.cycle",
        |c, trips| called(c, "exact_cycle", vec![bash("make"); if trips { 3 } else { 2 }]),
        |c| c.monitor.cycle = 2,
    ),
    (
        "exact_cycle",
        "monitor.waits",
        |c, trips| called(c, "exact_cycle", vec![bash("sleep 5"); if trips { 10 } else { 9 }]),
        |c| c.monitor.waits = 9,
    ),
    (
        "exact_cycle",
        "monitor.window",
        |c, trips| called(c, "exact_cycle", between(vec![bash("make"), bash("make")], bash("make"), trips)),
        |c| c.monitor.window = 11,
    ),
    (
        "repeated_file",
        "monitor.file_reads",
        |c, trips| called(c, "repeated_file", (0..if trips { 5 } else { 4 }).map(|n| read("a", n, None)).collect()),
        |c| c.monitor.file_reads = 4,
    ),
    (
        "repeated_file",
        "monitor.refine",
        |c, trips| called(c, "repeated_file", (0..5).map(|n| read("a", n, Some(if trips { 0 } else { n }))).collect()),
        |c| c.monitor.refine = false,
    ),
    (
        "similar_calls",
        "monitor.similar_calls",
        |c, trips| {
            called(
                c,
                "similar_calls",
                ["a", "a b", "a c"][..if trips { 3 } else { 2 }].iter().map(|word| grep(word)).collect(),
            )
        },
        |c| c.monitor.similar_calls = 2,
    ),
    (
        "similar_calls",
        "monitor.similarity",
        |c, trips| {
            called(
                c,
                "similar_calls",
                (if trips { ["a", "a b", "a c"] } else { ["a", "b", "c"] }).iter().map(|word| grep(word)).collect(),
            )
        },
        |c| c.monitor.similarity = 0.77,
    ),
    (
        "similar_calls",
        "monitor.window",
        |c, trips| called(c, "similar_calls", between(vec![grep("a"), grep("a b")], grep("a c"), trips)),
        |c| c.monitor.window = 11,
    ),
    (
        "low_hit_rate",
        "monitor.searches",
        |c, trips| {
            called(c, "low_hit_rate", searches(&[false, false, true, false, false][..if trips { 5 } else { 4 }]))
        },
        |c| c.monitor.searches = 4,
    ),
    (
        "low_hit_rate",
        "monitor.hit_rate",
        |c, trips| called(c, "low_hit_rate", searches(&[!trips, false, true, false, false])),
        |c| c.monitor.hit_rate = 0.41,
    ),
    (
        "scope_creep",
        "monitor.directories",
        |c, trips| {
            called(
                c,
                "scope_creep",
                (0..if trips { 6 } else { 5 }).map(|n| read(&format!("d{n}/a"), n, None)).collect(),
            )
        },
        |c| c.monitor.directories = 4,
    ),
    (
        "empty_streak",
        "monitor.empty_streak",
        |c, trips| called(c, "empty_streak", searches(&[false; 3][..if trips { 3 } else { 2 }])),
        |c| c.monitor.empty_streak = 2,
    ),
    (
        "no_edit",
        "monitor.no_edit",
        |c, trips| {
            called(c, "no_edit", (0..if trips { 30 } else { 29 }).map(|n| read(&format!("{n}"), n, None)).collect())
        },
        |c| c.monitor.no_edit = 29,
    ),
    (
        "max_steps",
        "controller.max_steps",
        |c, trips| stepped(c, "max_steps", &[State { step: Some(if trips { 501 } else { 500 }), ..state(1, 0) }]),
        |c| c.controller.max_steps = 499,
    ),
    (
        "repeated_state",
        "controller.repeats",
        |c, trips| stepped(c, "repeated_state", &vec![state(1, 0); if trips { 3 } else { 2 }]),
        |c| c.controller.repeats = 2,
    ),
    (
        "alternating",
        "",
        |c, trips| stepped(c, "alternating", &[1, 2, 1, if trips { 2 } else { 3 }].map(|tree| state(tree, 0))),
        none,
    ),
    (
        "revisited_state",
        "controller.repeats",
        |c, trips| {
            stepped(
                c,
                "revisited_state",
                &[1, 2, 3, if trips { 1 } else { 7 }, 4, 5, 6, 1].map(|tree| state(tree, 0))[..],
            )
        },
        |c| c.controller.repeats = 2,
    ),
    (
        "revisited_state",
        "controller.window",
        |c, trips| {
            stepped(
                c,
                "revisited_state",
                &revisited(if trips { 20 } else { 21 })[1..].iter().map(|tree| state(*tree, 0)).collect::<Vec<_>>(),
            )
        },
        |c| c.controller.window = 21,
    ),
    (
        "no_improvement",
        "controller.patience",
        |c, trips| {
            stepped(c, "no_improvement", &(0..if trips { 7 } else { 6 }).map(|tree| state(tree, 5)).collect::<Vec<_>>())
        },
        |c| c.controller.patience = 5,
    ),
];
