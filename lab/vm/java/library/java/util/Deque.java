package java.util;

public interface Deque<E> extends Queue<E> {
    void addFirst(E element);
    void addLast(E element);
    E removeFirst();
    E removeLast();
    E getFirst();
    E getLast();
    E pollFirst();
    E pollLast();
    E peekFirst();
    E peekLast();
    void push(E element);
    E pop();
}
