//! Binary trees on `Box`: no collector, every node freed by name.

use crate::program::Trees;

/// Two references, 16 bytes.
#[derive(Debug)]
struct Node {
    left: Option<Box<Node>>,
    right: Option<Box<Node>>,
}

/// Trees of boxes.
#[derive(Debug, Default)]
pub struct Boxes {
    kept: Option<Box<Node>>,
}

impl Trees for Boxes {
    fn build_and_count(&mut self, depth: u32) -> Result<u64, String> {
        Ok(count(&build(depth)))
    }

    fn build_and_keep(&mut self, depth: u32) -> Result<(), String> {
        self.kept = Some(build(depth));
        Ok(())
    }

    fn count_kept(&mut self) -> u64 {
        self.kept.as_deref().map_or(0, count)
    }
}

fn build(depth: u32) -> Box<Node> {
    let child = || (depth > 0).then(|| build(depth - 1));
    let (left, right) = (child(), child());
    Box::new(Node { left, right })
}

fn count(node: &Node) -> u64 {
    let of = |child: &Option<Box<Node>>| child.as_deref().map_or(0, count);
    1 + of(&node.left) + of(&node.right)
}
