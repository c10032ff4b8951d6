//! Linear and pooling layers: what a layer brings is computed chunk by chunk, then added to what others brought.

use super::sum_of;
use crate::net::kernel::elementwise::add;
use crate::net::layer::convolution::first_of;
use crate::net::pass::{LayerWeights, Pass, Wanted, linear_plan};
use rayon::prelude::*;

impl Pass {
    pub(super) fn back_multiply(&mut self, layer: usize, begun: &mut [bool], wanted: Wanted) {
        let plan = linear_plan(&self.architecture, &self.plan, layer);
        let (features, outputs, chunk) = (plan.features(), plan.outputs_stored(), self.plan.chunk);
        let images = self.images;
        let mut dy = self.gradients.take(layer + 1);
        plan.mask(&self.kept[layer + 1][..images * outputs], &mut dy[..images * outputs]);
        let input = self.architecture.layers[layer].input;
        let count = self.chunks();
        let length = (features + 1) * outputs;
        if wanted.weights {
            let mut partial = std::mem::take(&mut self.partial);
            let x = &self.kept[input];
            let isa = self.isa;
            let (x, dy) = (&x[..images * features], &dy[..images * outputs]);
            let total = if plan.is_wide() {
                let total = first_of(&mut partial, length);
                plan.by_weights_wide(isa, x, dy, total);
                &*total
            } else {
                first_of(&mut partial, count * length)
                    .par_chunks_mut(length)
                    .zip(dy.par_chunks(chunk * outputs))
                    .zip(x.par_chunks(chunk * features))
                    .for_each(|((dw, dy), x)| plan.by_weights(isa, x, dy, dw));
                sum_of(&mut partial, count, length)
            };
            let place = self.places.layers[layer].clone();
            let mut bias = vec![0.0; place.bias.len()];
            plan.unload(total, &mut self.parameter_gradient[place.weight], &mut bias);
            self.parameter_gradient[place.bias].copy_from_slice(&bias);
            self.partial = partial;
        }
        if input > 0 || wanted.input {
            self.back_by_chunks(layer, begun, wanted, |this, at, own| {
                let LayerWeights::Linear(weights) = &this.weights[layer] else {
                    unreachable!("of a linear layer")
                };
                let count = own.len() / plan.gradient_features();
                plan.by_data(this.isa, weights, &dy[at * chunk * outputs..][..count * outputs], own);
            });
        }
        self.gradients.put(layer + 1, dy);
    }

    pub(super) fn back_pool(&mut self, layer: usize, begun: &mut [bool], wanted: Wanted) {
        let input = self.architecture.layers[layer].input;
        if input == 0 && !wanted.input {
            return;
        }
        let pool = self.pool(layer).expect("a pooling layer");
        let from = pool.from.height * pool.from.width * pool.stored;
        let to = pool.to.height * pool.to.width * pool.stored;
        let chunk = self.plan.chunk;
        let dy = self.gradients.take(layer + 1);
        self.back_by_chunks(layer, begun, wanted, |this, at, own| {
            own.fill(0.0);
            for (i, dx) in own.chunks_exact_mut(from).enumerate() {
                let image = at * chunk + i;
                pool.backward(
                    this.isa,
                    &this.kept[input][image * from..][..from],
                    &dy[image * to..][..to],
                    dx,
                );
            }
        });
        self.gradients.put(layer + 1, dy);
    }

    /// The gradient at the input of a layer that is no convolution: `work` computes what it brings, chunk by chunk.
    fn back_by_chunks(
        &mut self,
        layer: usize,
        begun: &mut [bool],
        wanted: Wanted,
        work: impl Fn(&Self, usize, &mut [f32]) + Sync,
    ) {
        let input = self.architecture.layers[layer].input;
        let (completes, adds) = (self.completes(input, layer), begun[input]);
        let mut dx = self.gradients.take(input);
        let mut sums = std::mem::take(&mut self.sums);
        let planned = &self.plan.values[input];
        let each = planned.shape.height * planned.shape.width * planned.gradient;
        let (chunk, width) = (self.plan.chunk, 2 * planned.gradient);
        sums.clear();
        sums.resize(self.chunks() * width, 0.0);
        let this = &*self;
        dx[..this.images * each]
            .par_chunks_mut(chunk * each)
            .zip(sums.par_chunks_mut(width))
            .enumerate()
            .for_each(|(at, (dx, sums))| {
                if adds {
                    this.with_scratch(|scratch| {
                        let own = first_of(&mut scratch.row, dx.len());
                        work(this, at, own);
                        add(this.isa, own, dx);
                    });
                } else {
                    work(this, at, dx);
                }
                if completes {
                    for (i, dx) in dx.chunks_exact_mut(each).enumerate() {
                        this.complete_image(input, at * chunk + i, dx, sums);
                    }
                }
            });
        self.sums = sums;
        self.gradients.put(input, dx);
        begun[input] = true;
        if completes {
            self.completed(input, wanted);
        }
    }
}
