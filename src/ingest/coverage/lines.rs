//! Sets of lines and branches: small, and quick to fill in the order in which reports tell them.

/// Largest line number that is kept apart: 2³¹ − 1.
pub(super) const LAST_LINE: u64 = 0x7fff_ffff;
/// Lines of one [`Block`].
const BLOCK_LINES: u32 = 32;
/// Pieces that may wait at least until they are sorted in.
const WAITING: usize = 4096;
/// Pieces that are copied where they are taken, so that their room serves the next.
const COPIED: usize = 256;

/// Which lines of one file could run, and which of them did. Twelve bytes for every 32 lines among which there are any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileLines {
    /// Ascending, each place once.
    blocks: Vec<Block>,
}

impl FileLines {
    /// From lines in any order; a line that is given twice is covered if it is covered once. Numbers below 1 or above
    /// 2³¹ − 1 are left out.
    pub fn new(lines: impl IntoIterator<Item = (u64, bool)>) -> FileLines {
        let mut marks = Marks::default();
        for (line, covered) in lines {
            if (1..=LAST_LINE).contains(&line) {
                marks.push(line, covered);
            }
        }
        marks.finish()
    }

    /// Lines that ran.
    pub fn covered(&self) -> u64 {
        self.blocks.iter().map(|block| u64::from(block.covered.count_ones())).sum()
    }

    /// Lines that could run.
    pub fn total(&self) -> u64 {
        self.blocks.iter().map(|block| u64::from(block.known.count_ones())).sum()
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.blocks.len() * size_of::<Block>()
    }

    /// Line number and whether it ran, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u64, bool)> + '_ {
        self.blocks.iter().flat_map(|block| {
            let known = (0..BLOCK_LINES).filter(|at| block.known >> at & 1 == 1);
            known.map(|at| {
                (u64::from(block.place) * u64::from(BLOCK_LINES) + u64::from(at), block.covered >> at & 1 == 1)
            })
        })
    }

    /// The lines of either, covered where either covers them.
    #[must_use]
    pub fn unite(&self, other: &FileLines) -> FileLines {
        let mut pieces = Pieces { sorted: self.blocks.clone(), late: other.blocks.clone() };
        pieces.settle();
        FileLines { blocks: pieces.sorted }
    }
}

/// The branches of one line: the ways on which it can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineBranches {
    /// Line number, from 1; 0 where the report does not tell it.
    pub line: u32,
    /// How many of them were taken.
    pub taken: u32,
    /// How many there are.
    pub total: u32,
}

impl LineBranches {
    /// What is above 2³² − 1 stays there.
    pub(super) fn new(line: u64, taken: u64, total: u64) -> LineBranches {
        let [line, taken, total] = [line, taken, total].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        LineBranches { line, taken, total }
    }
}

/// The branches of one file, by line. Twelve bytes for every line that has any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileBranches {
    /// Ascending, each line once.
    lines: Vec<LineBranches>,
}

impl FileBranches {
    /// From branches in any order; those of a line add up.
    pub fn new(branches: impl IntoIterator<Item = LineBranches>) -> FileBranches {
        let mut pieces = Pieces::default();
        for branch in branches {
            pieces.push(branch);
        }
        FileBranches { lines: pieces.finish() }
    }

    /// Branches that were taken.
    pub fn taken(&self) -> u64 {
        self.lines.iter().map(|line| u64::from(line.taken)).sum()
    }

    /// Branches that could be taken.
    pub fn total(&self) -> u64 {
        self.lines.iter().map(|line| u64::from(line.total)).sum()
    }

    /// The lines that have branches, ascending.
    pub fn iter(&self) -> impl Iterator<Item = LineBranches> + '_ {
        self.lines.iter().copied()
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.lines.len() * size_of::<LineBranches>()
    }
}

/// The lines from `place` times 32 on, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    place: u32,
    known: u32,
    covered: u32,
}

/// What has a place in an order, and can be joined with another of the same place.
trait Piece: Copy {
    fn place(self) -> u64;
    fn join(&mut self, other: Self);
}

