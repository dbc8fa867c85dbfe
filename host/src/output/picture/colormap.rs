//! The colours of stress: from dark blue over green to light yellow, of evenly rising lightness.
//!
//! Equal steps of the value look equally large because they are equal steps of lightness in the OKLab space
//! (Ottosson 2020), and the picture survives a grey printer. Hue and chroma only help to tell the steps apart.

pub(in crate::output) const SIZE: usize = 256;

/// An sRGB colour.
pub(in crate::output) type Rgb = [u8; 3];

/// The colours of values, and the one of those beyond the upper end.
pub(in crate::output) struct Map {
    /// From low to high.
    pub colors: [Rgb; SIZE],
    /// Of what is cut off.
    pub above: Rgb,
}

/// A red that is none of the map's colours.
const ABOVE: Rgb = [215, 48, 39];
/// Rounding in the interpolation on a face puts no value above the end.
const END: f32 = 1.0 + 1e-4;

/// The map from low to high: lightness and hue go evenly, and the chroma stays inside what sRGB can show, least at the
/// blue-green in the middle. Clipped colours would draw a crease across the part where there is none.
pub(in crate::output) fn stress() -> Map {
    let colors = std::array::from_fn(|i| {
        let t = i as f64 / (SIZE - 1) as f64;
        oklch(0.36 + 0.58 * t, 0.102 + 0.22 * (t - 0.4).powi(2), 290.0 - 185.0 * t)
    });
    Map { colors, above: ABOVE }
}

/// A map that keeps the value itself, for drawings that are measured, not looked at.
pub(super) fn identity() -> Map {
    Map { colors: std::array::from_fn(|i| [i as u8; 3]), above: [u8::MAX; 3] }
}

/// The colour of `t` in 0..=1; values below take the end's.
pub(super) fn pick(map: &Map, t: f32) -> Rgb {
    if t > END {
        return map.above;
    }
    map.colors[(t * (SIZE - 1) as f32 + 0.5).clamp(0.0, (SIZE - 1) as f32) as usize]
}

/// OKLab in polar form to sRGB, clipped to what sRGB can show.
fn oklch(lightness: f64, chroma: f64, hue: f64) -> Rgb {
    let (a, b) = (chroma * hue.to_radians().cos(), chroma * hue.to_radians().sin());
    let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
    let linear = [
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701_0 * s,
    ];
    linear.map(|c| {
        let c = c.clamp(0.0, 1.0);
        let encoded = if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
        (encoded * 255.0).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_colours_come_out() {
        assert_eq!(oklch(1.0, 0.0, 0.0), [255, 255, 255]);
        assert_eq!(oklch(0.0, 0.0, 0.0), [0, 0, 0]);
        // sRGB red, from Ottosson's table.
        assert_eq!(oklch(0.627_955, 0.257_683, 29.233_9), [255, 0, 0]);
    }

    #[test]
    fn luminance_rises_all_along() {
        let luminance = |c: &Rgb| 0.2126 * f64::from(c[0]) + 0.7152 * f64::from(c[1]) + 0.0722 * f64::from(c[2]);
        let map = stress().colors;
        assert!(map.windows(2).all(|pair| luminance(&pair[0]) <= luminance(&pair[1]) + 0.6));
        assert!(luminance(&map[SIZE - 1]) - luminance(&map[0]) > 150.0);
    }

    #[test]
    fn values_below_take_the_end_and_those_above_their_own() {
        let map = Map { above: [7; 3], ..identity() };
        assert_eq!(
            [-3.0, 0.0, 0.5, 1.0, 1.00001, 1.1, f32::NAN].map(|t| pick(&map, t)[0]),
            [0, 0, 128, 255, 255, 7, 0]
        );
        assert!(!stress().colors.contains(&stress().above));
    }
}
