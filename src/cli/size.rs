//! Bytes for people.

/// Three digits at most, and the unit: `512 B`, `9.9 kB`, `120 MB`.
pub fn in_words(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let bytes = u128::from(bytes);
    let mut shown = String::new();
    let mut divisor: u128 = 1;
    for unit in UNITS {
        divisor *= 1000;
        let tenths = (bytes * 10 + divisor / 2) / divisor;
        let whole = (bytes + divisor / 2) / divisor;
        shown =
            if tenths < 100 { format!("{}.{} {unit}", tenths / 10, tenths % 10) } else { format!("{whole} {unit}") };
        if whole < 1000 {
            break;
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_three_digits_and_a_unit() {
        let shown = [0, 999, 1000, 1049, 1050, 9949, 12_345, 999_499, 1_000_000, 123_456_789].map(in_words);
        let expected = ["0 B", "999 B", "1.0 kB", "1.0 kB", "1.1 kB", "9.9 kB", "12 kB", "999 kB", "1.0 MB", "123 MB"];
        assert_eq!(shown, expected);
        assert_eq!(in_words(u64::MAX), "18 EB");
    }
}
