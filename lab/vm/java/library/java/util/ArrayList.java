package java.util;

public class ArrayList<E> extends AbstractList<E> implements RandomAccess, Cloneable, java.io.Serializable {
    private Object[] elements;
    private int size;

    public ArrayList() {
        this(10);
    }

    public ArrayList(int capacity) {
        if (capacity < 0) {
            throw new IllegalArgumentException("Illegal Capacity: " + capacity);
        }
        elements = new Object[capacity];
    }

    public ArrayList(Collection<? extends E> others) {
        elements = others.toArray();
        size = elements.length;
    }

    public int size() {
        return size;
    }

    private void check(int index, int end) {
        if (index < 0 || index >= end) {
            throw new IndexOutOfBoundsException("Index " + index + " out of bounds for length " + size);
        }
    }

    @SuppressWarnings("unchecked")
    public E get(int index) {
        check(index, size);
        return (E) elements[index];
    }

    public E set(int index, E element) {
        E old = get(index);
        elements[index] = element;
        return old;
    }

    public void ensureCapacity(int capacity) {
        if (capacity > elements.length) {
            elements = Arrays.copyOf(elements, Math.max(capacity, elements.length + (elements.length >> 1)));
        }
    }

    public boolean add(E element) {
        modCount++;
        ensureCapacity(size + 1);
        elements[size++] = element;
        return true;
    }

    public void add(int index, E element) {
        check(index, size + 1);
        modCount++;
        ensureCapacity(size + 1);
        System.arraycopy(elements, index, elements, index + 1, size - index);
        elements[index] = element;
        size++;
    }

    public E remove(int index) {
        E old = get(index);
        modCount++;
        System.arraycopy(elements, index + 1, elements, index, --size - index);
        elements[size] = null;
        return old;
    }

    public boolean remove(Object object) {
        int index = indexOf(object);
        if (index >= 0) {
            remove(index);
        }
        return index >= 0;
    }

    public void clear() {
        modCount++;
        Arrays.fill(elements, 0, size, null);
        size = 0;
    }

    public Object[] toArray() {
        return Arrays.copyOf(elements, size);
    }
}
