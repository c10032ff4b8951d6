//! An order of elimination with little fill: minimum degree on the quotient graph.
//!
//! **Problem.** Order the rows of a sparse symmetric matrix so that its Cholesky factor has few entries.
//! **Reference.** Amestoy, Davis and Duff, *An approximate minimum degree ordering algorithm*, SIAM J. Matrix Anal. Appl.
//! 17 (1996): what elimination fills in is kept as cliques ("elements"), each once, and degrees are bounded from above by
//! sums over these.
//! **Guarantee.** None is needed: any order proves the same, at another price. The number of entries of each column comes
//! out exactly. **Deviations.** Rows of one entry are peeled off first, so that stars and trees cost nothing; no search for
//! indistinguishable rows; where what is left has become dense, its rows follow in any order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Rows in the order of elimination, and what that costs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ordering {
    /// All rows.
    pub(crate) order: Vec<u32>,
    /// Entries below the diagonal in the columns of the first rows; the others are a dense block.
    pub(crate) counts: Vec<u32>,
}

/// A row is nearly full where it has this part of all that are left.
const DENSE: f64 = 0.6;

/// Orders the rows of the graph whose edges are listed for both of their ends. `stop` ends the search: what is left counts
/// as dense.
pub(crate) fn minimum_degree(neighbours: &[Vec<u32>], stop: &dyn Fn() -> bool) -> Ordering {
    let n = neighbours.len();
    let mut found = Ordering::default();
    let mut graph = Quotient::new(neighbours);
    graph.peel(&mut found);
    graph.collect();
    let mut queue: BinaryHeap<Reverse<(u32, u32)>> =
        (0..n).filter(|&i| graph.alive[i]).map(|i| Reverse((graph.degree[i], index(i)))).collect();
    let mut since = 0;
    while let Some(Reverse((degree, pivot))) = queue.pop() {
        if !graph.alive[pivot as usize] || degree != graph.degree[pivot as usize] {
            continue; // outdated: the row was queued again
        }
        let left = n - found.order.len();
        since += 1;
        if f64::from(degree) > DENSE * left as f64 || (since % 256 == 0 && stop()) {
            break;
        }
        found.order.push(pivot);
        found.counts.push(graph.eliminate(pivot as usize, &mut queue));
    }
    found.order.extend((0..n).filter(|&i| graph.alive[i]).map(index));
    found
}

/// Rows that are left, and the cliques that those before them made.
struct Quotient<'a> {
    neighbours: &'a [Vec<u32>],
    /// Rows beside a row that no clique covers.
    beside: Vec<Vec<u32>>,
    /// Cliques that a row is in.
    cliques: Vec<Vec<u32>>,
    /// Rows of a clique, by the row that made it; empty where it is part of another.
    members: Vec<Vec<u32>>,
    alive: Vec<bool>,
    degree: Vec<u32>,
    mark: Vec<u32>,
    tag: u32,
    /// |clique \ new one| + tag, for the cliques of its rows.
    outside: Vec<u64>,
    round: u64,
}

impl<'a> Quotient<'a> {
    fn new(neighbours: &'a [Vec<u32>]) -> Self {
        let n = neighbours.len();
        Self {
            neighbours,
            beside: Vec::new(),
            cliques: vec![Vec::new(); n],
            members: vec![Vec::new(); n],
            alive: vec![true; n],
            degree: neighbours.iter().map(|row| index(row.len())).collect(),
            mark: vec![0; n],
            tag: 0,
            outside: vec![0; n],
            round: 0,
        }
    }

    /// Eliminates rows with at most one neighbour, one after the other: they fill in nothing.
    fn peel(&mut self, found: &mut Ordering) {
        let mut ready: Vec<u32> = (0..self.alive.len()).filter(|&i| self.degree[i] <= 1).map(index).collect();
        while let Some(row) = ready.pop() {
            let row = row as usize;
            if !std::mem::replace(&mut self.alive[row], false) {
                continue;
            }
            found.order.push(index(row));
            found.counts.push(self.degree[row]);
            for &other in self.neighbours[row].iter().filter(|&&other| self.alive[other as usize]) {
                self.degree[other as usize] -= 1;
                if self.degree[other as usize] <= 1 {
                    ready.push(other);
                }
            }
        }
    }

    /// The graph of the rows that are left.
    fn collect(&mut self) {
        let left = |row: &Vec<u32>| row.iter().copied().filter(|&other| self.alive[other as usize]).collect();
        let empty = |i: usize| if self.alive[i] { left(&self.neighbours[i]) } else { Vec::new() };
        self.beside = (0..self.alive.len()).map(empty).collect();
    }

