package java.util;

public interface List<E> extends Collection<E> {
    E get(int index);
    E set(int index, E element);
    void add(int index, E element);
    E remove(int index);
    int indexOf(Object object);
    int lastIndexOf(Object object);

    @SuppressWarnings("unchecked")
    default void sort(Comparator<? super E> order) {
        Object[] all = toArray();
        Arrays.sort(all, (Comparator<Object>) order);
        for (int i = 0; i < all.length; i++) {
            set(i, (E) all[i]);
        }
    }
}
