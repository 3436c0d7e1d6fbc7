package java.util;

public class LinkedList<E> extends AbstractList<E> implements Deque<E>, Cloneable, java.io.Serializable {
    private static class Node<E> {
        E element;
        Node<E> before;
        Node<E> after;
    }

    private Node<E> first;
    private Node<E> last;
    private int size;

    public LinkedList() {}

    public LinkedList(Collection<? extends E> others) {
        addAll(others);
    }

    public int size() {
        return size;
    }

    private Node<E> node(int index) {
        if (index < 0 || index >= size) {
            throw new IndexOutOfBoundsException("Index: " + index + ", Size: " + size);
        }
        Node<E> node;
        if (index < size / 2) {
            node = first;
            for (int i = 0; i < index; i++) {
                node = node.after;
            }
        } else {
            node = last;
            for (int i = size - 1; i > index; i--) {
                node = node.before;
            }
        }
        return node;
    }

    /** Puts an element before a node; at the end before none. */
    private void insert(E element, Node<E> after) {
        Node<E> node = new Node<E>();
        node.element = element;
        node.after = after;
        node.before = after == null ? last : after.before;
        if (node.before == null) {
            first = node;
        } else {
            node.before.after = node;
        }
        if (after == null) {
            last = node;
        } else {
            after.before = node;
        }
        size++;
        modCount++;
    }

    private E unlink(Node<E> node) {
        if (node.before == null) {
            first = node.after;
        } else {
            node.before.after = node.after;
        }
        if (node.after == null) {
            last = node.before;
        } else {
            node.after.before = node.before;
        }
        size--;
        modCount++;
        return node.element;
    }

    public E get(int index) {
        return node(index).element;
    }

    public E set(int index, E element) {
        Node<E> node = node(index);
        E old = node.element;
        node.element = element;
        return old;
    }

    public boolean add(E element) {
        insert(element, null);
        return true;
    }

    public void add(int index, E element) {
        insert(element, index == size ? null : node(index));
    }

    public E remove(int index) {
        return unlink(node(index));
    }

    public void clear() {
        first = last = null;
        size = 0;
        modCount++;
    }

    private E some(Node<E> node) {
        if (node == null) {
            throw new NoSuchElementException();
        }
        return node.element;
    }

    public void addFirst(E element) {
        insert(element, first);
    }

    public void addLast(E element) {
        insert(element, null);
    }

    public E getFirst() {
        return some(first);
    }

    public E getLast() {
        return some(last);
    }

    public E removeFirst() {
        some(first);
        return unlink(first);
    }

    public E removeLast() {
        some(last);
        return unlink(last);
    }

    public E peekFirst() {
        return first == null ? null : first.element;
    }

    public E peekLast() {
        return last == null ? null : last.element;
    }

    public E pollFirst() {
        return first == null ? null : unlink(first);
    }

    public E pollLast() {
        return last == null ? null : unlink(last);
    }

    public boolean offer(E element) {
        return add(element);
    }

    public E poll() {
        return pollFirst();
    }

    public E peek() {
        return peekFirst();
    }

    public E element() {
        return getFirst();
    }

    public E remove() {
        return removeFirst();
    }

    public void push(E element) {
        addFirst(element);
    }

    public E pop() {
        return removeFirst();
    }

    public Iterator<E> iterator() {
        return new Steps();
    }

    private class Steps implements Iterator<E> {
        private Node<E> next = first;
        private Node<E> current;
        private int expected = modCount;

        public boolean hasNext() {
            return next != null;
        }

        private void check() {
            if (expected != modCount) {
                throw new ConcurrentModificationException();
            }
        }

        public E next() {
            check();
            if (next == null) {
                throw new NoSuchElementException();
            }
            current = next;
            next = next.after;
            return current.element;
        }

        public void remove() {
            check();
            if (current == null) {
                throw new IllegalStateException();
            }
            unlink(current);
            current = null;
            expected = modCount;
        }
    }
}
