//! Trees of nodes of two references, over any space.

use surefit_gc::{Client, Collector, Edges, Object, Scanned, Space};

/// The objects of a scene.
pub(crate) const OBJECTS: u64 = 10_000;

/// A client with nodes of two references and one root.
pub(crate) struct Trees(Option<Object>);

impl<S: Space> Client<S> for Trees {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        self.0.into_iter().for_each(|root| edges.report(root));
    }

    #[inline]
    fn scan(&mut self, node: &Scanned<'_, S>, _from: u32, edges: &mut Edges<'_>) {
        for word in 0..2 {
            if let Some(child) = node.reference(word) {
                edges.report(child);
            }
        }
    }
}

/// A collector and its client.
pub(crate) struct Scene<S: 'static> {
    pub(crate) heap: Collector<'static, S>,
    pub(crate) nodes: Vec<Object>,
    pub(crate) trees: Trees,
}

impl<S: Space> Scene<S> {
    /// An empty heap: every page was written and every list used before anything is counted.
    pub(crate) fn over(heap: Collector<'static, S>) -> Self {
        let mut scene = Self {
            heap,
            nodes: Vec::new(),
            trees: Trees(None),
        };
        scene.garbage();
        scene.collect();
        scene
    }

    /// Ten thousand nodes that nothing leads to.
    pub(crate) fn garbage(&mut self) {
        for _ in 0..OBJECTS {
            self.node();
        }
    }

    /// Collects: either all objects die, or none.
    pub(crate) fn collect(&mut self) {
        let swept = self.heap.collect(&mut self.trees).swept;
        assert!(swept.live_objects == OBJECTS || swept.freed_objects == OBJECTS);
    }

    /// A heap-shaped tree: node n has the nodes 2n + 1 and 2n + 2.
    pub(crate) fn tree(mut self) -> Self {
        self.nodes = (0..OBJECTS).map(|_| self.node()).collect();
        for (nth, &child) in self.nodes.iter().enumerate().skip(1) {
            let (parent, slot) = (self.nodes[(nth - 1) / 2], (nth - 1) % 2);
            self.heap.store(parent, slot as u32, Some(child));
        }
        self.trees.0 = Some(self.nodes[0]);
        self
    }

    /// Ten thousand dead objects, and a live one behind them.
    #[allow(dead_code, reason = "not every benchmark collects")]
    pub(crate) fn dead(mut self) -> Self {
        self.garbage();
        let last = self.node();
        self.trees.0 = Some(last);
        self
    }

    fn node(&mut self) -> Object {
        self.heap.alloc(&mut self.trees, 12).expect("room")
    }
}
