package java.util;

public class Vector<E> extends AbstractList<E> implements RandomAccess, Cloneable, java.io.Serializable {
    protected Object[] elementData;
    protected int elementCount;
    protected int capacityIncrement;

    public Vector() {
        this(10, 0);
    }

    public Vector(int capacity) {
        this(capacity, 0);
    }

    public Vector(int capacity, int increment) {
        if (capacity < 0) {
            throw new IllegalArgumentException("Illegal Capacity: " + capacity);
        }
        elementData = new Object[capacity];
        capacityIncrement = increment;
    }

    public synchronized int size() {
        return elementCount;
    }

    public synchronized boolean isEmpty() {
        return elementCount == 0;
    }

    private void check(int index, int end) {
        if (index < 0 || index >= end) {
            throw new ArrayIndexOutOfBoundsException("Array index out of range: " + index);
        }
    }

    @SuppressWarnings("unchecked")
    public synchronized E get(int index) {
        check(index, elementCount);
        return (E) elementData[index];
    }

    public E elementAt(int index) {
        return get(index);
    }

    private E end(int index) {
        if (elementCount == 0) {
            throw new NoSuchElementException();
        }
        return get(index);
    }

    public synchronized E firstElement() {
        return end(0);
    }

    public synchronized E lastElement() {
        return end(elementCount - 1);
    }

    public synchronized E set(int index, E element) {
        E old = get(index);
        elementData[index] = element;
        return old;
    }

    public void setElementAt(E element, int index) {
        set(index, element);
    }

    public synchronized boolean add(E element) {
        add(elementCount, element);
        return true;
    }

    public void addElement(E element) {
        add(elementCount, element);
    }

    public void insertElementAt(E element, int index) {
        add(index, element);
    }

    public synchronized void add(int index, E element) {
        check(index, elementCount + 1);
        modCount++;
        if (elementCount == elementData.length) {
            int more = capacityIncrement > 0 ? capacityIncrement : Math.max(elementCount, 1);
            elementData = Arrays.copyOf(elementData, elementCount + more);
        }
        System.arraycopy(elementData, index, elementData, index + 1, elementCount - index);
        elementData[index] = element;
        elementCount++;
    }

    public synchronized E remove(int index) {
        E old = get(index);
        modCount++;
        System.arraycopy(elementData, index + 1, elementData, index, --elementCount - index);
        elementData[elementCount] = null;
        return old;
    }

    public void removeElementAt(int index) {
        remove(index);
    }

    public boolean removeElement(Object object) {
        return remove(object);
    }

    public synchronized boolean remove(Object object) {
        int index = indexOf(object);
        if (index >= 0) {
            remove(index);
        }
        return index >= 0;
    }

    public synchronized void clear() {
        modCount++;
        Arrays.fill(elementData, 0, elementCount, null);
        elementCount = 0;
    }

    public void removeAllElements() {
        clear();
    }

    public Enumeration<E> elements() {
        return new Elements();
    }

    private class Elements implements Enumeration<E> {
        private int next;

        public boolean hasMoreElements() {
            return next < elementCount;
        }

        public E nextElement() {
            if (next >= elementCount) {
                throw new NoSuchElementException("Vector Enumeration");
            }
            return get(next++);
        }
    }

    public synchronized void setSize(int size) {
        if (size < 0) {
            throw new ArrayIndexOutOfBoundsException("Array index out of range: " + size);
        }
        while (elementCount < size) {
            add(null);
        }
        while (elementCount > size) {
            elementData[--elementCount] = null;
        }
    }

    public synchronized void copyInto(Object[] array) {
        System.arraycopy(elementData, 0, array, 0, elementCount);
    }
}
