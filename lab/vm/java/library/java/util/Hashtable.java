package java.util;

/** Iterators of its views notice changes of its size only. */
public class Hashtable<K, V> extends AbstractMap<K, V> implements Cloneable, java.io.Serializable {
    private static class Node<K, V> extends AbstractMap.Node<K, V> {
        int hash;
        K key;
        V value;
        Node<K, V> next;

        public K getKey() {
            return key;
        }

        public V getValue() {
            return value;
        }

        public V setValue(V value) {
            if (value == null) {
                throw new NullPointerException();
            }
            V old = this.value;
            this.value = value;
            return old;
        }
    }

    private Node<K, V>[] table;
    private int count;

    public Hashtable() {
        this(11);
    }

    @SuppressWarnings("unchecked")
    public Hashtable(int capacity) {
        if (capacity < 0) {
            throw new IllegalArgumentException("Illegal Capacity: " + capacity);
        }
        table = (Node<K, V>[]) new Node<?, ?>[Math.max(capacity, 1)];
    }

    private Node<K, V> find(Object key) {
        int hash = key.hashCode();
        Node<K, V> node = table[(hash & 0x7fffffff) % table.length];
        while (node != null && !(node.hash == hash && node.key.equals(key))) {
            node = node.next;
        }
        return node;
    }

    public synchronized int size() {
        return count;
    }

    public synchronized boolean isEmpty() {
        return count == 0;
    }

    public synchronized boolean containsKey(Object key) {
        return find(key) != null;
    }

    public synchronized V get(Object key) {
        Node<K, V> node = find(key);
        return node == null ? null : node.value;
    }

    public synchronized V put(K key, V value) {
        if (value == null) {
            throw new NullPointerException();
        }
        Node<K, V> node = find(key);
        if (node != null) {
            V old = node.value;
            node.value = value;
            return old;
        }
        if (count >= (int) (table.length * 0.75f)) {
            rehash();
        }
        node = new Node<K, V>();
        node.hash = key.hashCode();
        node.key = key;
        node.value = value;
        link(table, node);
        count++;
        return null;
    }

    private static <K, V> void link(Node<K, V>[] table, Node<K, V> node) {
        int index = (node.hash & 0x7fffffff) % table.length;
        node.next = table[index];
        table[index] = node;
    }

    @SuppressWarnings("unchecked")
    private void rehash() {
        Node<K, V>[] larger = (Node<K, V>[]) new Node<?, ?>[2 * table.length + 1];
        for (int i = table.length; i-- > 0;) {
            for (Node<K, V> node = table[i]; node != null;) {
                Node<K, V> next = node.next;
                link(larger, node);
                node = next;
            }
        }
        table = larger;
    }

    public synchronized V remove(Object key) {
        Node<K, V> node = find(key);
        if (node == null) {
            return null;
        }
        int index = (node.hash & 0x7fffffff) % table.length;
        if (table[index] == node) {
            table[index] = node.next;
        } else {
            Node<K, V> before = table[index];
            while (before.next != node) {
                before = before.next;
            }
            before.next = node.next;
        }
        count--;
        return node.value;
    }

    public synchronized void clear() {
        Arrays.fill(table, 0, table.length, null);
        count = 0;
    }

    public synchronized boolean contains(Object value) {
        return containsValue(Objects.requireNonNull(value));
    }

    public synchronized void putAll(Map<? extends K, ? extends V> others) {
        super.putAll(others);
    }

    public synchronized int hashCode() {
        return super.hashCode();
    }

    public synchronized boolean equals(Object other) {
        return super.equals(other);
    }

    public synchronized String toString() {
        return super.toString();
    }

    public Set<K> keySet() {
        return new KeySet();
    }

    public Collection<V> values() {
        return new ValueCollection();
    }

    public Set<Map.Entry<K, V>> entrySet() {
        return new EntrySet();
    }

    public Enumeration<K> keys() {
        return new Keys();
    }

    public Enumeration<V> elements() {
        return new Values();
    }

    private class Steps {
        private int index = table.length;
        private Node<K, V> next;

        public boolean hasMoreElements() {
            while (next == null && index > 0) {
                next = table[--index];
            }
            return next != null;
        }

        Node<K, V> step() {
            if (!hasMoreElements()) {
                throw new NoSuchElementException("Hashtable Enumerator");
            }
            Node<K, V> node = next;
            next = node.next;
            return node;
        }
    }

    private class Keys extends Steps implements Enumeration<K> {
        public K nextElement() {
            return step().key;
        }
    }

    private class Values extends Steps implements Enumeration<V> {
        public V nextElement() {
            return step().value;
        }
    }

    private class EntrySteps extends Steps implements Iterator<Map.Entry<K, V>> {
        private Node<K, V> current;
        private int expected = count;

        private void check() {
            if (expected != count) {
                throw new ConcurrentModificationException();
            }
        }

        public boolean hasNext() {
            return hasMoreElements();
        }

        public Map.Entry<K, V> next() {
            check();
            return current = step();
        }

        public void remove() {
            if (current == null) {
                throw new IllegalStateException();
            }
            check();
            Hashtable.this.remove(current.key);
            current = null;
            expected = count;
        }
    }

    private class KeySet extends AbstractSet<K> {
        public int size() {
            return Hashtable.this.size();
        }

        public boolean contains(Object key) {
            return containsKey(key);
        }

        public Iterator<K> iterator() {
            final Iterator<Map.Entry<K, V>> entries = new EntrySteps();
            return new Iterator<K>() {
                public boolean hasNext() {
                    return entries.hasNext();
                }

                public K next() {
                    return entries.next().getKey();
                }

                public void remove() {
                    entries.remove();
                }
            };
        }
    }

    private class ValueCollection extends AbstractCollection<V> {
        public int size() {
            return Hashtable.this.size();
        }

        public Iterator<V> iterator() {
            final Iterator<Map.Entry<K, V>> entries = new EntrySteps();
            return new Iterator<V>() {
                public boolean hasNext() {
                    return entries.hasNext();
                }

                public V next() {
                    return entries.next().getValue();
                }

                public void remove() {
                    entries.remove();
                }
            };
        }
    }

    private class EntrySet extends AbstractSet<Map.Entry<K, V>> {
        public int size() {
            return Hashtable.this.size();
        }

        public boolean contains(Object other) {
            return hasEntry(other);
        }

        public Iterator<Map.Entry<K, V>> iterator() {
            return new EntrySteps();
        }
    }
}
