//! Numbers as people read them.

/// 1234567 as `1,234,567`.
#[must_use]
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Things, counted: `1 sentence`, `2,000 sentences`.
#[must_use]
pub fn counted(n: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// A number of bytes with a unit: `812 B`, `14.2 MB`.
#[must_use]
pub fn bytes(n: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let mut x = n as f64;
    if n < 1000 {
        return format!("{n} B");
    }
    for unit in ["kB", "MB", "GB"] {
        x /= 1000.0;
        if x < 1000.0 {
            return if x < 99.95 { format!("{x:.1} {unit}") } else { format!("{x:.0} {unit}") };
        }
    }
    format!("{:.1} TB", x / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_have_units() {
        assert_eq!(
            [0, 12, 999, 1000, 211_727, 1_234_567].map(grouped),
            ["0", "12", "999", "1,000", "211,727", "1,234,567"]
        );
        assert_eq!(
            [0, 999, 1000, 14_200_000, 149_960_000].map(bytes),
            ["0 B", "999 B", "1.0 kB", "14.2 MB", "150 MB"]
        );
        assert_eq!([counted(1, "label"), counted(2000, "label")], ["1 label", "2,000 labels"]);
        assert_eq!(bytes(5_000_000_000_000), "5.0 TB");
    }
}
