package java.util;

/** What sets have in common. */
public abstract class AbstractSet<E> extends AbstractCollection<E> implements Set<E> {
    protected AbstractSet() {}

    public boolean equals(Object other) {
        if (other == this) {
            return true;
        }
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
