package java.util;

public abstract class AbstractList<E> extends AbstractCollection<E> implements List<E> {
    protected int modCount;

    protected AbstractList() {}

    public boolean add(E element) {
        add(size(), element);
        return true;
    }

    public void add(int index, E element) {
        throw new UnsupportedOperationException();
    }

    public E set(int index, E element) {
        throw new UnsupportedOperationException();
    }

    public E remove(int index) {
        throw new UnsupportedOperationException();
    }

    /** A list can be added to itself. */
    public boolean addAll(Collection<? extends E> others) {
        return super.addAll(others == this ? new ArrayList<E>(this) : others);
    }

    public int indexOf(Object object) {
        int i = 0;
        for (E element : this) {
            if (Objects.equals(object, element)) {
                return i;
            }
            i++;
        }
        return -1;
    }

    public int lastIndexOf(Object object) {
        for (int i = size() - 1; i >= 0; i--) {
            if (Objects.equals(object, get(i))) {
                return i;
            }
        }
        return -1;
    }

    public Iterator<E> iterator() {
        return new Steps();
    }

    public boolean equals(Object other) {
        if (other == this) {
            return true;
        }
        if (!(other instanceof List) || ((List<?>) other).size() != size()) {
            return false;
        }
        Iterator<?> others = ((List<?>) other).iterator();
        for (E element : this) {
            if (!Objects.equals(element, others.next())) {
                return false;
            }
        }
        return true;
    }

    public int hashCode() {
        int hash = 1;
        for (E element : this) {
            hash = 31 * hash + Objects.hashCode(element);
        }
        return hash;
    }

    /** After `remove()`, `expected` is below zero until the next step: `~modCount`. */
    private class Steps implements Iterator<E> {
        private int next;
        private int expected = modCount;

        public boolean hasNext() {
            return next != size();
        }

        private void check() {
            if (expected != modCount) {
                checkRemoved();
            }
        }

        private void checkRemoved() {
            if (~expected != modCount) {
                throw new ConcurrentModificationException();
            }
            expected = modCount;
        }

        public E next() {
            check();
            if (next >= size()) {
                throw new NoSuchElementException();
            }
            return get(next++);
        }

        public void remove() {
            if (next == 0 || expected < 0) {
                throw new IllegalStateException();
            }
            check();
            AbstractList.this.remove(--next);
            expected = ~modCount;
        }
    }
}
