package java.util;

public class HashSet<E> extends AbstractSet<E> implements Cloneable, java.io.Serializable {
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
}
