package java.util;

public interface Collection<E> extends Iterable<E> {
    int size();
    boolean isEmpty();
    boolean contains(Object object);
    Object[] toArray();
    <T> T[] toArray(T[] into);
    boolean add(E element);
    boolean remove(Object object);
    boolean addAll(Collection<? extends E> others);
    void clear();
}
