//! Tiles of the output: where they are, how many go together, and what is done to them in the end.

/// Places of a transformed tile.
pub(crate) const PLACES: usize = 36;
/// Numbers between two planes beyond their length.
pub(super) const SKEW: usize = 16;
/// Tiles that are transformed and multiplied together.
pub(crate) const BATCH: usize = 32;

/// The tiles of some images: `down` × `across` for each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tiles {
    pub(crate) images: usize,
    /// Rows of an image of the output.
    pub(crate) height: usize,
    /// Columns of an image of the output.
    pub(crate) width: usize,
}

impl Tiles {
    pub(crate) fn down(self) -> usize {
        self.height.div_ceil(4)
    }

    pub(crate) fn across(self) -> usize {
        self.width.div_ceil(4)
    }

    /// Of one image.
    pub(crate) fn per_image(self) -> usize {
        self.down() * self.across()
    }

    /// Image, row and column of a tile.
    #[inline(always)]
    pub(super) fn place(self, tile: usize) -> (usize, usize, usize) {
        let (per_image, across) = (self.per_image(), self.across());
        (tile / per_image, tile % per_image / across, tile % across)
    }

    /// The tile after.
    #[inline(always)]
    pub(super) fn after(self, (image, row, column): (usize, usize, usize)) -> (usize, usize, usize) {
        if column + 1 < self.across() {
            (image, row, column + 1)
        } else if row + 1 < self.down() {
            (image, row + 1, 0)
        } else {
            (image + 1, 0, 0)
        }
    }

    /// Rows and columns of a tile that are within the image.
    #[inline(always)]
    pub(super) fn inside(self, (_, row, column): (usize, usize, usize)) -> (usize, usize) {
        ((self.height - 4 * row).min(4), (self.width - 4 * column).min(4))
    }

    /// Panics unless the tiles before `end` are within the output, and all that is added to them is there.
    #[inline(always)]
    pub(super) fn assert_output(
        self,
        y: &[f32],
        layout: Layout,
        channels: usize,
        end: usize,
        epilogue: Epilogue<'_>,
    ) {
        let last = self.place(end - 1).0;
        let reach =
            layout.first + last * layout.image + (self.height - 1) * layout.row + self.width * channels;
        assert!(reach <= y.len(), "tiles beyond the image");
        assert!(epilogue.bias.is_none_or(|bias| bias.len() >= channels), "a bias per channel");
        assert!(
            epilogue.shortcut.is_none_or(|shortcut| reach <= shortcut.len()),
            "a shortcut of the output's size"
        );
    }
}

/// Where images lie: pixel (row, column) of image i at `first + i·image + row·row + column·channels`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) first: usize,
    pub(crate) image: usize,
    pub(crate) row: usize,
}

impl Layout {
    /// Where a tile begins, with tiles `step` rows and columns apart.
    #[inline(always)]
    pub(super) fn tile(
        self,
        (image, row, column): (usize, usize, usize),
        step: usize,
        channels: usize,
    ) -> usize {
        self.first + image * self.image + step * row * self.row + step * column * channels
    }
}

/// What is done to each number of the output before it is stored.
#[derive(Clone, Copy, Default)]
pub(crate) struct Epilogue<'a> {
    /// Added, one per channel.
    pub(crate) bias: Option<&'a [f32]>,
    /// Added, laid out like the output.
    pub(crate) shortcut: Option<&'a [f32]>,
    /// max(·, 0) after that.
    pub(crate) relu: bool,
}

/// A convolution by tiles: numbers with where they lie and their channels.
pub(crate) struct TiledConvolution<'a> {
    pub(crate) tiles: Tiles,
    /// Padded images.
    pub(crate) x: (&'a [f32], Layout, usize),
    /// Transformed weights.
    pub(crate) u: &'a [f32],
    pub(crate) y: (&'a mut [f32], Layout, usize),
    pub(crate) epilogue: Epilogue<'a>,
}

/// Nearly equal batches of at most [`BATCH`] tiles.
pub(super) fn batches(tiles: Tiles) -> impl Iterator<Item = (usize, usize)> {
    let total = tiles.images * tiles.per_image();
    let batches = total.div_ceil(BATCH);
    (0..batches).map(move |b| {
        let (first, end) = (b * total / batches, (b + 1) * total / batches);
        (first, end - first)
    })
}
