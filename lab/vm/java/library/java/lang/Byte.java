package java.lang;

public final class Byte extends Number implements Comparable<Byte> {
    public static final byte MIN_VALUE = -128;
    public static final byte MAX_VALUE = 127;
    private static final Byte[] SMALL = new Byte[256];
    private final byte value;

    static {
        for (int i = 0; i < 256; i++) {
            SMALL[i] = new Byte((byte) (i - 128));
        }
    }

    public Byte(byte value) {
        this.value = value;
    }

    public static Byte valueOf(byte b) {
        return SMALL[b + 128];
    }

    public int intValue() {
        return value;
    }

    public byte byteValue() {
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
        return other instanceof Byte && ((Byte) other).value == value;
    }

    public int compareTo(Byte other) {
        return value - other.value;
    }

    public String toString() {
        return Integer.toString(value);
    }
}
