package java.util;

public class HashSet<E> extends AbstractCollection<E> implements Set<E>, Cloneable, java.io.Serializable {
    private final HashMap<E, Boolean> map;

    public HashSet() {
        map = new HashMap<E, Boolean>();
    }

    public HashSet(int capacity) {
        map = new HashMap<E, Boolean>(capacity);
    }

    public HashSet(Collection<? extends E> others) {
        this(Math.max(others.size() * 4 / 3 + 1, 16));
        addAll(others);
    }

    public int size() {
        return map.size();
    }

    public boolean contains(Object object) {
        return map.containsKey(object);
    }

    public boolean add(E element) {
        return map.put(element, Boolean.TRUE) == null;
    }

    public boolean remove(Object object) {
        return map.remove(object) != null;
    }

    public void clear() {
        map.clear();
    }

    public Iterator<E> iterator() {
        return map.keySet().iterator();
    }

    public boolean equals(Object other) {
        if (!(other instanceof Set) || ((Set<?>) other).size() != size()) {
            return false;
        }
        for (Object element : (Set<?>) other) {
            if (!contains(element)) {
                return false;
            }
        }
        return true;
    }

    public int hashCode() {
        int hash = 0;
        for (E element : this) {
            hash += Objects.hashCode(element);
        }
        return hash;
    }
}
