package java.util;

/** Entries lie in the order in which HotSpot's do, as long as no chain has more than seven. */
public class HashMap<K, V> extends AbstractMap<K, V> implements Cloneable, java.io.Serializable {
    private static class Node<K, V> extends AbstractMap.Node<K, V> {
        final int hash;
        final K key;
        V value;
        Node<K, V> next;

        Node(int hash, K key, V value) {
            this.hash = hash;
            this.key = key;
            this.value = value;
        }

        public K getKey() {
            return key;
        }

        public V getValue() {
            return value;
        }

        public V setValue(V value) {
            V old = this.value;
            this.value = value;
            return old;
        }
    }

    private Node<K, V>[] table;
    private int size;
    private int changes;

    public HashMap() {
        this(16);
    }

    @SuppressWarnings("unchecked")
    public HashMap(int capacity) {
        if (capacity < 0) {
            throw new IllegalArgumentException("Illegal initial capacity: " + capacity);
        }
        int length = 1;
        while (length < capacity && length < 1 << 30) {
            length <<= 1;
        }
        table = (Node<K, V>[]) new Node<?, ?>[length];
    }

    private static int hash(Object key) {
        int h = key == null ? 0 : key.hashCode();
        return h ^ h >>> 16;
    }

    private Node<K, V> find(Object key) {
        int hash = hash(key);
        Node<K, V> node = table[hash & table.length - 1];
        while (node != null && !(node.hash == hash && Objects.equals(key, node.key))) {
            node = node.next;
        }
        return node;
    }

    public int size() {
        return size;
    }

    public boolean isEmpty() {
        return size == 0;
    }

    public boolean containsKey(Object key) {
        return find(key) != null;
    }

    public V get(Object key) {
        Node<K, V> node = find(key);
        return node == null ? null : node.value;
    }

    public V put(K key, V value) {
        Node<K, V> node = find(key);
        if (node != null) {
            return node.setValue(value);
        }
        append(table, new Node<K, V>(hash(key), key, value));
        changes++;
        if (++size > (int) (table.length * 0.75f)) {
            grow();
        }
        return null;
    }

    private static <K, V> void append(Node<K, V>[] table, Node<K, V> node) {
        int index = node.hash & table.length - 1;
        Node<K, V> last = table[index];
        if (last == null) {
            table[index] = node;
            return;
        }
        while (last.next != null) {
            last = last.next;
        }
        last.next = node;
    }

    @SuppressWarnings("unchecked")
    private void grow() {
        Node<K, V>[] larger = (Node<K, V>[]) new Node<?, ?>[2 * table.length];
        for (int i = 0; i < table.length; i++) {
            for (Node<K, V> node = table[i]; node != null;) {
                Node<K, V> next = node.next;
                node.next = null;
                append(larger, node);
                node = next;
            }
        }
        table = larger;
    }

    public V remove(Object key) {
        Node<K, V> node = find(key);
        if (node == null) {
            return null;
        }
        int index = node.hash & table.length - 1;
        if (table[index] == node) {
            table[index] = node.next;
        } else {
            Node<K, V> before = table[index];
            while (before.next != node) {
                before = before.next;
            }
            before.next = node.next;
        }
        size--;
        changes++;
        return node.value;
    }

    public void clear() {
        Arrays.fill(table, 0, table.length, null);
        size = 0;
        changes++;
    }

    public Set<K> keySet() {
        return new Keys();
    }

    public Collection<V> values() {
        return new Values();
    }

    public Set<Map.Entry<K, V>> entrySet() {
        return new Entries();
    }

    private class Steps {
        private Node<K, V> next;
        private Node<K, V> current;
        private int index;
        private int expected = changes;

        Steps() {
            find();
        }

        private void find() {
            while (next == null && index < table.length) {
                next = table[index++];
            }
        }

        public boolean hasNext() {
            return next != null;
        }

        Node<K, V> step() {
            if (expected != changes) {
                throw new ConcurrentModificationException();
            }
            if (next == null) {
                throw new NoSuchElementException();
            }
            current = next;
            next = next.next;
            find();
            return current;
        }

        public void remove() {
            if (current == null) {
                throw new IllegalStateException();
            }
            if (expected != changes) {
                throw new ConcurrentModificationException();
            }
            HashMap.this.remove(current.key);
            current = null;
            expected = changes;
        }
    }

    private class KeySteps extends Steps implements Iterator<K> {
        public K next() {
            return step().key;
        }
    }

    private class ValueSteps extends Steps implements Iterator<V> {
        public V next() {
            return step().value;
        }
    }

    private class EntrySteps extends Steps implements Iterator<Map.Entry<K, V>> {
        public Map.Entry<K, V> next() {
            return step();
        }
    }

    private class Keys extends AbstractSet<K> {
        public int size() {
            return size;
        }

        public boolean contains(Object key) {
            return containsKey(key);
        }

        public Iterator<K> iterator() {
            return new KeySteps();
        }
    }

    private class Values extends AbstractCollection<V> {
        public int size() {
            return size;
        }

        public Iterator<V> iterator() {
            return new ValueSteps();
        }
    }

    private class Entries extends AbstractSet<Map.Entry<K, V>> {
        public int size() {
            return size;
        }

        public boolean contains(Object other) {
            return hasEntry(other);
        }

        public Iterator<Map.Entry<K, V>> iterator() {
            return new EntrySteps();
        }
    }
}