impl Piece for Block {
    fn place(self) -> u64 {
        u64::from(self.place)
    }

    fn join(&mut self, other: Block) {
        self.known |= other.known;
        self.covered |= other.covered;
    }
}

impl Piece for LineBranches {
    fn place(self) -> u64 {
        u64::from(self.line)
    }

    fn join(&mut self, other: LineBranches) {
        self.taken = self.taken.saturating_add(other.taken);
        self.total = self.total.saturating_add(other.total);
    }
}

/// Conditions of one line, where a report tells only how many it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Condition {
    /// 0 where the report does not tell it.
    pub line: u64,
    pub taken: u64,
    pub all: u64,
}

impl Piece for Condition {
    fn place(self) -> u64 {
        self.line
    }

    fn join(&mut self, other: Condition) {
        (self.taken, self.all) = (self.taken.max(other.taken), self.all.max(other.all));
    }
}

/// A number, twice, plus one if what it stands for was taken.
impl Piece for u64 {
    fn place(self) -> u64 {
        self >> 1
    }

    fn join(&mut self, other: u64) {
        *self |= other;
    }
}

/// Pieces while they are being collected. Those that come in order are in their place at once; others are sorted in now
/// and then, so that memory follows the pieces there are and not the records about them.
#[derive(Debug)]
struct Pieces<P> {
    /// Ascending, each place once.
    sorted: Vec<P>,
    late: Vec<P>,
}

impl<P> Default for Pieces<P> {
    fn default() -> Pieces<P> {
        Pieces { sorted: Vec::new(), late: Vec::new() }
    }
}

impl<P: Piece> Pieces<P> {
    /// Whether it takes more memory: not if it joins the one before it.
    #[inline]
    fn push(&mut self, piece: P) -> bool {
        match self.sorted.last_mut() {
            Some(last) if last.place() == piece.place() => {
                last.join(piece);
                false
            }
            Some(last) if last.place() > piece.place() => self.push_late(piece),
            _ => {
                self.sorted.push(piece);
                true
            }
        }
    }

    fn push_late(&mut self, piece: P) -> bool {
        if let Some(last) = self.late.last_mut().filter(|last| last.place() == piece.place()) {
            last.join(piece);
            return false;
        }
        self.late.push(piece);
        if self.late.len() > self.sorted.len() + WAITING {
            self.settle();
        }
        true
    }

    fn settle(&mut self) {
        if self.late.is_empty() {
            return;
        }
        self.sorted.append(&mut self.late);
        self.sorted.sort_unstable_by_key(|piece| piece.place());
        self.sorted.dedup_by(|later, first| {
            let is_same = later.place() == first.place();
            if is_same {
                first.join(*later);
            }
            is_same
        });
    }

    /// Small, for the time being. A few late ones wait on: sorting them in at every such time would cost as much as all of
    /// them together.
    fn shrink(&mut self) {
        if self.late.len() > self.sorted.len() / 8 {
            self.settle();
        }
        for pieces in [&mut self.sorted, &mut self.late] {
            // Some room is left to many, so that they are not moved each time that one more comes.
            let room = if pieces.len() < 64 { 0 } else { pieces.len() / 8 };
            if pieces.capacity() - pieces.len() > room {
                pieces.shrink_to(pieces.len() + room / 2);
            }
        }
    }

    /// All of them, in no more room than they take. The room of a few stays, and spares what comes next growing.
    fn take(&mut self) -> Pieces<P> {
        if self.len() > COPIED {
            let mut all = std::mem::take(self);
            all.shrink();
            return all;
        }
        self.settle();
        let all = Pieces { sorted: self.sorted.clone(), late: Vec::new() };
        self.sorted.clear();
        all
    }

    /// Those of another, too.
    fn join(&mut self, other: Pieces<P>) {
        for piece in other.finish() {
            self.push(piece);
        }
    }

    /// All of them in order.
    fn finish(mut self) -> Vec<P> {
        self.settle();
        self.sorted.shrink_to_fit();
        self.sorted
    }

