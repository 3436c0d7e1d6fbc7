package java.util;

public final class Arrays {
    private Arrays() {}

    private static class Fixed<E> extends AbstractList<E> implements RandomAccess {
        private final E[] elements;

        Fixed(E[] elements) {
            this.elements = elements;
        }

        public int size() {
            return elements.length;
        }

        public E get(int index) {
            return elements[index];
        }

        public E set(int index, E element) {
            E old = elements[index];
            elements[index] = element;
            return old;
        }
    }

    @SafeVarargs
    public static <T> List<T> asList(T... elements) {
        return new Fixed<T>(elements);
    }

    public static void fill(int[] array, int value) {
        for (int i = 0; i < array.length; i++) {
            array[i] = value;
        }
    }

    public static void fill(long[] array, long value) {
        for (int i = 0; i < array.length; i++) {
            array[i] = value;
        }
    }

    public static void fill(char[] array, char value) {
        for (int i = 0; i < array.length; i++) {
            array[i] = value;
        }
    }

    public static void fill(byte[] array, byte value) {
        for (int i = 0; i < array.length; i++) {
            array[i] = value;
        }
    }

    public static void fill(boolean[] array, boolean value) {
        for (int i = 0; i < array.length; i++) {
            array[i] = value;
        }
    }

    public static void fill(double[] array, double value) {
        for (int i = 0; i < array.length; i++) {
            array[i] = value;
        }
    }

    public static void fill(Object[] array, Object value) {
        fill(array, 0, array.length, value);
    }

    public static void fill(Object[] array, int start, int end, Object value) {
        if (start > end) {
            throw new IllegalArgumentException("fromIndex(" + start + ") > toIndex(" + end + ")");
        }
        if (start < 0 || end > array.length) {
            throw new ArrayIndexOutOfBoundsException("Array index out of range: " + (start < 0 ? start : end));
        }
        for (int i = start; i < end; i++) {
            array[i] = value;
        }
    }

    /** A new array of the same class. */
    private static native Object[] like0(Object[] array, int length);

    @SuppressWarnings("unchecked")
    public static <T> T[] copyOf(T[] array, int length) {
        boolean isPlain = array.getClass() == (Object) Object[].class;
        Object[] copy = isPlain ? new Object[length] : like0(array, length);
        System.arraycopy(array, 0, copy, 0, Math.min(length, array.length));
        return (T[]) copy;
    }

    public static int[] copyOf(int[] array, int length) {
        int[] copy = new int[length];
        System.arraycopy(array, 0, copy, 0, Math.min(length, array.length));
        return copy;
    }

    public static char[] copyOf(char[] array, int length) {
        char[] copy = new char[length];
        System.arraycopy(array, 0, copy, 0, Math.min(length, array.length));
        return copy;
    }

    public static byte[] copyOf(byte[] array, int length) {
        byte[] copy = new byte[length];
        System.arraycopy(array, 0, copy, 0, Math.min(length, array.length));
        return copy;
    }

    public static boolean equals(int[] a, int[] b) {
        if (a == b) {
            return true;
        }
        if (a == null || b == null || a.length != b.length) {
            return false;
        }
        for (int i = 0; i < a.length; i++) {
            if (a[i] != b[i]) {
                return false;
            }
        }
        return true;
    }

    public static boolean equals(byte[] a, byte[] b) {
        if (a == b) {
            return true;
        }
        if (a == null || b == null || a.length != b.length) {
            return false;
        }
        for (int i = 0; i < a.length; i++) {
            if (a[i] != b[i]) {
                return false;
            }
        }
        return true;
    }

    public static String toString(int[] array) {
        StringBuilder text = new StringBuilder("[");
        for (int i = 0; i < array.length; i++) {
            text.append(i == 0 ? "" : ", ").append(array[i]);
        }
        return text.append(']').toString();
    }

    public static String toString(Object[] array) {
        return asList(array).toString();
    }

    public static void sort(int[] array) {
        for (int i = array.length / 2; i-- > 0;) {
            sift(array, i, array.length);
        }
        for (int end = array.length; end-- > 1;) {
            int largest = array[0];
            array[0] = array[end];
            array[end] = largest;
            sift(array, 0, end);
        }
    }

    private static void sift(int[] array, int at, int end) {
        int value = array[at];
        for (int child = 2 * at + 1; child < end; child = 2 * at + 1) {
            if (child + 1 < end && array[child + 1] > array[child]) {
                child++;
            }
            if (array[child] <= value) {
                break;
            }
            array[at] = array[child];
            at = child;
        }
        array[at] = value;
    }

    public static void sort(Object[] array) {
        sort(array, null);
    }

    /** Sorts by merging: equal elements stay in their order. */
    public static <T> void sort(T[] array, Comparator<? super T> order) {
        Object[] from = new Object[array.length];
        System.arraycopy(array, 0, from, 0, array.length);
        merge(from, array, 0, array.length, order);
    }

    @SuppressWarnings("unchecked")
    private static int compare(Object a, Object b, Comparator<?> order) {
        return order == null ? ((Comparable<Object>) a).compareTo(b) : ((Comparator<Object>) order).compare(a, b);
    }

    private static void merge(Object[] from, Object[] to, int start, int end, Comparator<?> order) {
        if (end - start < 2) {
            return;
        }
        int middle = (start + end) >>> 1;
        merge(to, from, start, middle, order);
        merge(to, from, middle, end, order);
        for (int a = start, b = middle, i = start; i < end; i++) {
            if (b >= end || a < middle && compare(from[a], from[b], order) <= 0) {
                to[i] = from[a++];
            } else {
                to[i] = from[b++];
            }
        }
    }
}
