//! An RGB image, and the few things drawn on it flat: rectangles, lines, rings, text.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

use super::colormap::Rgb;

/// A type size with its weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Font {
    Plain,
    Title,
}

impl Font {
    fn raster(self) -> (FontWeight, RasterHeight) {
        match self {
            Font::Plain => (FontWeight::Regular, RasterHeight::Size20),
            Font::Title => (FontWeight::Bold, RasterHeight::Size24),
        }
    }

    /// Height of a line in pixels.
    pub(super) fn height(self) -> f32 {
        self.raster().1.val() as f32
    }

    /// Width of `text` in pixels.
    pub(super) fn width(self, text: &str) -> f32 {
        let (weight, height) = self.raster();
        (get_raster_width(weight, height) * text.chars().count()) as f32
    }
}

/// An image, `[height][width]` of sRGB, from the top left.
pub(super) struct Canvas {
    pub width: usize,
    pub height: usize,
    pub pixels: Vec<Rgb>,
}

impl Canvas {
    pub(super) fn png(&self) -> std::io::Result<Vec<u8>> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        writer.finish()?;
        Ok(file)
    }

    /// Mixes `color` into a pixel; outside the image nothing happens.
    pub(super) fn blend(&mut self, x: i64, y: i64, color: Rgb, share: f32) {
        if (0..self.width as i64).contains(&x) && (0..self.height as i64).contains(&y) {
            let pixel = &mut self.pixels[y as usize * self.width + x as usize];
            *pixel = mix(*pixel, color, share);
        }
    }

    /// Fills the rectangle from `(x, y)` of size `(w, h)`.
    pub(super) fn fill(&mut self, [x, y]: [f32; 2], [w, h]: [f32; 2], color: Rgb, share: f32) {
        for row in y as i64..(y + h) as i64 {
            (x as i64..(x + w) as i64).for_each(|column| self.blend(column, row, color, share));
        }
    }

    /// A smooth line of some width from `a` to `b`.
    pub(super) fn line(&mut self, a: [f32; 2], b: [f32; 2], width: f32, color: Rgb) {
        let d = [b[0] - a[0], b[1] - a[1]];
        let length2 = (d[0] * d[0] + d[1] * d[1]).max(1e-6);
        let distance = move |x: f32, y: f32| {
            let along = (((x - a[0]) * d[0] + (y - a[1]) * d[1]) / length2).clamp(0.0, 1.0);
            (x - a[0] - along * d[0]).hypot(y - a[1] - along * d[1])
        };
        self.stroke([a[0].min(b[0]), a[1].min(b[1])], [a[0].max(b[0]), a[1].max(b[1])], width, color, distance);
    }

    /// A smooth circle line around `c`.
    pub(super) fn ring(&mut self, c: [f32; 2], radius: f32, width: f32, color: Rgb) {
        let distance = move |x: f32, y: f32| ((x - c[0]).hypot(y - c[1]) - radius).abs();
        self.stroke([c[0] - radius, c[1] - radius], [c[0] + radius, c[1] + radius], width, color, distance);
    }

    /// Every pixel within half of `width` from a curve that lies between the corners `low` and `high`.
    fn stroke(&mut self, low: [f32; 2], high: [f32; 2], width: f32, color: Rgb, distance: impl Fn(f32, f32) -> f32) {
        let margin = width / 2.0 + 1.0;
        for y in (low[1] - margin) as i64..=(high[1] + margin) as i64 {
            for x in (low[0] - margin) as i64..=(high[0] + margin) as i64 {
                let inside = width / 2.0 + 0.5 - distance(x as f32 + 0.5, y as f32 + 0.5);
                self.blend(x, y, color, inside.clamp(0.0, 1.0));
            }
        }
    }

    /// Writes `text` with its top left corner at `(x, y)`; characters the font lacks become `?`.
    pub(super) fn text(&mut self, font: Font, corner: [f32; 2], text: &str, color: Rgb) {
        self.magnified(font, corner, text, color, 1);
    }

    /// Writes `text` with every pixel a square of `by` pixels.
    pub(super) fn magnified(&mut self, font: Font, [x, y]: [f32; 2], text: &str, color: Rgb, by: usize) {
        let (weight, height) = font.raster();
        let advance = get_raster_width(weight, height);
        for (i, c) in text.chars().enumerate() {
            let glyph = get_raster(c, weight, height).or_else(|| get_raster('?', weight, height));
            for (row, line) in glyph.iter().flat_map(|glyph| glyph.raster().iter().enumerate()) {
                for (column, &share) in line.iter().enumerate() {
                    for k in 0..by * by {
                        let right = (by * (i * advance + column) + k % by) as i64;
                        let down = (by * row + k / by) as i64;
                        self.blend(x as i64 + right, y as i64 + down, color, f32::from(share) / 255.0);
                    }
                }
            }
        }
    }
}

/// `share` of `b` in `a`.
pub(super) fn mix(a: Rgb, b: Rgb, share: f32) -> Rgb {
    std::array::from_fn(|i| (f32::from(a[i]) + share * (f32::from(b[i]) - f32::from(a[i])) + 0.5) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blank(width: usize, height: usize) -> Canvas {
        Canvas { width, height, pixels: vec![[255; 3]; width * height] }
    }

    #[test]
    fn every_printable_character_has_its_own_shape() {
        let mut shapes: Vec<Vec<Rgb>> = Vec::new();
        for c in ' '..='~' {
            let mut canvas = blank(24, 24);
            canvas.text(Font::Plain, [0.0, 0.0], &c.to_string(), [0; 3]);
            let inked = canvas.pixels.iter().filter(|pixel| pixel[0] < 200).count();
            assert!(c == ' ' || inked > 3, "{c} is blank");
            assert!(!shapes.contains(&canvas.pixels), "{c} looks like another");
            shapes.push(canvas.pixels);
        }
    }

    #[test]
    fn drawing_beyond_the_edges_is_clipped() {
        let mut canvas = blank(10, 10);
        canvas.text(Font::Title, [-5.0, -5.0], "clipped \u{4e2d}", [0; 3]);
        canvas.line([-20.0, 5.0], [30.0, 5.0], 2.0, [0; 3]);
        canvas.fill([8.0, 8.0], [9.0, 9.0], [0; 3], 1.0);
        assert_eq!(canvas.pixels.len(), 100);
        assert!(canvas.pixels[5 * 10] == [0; 3] && canvas.pixels[99] == [0; 3]);
    }

    #[test]
    fn a_line_is_as_wide_as_asked() {
        let mut canvas = blank(40, 40);
        canvas.line([20.0, 5.0], [20.0, 35.0], 4.0, [0; 3]);
        let row: f32 = (0..40).map(|x| 1.0 - f32::from(canvas.pixels[20 * 40 + x][0]) / 255.0).sum();
        assert!((row - 4.0).abs() < 0.1, "{row}");
    }
}