    /// Makes a clique of all that a row sees, and returns its size.
    fn eliminate(&mut self, pivot: usize, queue: &mut BinaryHeap<Reverse<(u32, u32)>>) -> u32 {
        self.alive[pivot] = false;
        self.tag += 1;
        self.mark[pivot] = self.tag;
        let mut clique = Vec::new();
        let parts = std::mem::take(&mut self.cliques[pivot]);
        let own = std::mem::take(&mut self.beside[pivot]);
        let seen = parts.iter().flat_map(|&part| std::mem::take(&mut self.members[part as usize]));
        for row in own.into_iter().chain(seen.collect::<Vec<u32>>()) {
            if self.alive[row as usize] && self.mark[row as usize] != self.tag {
                self.mark[row as usize] = self.tag;
                clique.push(row);
            }
        }
        // How much of every other clique lies outside the new one.
        self.round += 1 + self.alive.len() as u64;
        for &row in &clique {
            let members = &self.members;
            self.cliques[row as usize].retain(|&part| !members[part as usize].is_empty());
            for &part in &self.cliques[row as usize] {
                let outside = &mut self.outside[part as usize];
                if *outside < self.round {
                    *outside = self.round + members[part as usize].len() as u64;
                }
                *outside -= 1;
            }
        }
        let size = clique.len();
        for &row in &clique {
            let row = row as usize;
            let (mark, tag, alive) = (&self.mark, self.tag, &self.alive);
            // What the new clique covers need not be kept beside it.
            self.beside[row].retain(|&other| alive[other as usize] && mark[other as usize] != tag);
            let (outside, round) = (&self.outside, self.round);
            let members = &mut self.members;
            let mut degree = self.beside[row].len() + size - 1;
            self.cliques[row].retain(|&part| {
                let rest =
                    usize::try_from(outside[part as usize].saturating_sub(round)).unwrap_or(usize::MAX);
                if rest == 0 {
                    members[part as usize] = Vec::new(); // all of it lies in the new one
                }
                degree = degree.saturating_add(rest);
                rest > 0
            });
            self.cliques[row].push(index(pivot));
            self.degree[row] = index(degree);
            queue.push(Reverse((self.degree[row], index(row))));
        }
        self.members[pivot] = clique;
        index(size)
    }
}

/// Rows are counted in 32 bits.
fn index(i: usize) -> u32 {
    u32::try_from(i).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::collections::BTreeSet;

    /// Entries of each column by plain elimination.
    fn counted(neighbours: &[Vec<u32>], order: &[u32]) -> Vec<u32> {
        let mut graph: Vec<BTreeSet<u32>> =
            neighbours.iter().map(|row| row.iter().copied().collect()).collect();
        let count = |&pivot: &u32| {
            let row = std::mem::take(&mut graph[pivot as usize]);
            for &i in &row {
                graph[i as usize].remove(&pivot);
                let others: Vec<u32> = row.iter().copied().filter(|&j| j != i).collect();
                graph[i as usize].extend(others);
            }
            index(row.len())
        };
        order.iter().map(count).collect()
    }

    #[test]
    fn counts_are_those_of_elimination() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for edges in [30, 60, 120, 200] {
            let n = 60;
            let mut graph = vec![BTreeSet::new(); n];
            for _ in 0..edges {
                let (i, j) = (rng.random_range(0..60_u32), rng.random_range(0..60_u32));
                if i != j {
                    graph[i as usize].insert(j);
                    graph[j as usize].insert(i);
                }
            }
            let neighbours: Vec<Vec<u32>> = graph.iter().map(|row| row.iter().copied().collect()).collect();
            let found = minimum_degree(&neighbours, &|| false);
            let all: BTreeSet<u32> = found.order.iter().copied().collect();
            assert_eq!((all.len(), found.order.len()), (n, n));
            let exact = counted(&neighbours, &found.order);
            assert_eq!(found.counts[..], exact[..found.counts.len()], "{edges} edges");
            let plain: Vec<u32> = (0..60).collect();
            let sum = |counts: &[u32]| counts.iter().sum::<u32>();
            assert!(sum(&exact) <= sum(&counted(&neighbours, &plain)), "{edges} edges");
        }
    }

    #[test]
    fn stars_and_trees_fill_in_nothing() {
        let star: Vec<Vec<u32>> =
            (0..1000).map(|i| if i == 0 { (1..1000).collect() } else { vec![0] }).collect();
        let found = minimum_degree(&star, &|| false);
        assert_eq!(found.counts.iter().sum::<u32>(), 999);
        assert_eq!(found.counts.len(), 1000);
    }
}
