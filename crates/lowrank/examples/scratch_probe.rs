use gambeson_checker::*;
use std::time::Instant;
fn main() {
    for n in [256usize, 384, 512, 768] {
        let mut entries = vec![1e-6; n * n];
        (0..n).for_each(|i| entries[i * n + i] = 1.0);
        let matrix = Quadratic::Dense { entries: &entries, dim: n };
        let mut v = vec![];
        let t0 = Instant::now();
        for _ in 0..24 {
            let form = PreparedForm::new(matrix, Domain::Cube, 1).unwrap();
            let t = Instant::now();
            std::hint::black_box(form.bound(&vec![2.0; n]).is_ok());
            v.push(t.elapsed().as_secs_f64() * 1e3);
        }
        let best = v.iter().copied().fold(f64::INFINITY, f64::min);
        println!(
            "{n}: total {:.1} best {best:.3} rate {:.2e}: {}",
            t0.elapsed().as_secs_f64() * 1e3,
            (n as f64).powi(3) / 6.0 / best * 1e3,
            v.iter().map(|x| format!("{x:.2}")).collect::<Vec<_>>().join(" ")
        );
    }
    for n in [2000usize, 4000] {
        let mut entries = vec![1e-6; n * n];
        (0..n).for_each(|i| entries[i * n + i] = 1.0);
        let matrix = Quadratic::Dense { entries: &entries, dim: n };
        for threads in [1, 2] {
            let form = PreparedForm::new(matrix, Domain::Cube, threads).unwrap();
            for _ in 0..3 {
                let t = Instant::now();
                std::hint::black_box(form.bound(&vec![2.0; n]).is_ok());
                println!(
                    "{n} t{threads}: {:.3} rate {:.2e}",
                    t.elapsed().as_secs_f64(),
                    (n as f64).powi(3) / 6.0 / t.elapsed().as_secs_f64()
                );
            }
        }
    }
}
