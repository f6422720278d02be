//! Axes of charts: round steps, and short texts for numbers.
//!
//! Every axis starts at zero, so that charts do not exaggerate differences.

/// An axis from zero to a round number that is not below the largest value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) top: f64,
    pub(super) step: f64,
}

impl Axis {
    /// An axis for values up to `greatest`.
    pub(super) fn up_to(greatest: f64) -> Self {
        if !(greatest.is_finite() && greatest > 0.0) {
            return Self { top: 1.0, step: 0.25 };
        }
        let raw = greatest / 5.0;
        let power = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= raw);
        let step = step.unwrap_or(10.0 * power);
        Self { top: (greatest / step).ceil() * step, step }
    }

    /// The marks of the axis, from zero up.
    pub(super) fn marks(self) -> impl Iterator<Item = f64> {
        let count = (self.top / self.step).round() as usize;
        (0..=count).map(move |at| at as f64 * self.step)
    }
}

/// A number with three digits, with k, M or G if that is shorter.
pub(super) fn short(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        v if v >= 1e9 => (value / 1e9, "G"),
        v if v >= 1e6 => (value / 1e6, "M"),
        v if v >= 1e4 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let digits = match scaled.abs() {
        v if v == 0.0 || v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{scaled:.digits$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_round() {
        assert_eq!(Axis::up_to(97.0), Axis { top: 100.0, step: 20.0 });
        assert_eq!(Axis::up_to(1234.0), Axis { top: 1250.0, step: 250.0 });
        assert_eq!(Axis::up_to(0.0).marks().count(), 5);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0.0, 0.125, 3.5, 4096.0, 12_340.0, 5e6].map(short),
            ["0", "0.125", "3.5", "4096", "12.3k", "5M"]
        );
    }
}
