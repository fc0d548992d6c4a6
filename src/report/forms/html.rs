//! `html`: the loop on one page that needs nothing else: no script, no font, no picture from elsewhere.

use serde::Serialize;

use super::{Form, WholeLoop, Write};
use crate::error::Result;
use crate::model::trajectory::Point;
use crate::model::units::Score;
use crate::report::markdown::{SummaryView, summary_view};
use crate::report::render;
use crate::report::view::{class_name, fixed, score};

/// The page.
pub(super) const FORM: Form = Form {
    name: "html",
    about: "the loop on one self-contained page: the trajectory drawn, the table, open findings",
    write: Write::Loop(html),
};

/// Width and height of the drawing, in its own units.
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 240.0;

/// Room around the curve: numbers stand to the left and below.
const LEFT: f64 = 44.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 28.0;

/// Numbers of iterations that stand below the curve, at most.
const LABELS: usize = 16;

#[derive(Serialize)]
struct Page {
    summary: SummaryView,
    chart: Option<Chart>,
}

#[derive(Serialize)]
struct Chart {
    /// Polylines: an iteration without a score interrupts the curve.
    lines: Vec<String>,
    dots: Vec<Dot>,
    levels: Vec<Level>,
    labels: Vec<Label>,
}

#[derive(Serialize)]
struct Dot {
    x: String,
    y: String,
    class: &'static str,
    is_best: bool,
    title: String,
}

/// A horizontal line.
#[derive(Serialize)]
struct Level {
    y: String,
    text: String,
}

#[derive(Serialize)]
struct Label {
    x: String,
    text: String,
}

/// The loop on one page of HTML.
///
/// # Errors
/// A bug of ours in the template.
pub fn html(whole: &WholeLoop<'_>) -> Result<String> {
    let page =
        Page { summary: summary_view(whole.loop_id, whole.points, whole.best, whole.selection), chart: chart(whole) };
    render::render_html("page", include_str!("../../../templates/summary.html"), &page)
}

/// The scores over the iterations; nothing to draw if there are none.
fn chart(whole: &WholeLoop<'_>) -> Option<Chart> {
    let points = whole.points;
    let scores: Vec<f64> = points.iter().filter_map(Point::score).map(Score::get).collect();
    let (low, high) = range(&scores)?;
    let y = |score: f64| TOP + (HEIGHT - TOP - BOTTOM) * (high - score) / (high - low);
    let last = small(points.len().saturating_sub(1)).max(1.0);
    let x = |index: usize| LEFT + (WIDTH - LEFT - RIGHT) * small(index) / last;
    let at = |value: f64| fixed(Some(value), 1);
    let (mut lines, mut dots, mut line) = (Vec::new(), Vec::new(), Vec::new());
    for (index, point) in points.iter().enumerate() {
        let Some(of_point) = point.score() else {
            lines.push(std::mem::take(&mut line));
            continue;
        };
        let (x, y) = (at(x(index)), at(y(of_point.get())));
        line.push(format!("{x},{y}"));
        let class = class_name(point.classification, &point.recommendation);
        let title = format!("iteration {}: {}, {class}", point.iteration, score(Some(of_point)));
        dots.push(Dot { x, y, class, is_best: whole.best.iteration == Some(point.iteration), title });
    }
    lines.push(line);
    let each = points.len().div_ceil(LABELS).max(1);
    let labels = points.iter().enumerate().step_by(each);
    let labels = labels.map(|(index, point)| Label { x: at(x(index)), text: point.iteration.to_string() });
    let levels =
        [high, f64::midpoint(low, high), low].map(|level| Level { y: at(y(level)), text: fixed(Some(level), 2) });
    Some(Chart {
        lines: lines.into_iter().filter(|line| line.len() > 1).map(|line| line.join(" ")).collect(),
        dots,
        levels: levels.into(),
        labels: labels.collect(),
    })
}

/// What the drawing spans, in hundredths: from the lowest score to the highest, and never nothing.
fn range(scores: &[f64]) -> Option<(f64, f64)> {
    let low = scores.iter().copied().reduce(f64::min)?;
    let high = scores.iter().copied().reduce(f64::max)?;
    let (low, high) = ((low * 100.0).floor() / 100.0, (high * 100.0).ceil() / 100.0);
    Some(if high - low < 0.02 { (low - 0.01, high + 0.01) } else { (low, high) })
}

fn small(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::MAX, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Story, tests};
    use crate::model::ids::LoopId;
    use crate::model::metrics::Metrics;
    use crate::model::trajectory::BestTracker;

    fn page(points: &[Point]) -> String {
        let loop_id: LoopId = "auth".parse().unwrap();
        let best = BestTracker { iteration: points.first().map(|point| point.iteration), ..BestTracker::default() };
        html(&WholeLoop { loop_id: &loop_id, points, best: &best, selection: None }).unwrap()
    }

    fn story(passed: &[Option<u64>]) -> Vec<Point> {
        let mut story = Story::new();
        for passed in passed {
            story.record(passed.map_or_else(Metrics::default, |passed| tests(passed, 10 - passed)));
        }
        story.points().to_vec()
    }

    #[test]
    fn the_curve_has_a_dot_a_score_and_is_interrupted_where_nothing_was_measured() {
        let points = story(&[Some(4), Some(5), None, Some(6), Some(8)]);
        let page = page(&points);
        assert_eq!(page.matches("<circle").count(), 4, "{page}");
        assert_eq!(page.matches("<polyline").count(), 2);
        assert_eq!(page.matches("class=\"baseline peak\"").count(), 1);
        assert!(page.contains("points=\"44.0,"), "{page}");
    }

    #[test]
    fn one_iteration_and_none_measured_are_pages_too() {
        assert_eq!(page(&story(&[Some(4)])).matches("<circle").count(), 1);
        assert!(!page(&story(&[None])).contains("<svg"));
        assert!(!page(&[]).contains("<svg"));
    }

    #[test]
    fn a_page_asks_for_nothing_and_runs_nothing() {
        let mut points = story(&[Some(4), Some(5)]);
        points[1].label = Some("<script src=//x></script><img onerror='a'>".to_owned());
        let page = page(&points);
        for live in ["<script", "<img", "http:", "https:", "url(", "@import", "<link", "NaN", "inf"] {
            assert!(!page.contains(live), "{live}");
        }
        assert!(page.contains("&lt;script src=//x&gt;"));
    }

    #[test]
    fn the_range_is_never_nothing() {
        assert_eq!(range(&[]), None);
        let (low, high) = range(&[0.5, 0.5]).unwrap();
        assert!(low < 0.5 && high > 0.5);
        assert_eq!(range(&[0.771, 0.9915]), Some((0.77, 1.0)));
    }
}