    fn len(&self) -> usize {
        self.sorted.len() + self.late.len()
    }
}

/// Lines while they are being collected.
#[derive(Debug, Default)]
pub(super) struct Marks(Pieces<Block>);

impl Marks {
    /// A line from 1 to [`LAST_LINE`]; others are left out. Whether it takes more memory.
    #[inline]
    pub(super) fn push(&mut self, line: u64, covered: bool) -> bool {
        let Ok(line) = u32::try_from(line) else { return false };
        let known = 1 << (line % BLOCK_LINES);
        self.0.push(Block { place: line / BLOCK_LINES, known, covered: if covered { known } else { 0 } })
    }

    /// As [`Pieces::take`].
    pub(super) fn take(&mut self) -> Marks {
        Marks(self.0.take())
    }

    pub(super) fn finish(self) -> FileLines {
        FileLines { blocks: self.0.finish() }
    }

    /// The lines of either, covered where either covers them.
    pub(super) fn join(&mut self, other: Marks) {
        self.0.join(other.0);
    }

    /// Takes lines out.
    pub(super) fn remove(&mut self, lines: Marks) {
        self.0.settle();
        let lines = lines.0.finish();
        self.0.sorted.retain_mut(|block| {
            if let Ok(at) = lines.binary_search_by_key(&block.place, |other| other.place) {
                let out = lines.get(at).map_or(0, |other| other.known);
                (block.known, block.covered) = (block.known & !out, block.covered & !out);
            }
            block.known != 0
        });
    }

    /// Lines that ran, and all.
    pub(super) fn count(&mut self) -> [u64; 2] {
        self.0.settle();
        let count =
            |bits: fn(&Block) -> u32| self.0.sorted.iter().map(|block| u64::from(bits(block).count_ones())).sum();
        [count(|block| block.covered), count(|block| block.known)]
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.0.len() * size_of::<Block>()
    }
}

/// Branches or functions that are told by a number below 2⁶³, as nearly all are: eight bytes each.
#[derive(Debug, Default)]
pub(super) struct Numbered(Pieces<u64>);

impl Numbered {
    /// Line, block and branch as one such number; `None` where one is too large.
    pub(super) fn number(line: u64, block: u64, branch: u64) -> Option<u64> {
        (line <= LAST_LINE && block < 1 << 16 && branch < 1 << 16).then_some(line << 32 | block << 16 | branch)
    }

    pub(super) fn push(&mut self, number: u64, taken: bool) {
        self.0.push(number << 1 | u64::from(taken));
    }

    /// As [`Pieces::take`].
    pub(super) fn take(&mut self) -> Numbered {
        Numbered(self.0.take())
    }

    /// Those of either, taken where either takes them.
    pub(super) fn join(&mut self, other: Numbered) {
        self.0.join(other.0);
    }

    /// Taken, and all.
    pub(super) fn count(&mut self) -> [u64; 2] {
        self.0.settle();
        let all = &self.0.sorted;
        [all.iter().map(|branch| branch & 1).sum(), u64::try_from(all.len()).unwrap_or(u64::MAX)]
    }

    /// The line of each, and whether it was taken; ascending.
    pub(super) fn lines(self) -> impl Iterator<Item = (u64, bool)> {
        self.0.finish().into_iter().map(|branch| (branch >> 33, branch & 1 == 1))
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.0.len() * size_of::<u64>()
    }
}

/// Conditions while they are being collected: of several tellings of a line the larger numbers. 24 bytes each.
#[derive(Debug, Default)]
pub(super) struct Conditions(Pieces<Condition>);

impl Conditions {
    pub(super) fn push(&mut self, condition: Condition) {
        self.0.push(condition);
    }

    /// As [`Pieces::take`].
    pub(super) fn take(&mut self) -> Conditions {
        Conditions(self.0.take())
    }

    /// Those of either.
    pub(super) fn join(&mut self, other: Conditions) {
        self.0.join(other.0);
    }

