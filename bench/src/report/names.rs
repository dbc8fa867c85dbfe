//! How devices, problems, precisions and formats are called.

/// The format that `auto` stands for.
pub const OURS: &str = "ebw";
/// Precisions, the one that tables begin with first.
pub const PRECISIONS: [&str; 2] = ["f64", "f32"];
/// Elements in the order of tables.
pub const ELEMENTS: [&str; 8] = ["tet4", "hex8", "tet10", "hex20", "tri3", "quad4", "tri6", "quad8"];

/// `tet4, n = 40` for a cube or square, else the problem's name.
pub fn title(problem: &str) -> String {
    match problem.split(' ').collect::<Vec<_>>()[..] {
        [element, _, cells] => format!("{element}, n = {cells}"),
        _ => problem.into(),
    }
}

/// Whether a problem is a mesh from a file.
pub fn is_file(problem: &str) -> bool {
    !problem.contains(' ')
}

/// Whether a device is a GPU.
pub fn is_gpu(device: &str) -> bool {
    !device.starts_with("cpu") && !device.starts_with("emulat")
}

/// The threads of a processor, by its name.
pub fn threads(device: &str) -> Option<usize> {
    device.chars().filter(char::is_ascii_digit).collect::<String>().parse().ok()
}
