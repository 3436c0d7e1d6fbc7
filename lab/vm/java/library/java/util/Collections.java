package java.util;

public final class Collections {
    private Collections() {}

    public static <T extends Comparable<? super T>> void sort(List<T> list) {
        list.sort(null);
    }

    public static <T> void sort(List<T> list, Comparator<? super T> order) {
        list.sort(order);
    }

    public static <T> void swap(List<T> list, int a, int b) {
        list.set(a, list.set(b, list.get(a)));
    }

    public static <T> void reverse(List<T> list) {
        for (int a = 0, b = list.size() - 1; a < b; a++, b--) {
            swap(list, a, b);
        }
    }
}
