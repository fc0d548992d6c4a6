//! How sure a recommendation is (ANALYSIS §6).

use crate::model::verdict::{Alert, OpenFinding, Severity};

/// The findings that speak for an action.
pub struct Grounds<'a> {
    /// Raised at this iteration.
    pub alerts: &'a [Alert],
    /// Open at this iteration.
    pub open: &'a [OpenFinding],
    /// The severity of a regression that no alert stands for.
    pub silent: Option<Severity>,
}

impl Grounds<'_> {
    /// Noisy-OR over the findings raised here: each leaves `1 − r` of the doubt.
    pub fn confidence(&self) -> f64 {
        1.0 - self.raised().fold(1.0, |doubt, reliability| doubt * (1.0 - reliability))
    }

    /// The strongest finding, raised here or open; 0 if there is none.
    pub fn strongest(&self) -> f64 {
        let open = self.open.iter().filter(|finding| finding.accepted.is_none() && finding.alert.counts());
        self.raised().chain(open.map(|finding| finding.alert.reliability)).fold(0.0, f64::max)
    }

    fn raised(&self) -> impl Iterator<Item = f64> {
        let alerts = self.alerts.iter().filter(|alert| alert.counts()).map(|alert| alert.reliability);
        alerts.chain(self.silent.map(by_severity))
    }
}

/// The reliability of a finding that has none of its own.
pub fn by_severity(severity: Severity) -> f64 {
    match severity {
        Severity::Critical => 0.75,
        Severity::High => 0.50,
        Severity::Medium => 0.25,
        Severity::Low => 0.0,
    }
}

/// Two decimals, half up, within 0.05–0.99.
pub fn rounded(confidence: f64) -> f64 {
    // The small term takes a half that floating point holds just below for the half it is.
    ((confidence * 100.0 + 0.5 + crate::model::units::EPS).floor() / 100.0).clamp(0.05, 0.99)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_has_two_decimals_and_is_never_certain() {
        assert_eq!(rounded(0.875), 0.88);
        assert_eq!(rounded(0.9375), 0.94);
        assert_eq!(rounded(1.0), 0.99);
        assert_eq!(rounded(-1.0), 0.05);
    }
}
