package java.util;

public abstract class AbstractCollection<E> implements Collection<E> {
    protected AbstractCollection() {}

    public abstract Iterator<E> iterator();
    public abstract int size();

    public boolean isEmpty() {
        return size() == 0;
    }

    public boolean contains(Object object) {
        for (E element : this) {
            if (Objects.equals(object, element)) {
                return true;
            }
        }
        return false;
    }

    public Object[] toArray() {
        return toArray(new Object[size()]);
    }

    @SuppressWarnings("unchecked")
    public <T> T[] toArray(T[] into) {
        if (into.length < size()) {
            into = Arrays.copyOf(into, size());
        }
        int i = 0;
        for (E element : this) {
            into[i++] = (T) element;
        }
        if (i < into.length) {
            into[i] = null;
        }
        return into;
    }

    public boolean add(E element) {
        throw new UnsupportedOperationException();
    }

    public boolean remove(Object object) {
        for (Iterator<E> all = iterator(); all.hasNext();) {
            if (Objects.equals(object, all.next())) {
                all.remove();
                return true;
            }
        }
        return false;
    }

    public boolean addAll(Collection<? extends E> others) {
        boolean changed = false;
        for (E element : others) {
            changed |= add(element);
        }
        return changed;
    }

    public void clear() {
        for (Iterator<E> all = iterator(); all.hasNext();) {
            all.next();
            all.remove();
        }
    }

    public String toString() {
        StringBuilder text = new StringBuilder("[");
        for (E element : this) {
            if (text.length() > 1) {
                text.append(", ");
            }
            text.append(element == this ? "(this Collection)" : String.valueOf(element));
        }
        return text.append(']').toString();
    }
}
