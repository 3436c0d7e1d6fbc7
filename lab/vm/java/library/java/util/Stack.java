package java.util;

public class Stack<E> extends Vector<E> {
    public Stack() {}

    public E push(E element) {
        addElement(element);
        return element;
    }

    public synchronized E pop() {
        E top = peek();
        removeElementAt(size() - 1);
        return top;
    }

    public synchronized E peek() {
        if (size() == 0) {
            throw new EmptyStackException();
        }
        return get(size() - 1);
    }

    public boolean empty() {
        return size() == 0;
    }

    public synchronized int search(Object object) {
        int index = lastIndexOf(object);
        return index < 0 ? -1 : size() - index;
    }
}