    /// Each line's, ascending.
    pub(super) fn lines(&mut self) -> &mut [Condition] {
        self.0.settle();
        &mut self.0.sorted
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.0.len() * size_of::<Condition>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_kept_once_sorted_and_covered_if_ever_covered() {
        let lines =
            FileLines::new([(7, false), (3, true), (7, true), (3, false), (9, false), (0, true), (1 << 40, true)]);
        assert_eq!(lines.iter().collect::<Vec<_>>(), [(3, true), (7, true), (9, false)]);
        assert_eq!((lines.covered(), lines.total()), (2, 3));
        let other = FileLines::new([(99, true), (9, true), (1, false), (3, false)]);
        let both = lines.unite(&other);
        assert_eq!(both.iter().collect::<Vec<_>>(), [(1, false), (3, true), (7, true), (9, true), (99, true)]);
        assert_eq!(both, other.unite(&lines));
    }

    #[test]
    fn lines_in_any_order_are_the_same_lines() {
        let lines: Vec<(u64, bool)> = (1..20_000).map(|line| (line * 7, line % 3 == 0)).collect();
        let ascending = FileLines::new(lines.iter().copied());
        assert_eq!(ascending, FileLines::new(lines.iter().rev().copied()));
        assert!(ascending.iter().eq(lines.iter().copied()));
    }

    #[test]
    fn lines_are_taken_out_wherever_they_stand() {
        let marks = |lines: &[u64]| {
            let mut marks = Marks::default();
            for line in lines {
                marks.push(*line, line % 2 == 0);
            }
            marks
        };
        let mut all = marks(&[500, 3, 4, 1000, 5]);
        all.remove(marks(&[4, 3, 700, 1000]));
        assert_eq!(all.count(), [1, 2]);
        assert_eq!(all.finish(), FileLines::new([(5, false), (500, true)]));
    }

    #[test]
    fn memory_follows_the_lines_not_the_records() {
        let mut marks = Marks::default();
        for round in 0..10_000 {
            for line in 1..=100 {
                marks.push(line, round == 999 && line == 5);
            }
            assert!(marks.bytes() <= (WAITING + 200) * size_of::<Block>());
        }
        let lines = marks.finish();
        assert_eq!((lines.covered(), lines.total()), (1, 100));
    }

    #[test]
    fn the_last_line_number_fits() {
        let lines = FileLines::new([(LAST_LINE, true)]);
        assert_eq!(lines.iter().collect::<Vec<_>>(), [(LAST_LINE, true)]);
    }

    #[test]
    fn branches_of_a_line_add_up_in_any_order() {
        let branches = |told: &[(u64, u64, u64)]| {
            FileBranches::new(told.iter().map(|(line, taken, total)| LineBranches::new(*line, *taken, *total)))
        };
        let found = branches(&[(7, 1, 1), (3, 0, 1), (7, 0, 1), (3, 1, 2), (1 << 40, 9, 9)]);
        assert_eq!(found, branches(&[(3, 1, 3), (7, 1, 2), (u64::from(u32::MAX), 9, 9)]));
        assert_eq!((found.taken(), found.total(), found.iter().count()), (11, 14, 3));
    }

    #[test]
    fn branches_count_once_and_are_taken_if_ever_taken() {
        let mut branches = Numbered::default();
        for (line, block, branch, taken) in [(5, 0, 1, true), (5, 0, 0, false), (5, 0, 1, false), (4, 1, 0, false)] {
            branches.push(Numbered::number(line, block, branch).unwrap(), taken);
        }
        assert_eq!(branches.count(), [1, 3]);
        assert_eq!(branches.lines().collect::<Vec<_>>(), [(4, false), (5, false), (5, true)]);
        assert_eq!(Numbered::number(1, 1 << 16, 0), None);
        let last = Numbered::number(LAST_LINE, 0xffff, 0xffff).unwrap();
        assert_eq!(last.checked_shl(1).map(|twice| twice >> 1), Some(last));
    }
}
