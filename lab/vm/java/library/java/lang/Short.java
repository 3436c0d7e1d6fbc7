package java.lang;

public final class Short extends Number implements Comparable<Short> {
    public static final short MIN_VALUE = -32768;
    public static final short MAX_VALUE = 32767;
    private static final Short[] SMALL = new Short[256];
    private final short value;

    static {
        for (int i = 0; i < 256; i++) {
            SMALL[i] = new Short((short) (i - 128));
        }
    }

    public Short(short value) {
        this.value = value;
    }

    public static Short valueOf(short s) {
        return s >= -128 && s <= 127 ? SMALL[(int) s + 128] : new Short(s);
    }

    public int intValue() {
        return value;
    }

    public short shortValue() {
        return value;
    }

    public long longValue() {
        return value;
    }

    public float floatValue() {
        return value;
    }

    public double doubleValue() {
        return value;
    }

    public int hashCode() {
        return value;
    }

    public boolean equals(Object other) {
        return other instanceof Short && ((Short) other).value == value;
    }

    public int compareTo(Short other) {
        return value - other.value;
    }

    public String toString() {
        return Integer.toString(value);
    }
}
