//! A table that can be text or part of a page: heads, cells, alignment.
//!
//! As text, names stand left and numbers right, each column as wide as its widest cell but not narrower than it
//! was declared, so that tables under each other line up.

use crate::visible::cell;

/// Cells under heads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// What stands over the cells, and how they stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) head: String,
    pub(crate) left: bool,
    least: usize,
}

impl Table {
    /// A table without columns.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A further column of names.
    #[must_use]
    pub fn names(self, head: &str, least: usize) -> Self {
        self.column(head, least, true)
    }

    /// A further column of numbers.
    #[must_use]
    pub fn numbers(self, head: &str, least: usize) -> Self {
        self.column(head, least, false)
    }

    fn column(mut self, head: &str, least: usize, left: bool) -> Self {
        self.columns.push(Column { head: cell(head.to_owned()), left, least });
        self
    }

    /// A further row, a cell for each column: long names are cut, and characters that a terminal would obey are
    /// [visible](crate::visible).
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(cell).collect());
    }

    /// As text, a line a row.
    #[must_use]
    pub fn text(&self) -> String {
        let length = |text: &str| text.chars().count();
        let widths: Vec<usize> = self
            .columns
            .iter()
            .enumerate()
            .map(|(i, column)| {
                let cells = self.rows.iter().filter_map(|row| row.get(i)).map(|cell| length(cell)).max();
                // A number keeps a blank before it; a head may touch, since names mostly have none.
                let cells = cells.unwrap_or(0) + usize::from(!column.left);
                cells.max(column.least).max(length(&column.head))
            })
            .collect();
        let mut out = String::new();
        let heads: Vec<String> = self.columns.iter().map(|column| column.head.clone()).collect();
        for row in std::iter::once(&heads).chain(&self.rows) {
            let mut line = " ".to_owned();
            for ((i, column), (&width, cell)) in self.columns.iter().enumerate().zip(widths.iter().zip(row)) {
                let gap = if column.left && i > 0 { "  " } else { "" };
                // Not by the width of a format, which has 16 bits.
                let blanks = " ".repeat(width - length(cell).min(width));
                match column.left {
                    true => line.extend([gap, cell, &blanks]),
                    false => line.extend([blanks.as_str(), cell]),
                }
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_left_and_numbers_right() {
        let mut table = Table::new().names("", 4).numbers("n", 5).names("where", 3);
        table.row(["a", "1", "x"].map(String::from));
        table.row(["längere", "1,000,000", ""].map(String::from));
        assert_eq!(table.text(), "                 n  where\n a               1  x\n längere 1,000,000\n");
        table.row(["b".to_owned(), "x".repeat(70_000), "c".repeat(70_000)]);
        assert_eq!(table.text().lines().last().map(str::len), Some(1 + 7 + 204 + 2 + 203));
    }
}
