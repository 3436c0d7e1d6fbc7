package java.lang;

public final class Double extends Number implements Comparable<Double> {
    public static final double POSITIVE_INFINITY = 1.0 / 0.0;
    public static final double NEGATIVE_INFINITY = -1.0 / 0.0;
    public static final double NaN = 0.0 / 0.0;
    public static final double MAX_VALUE = 0x1.fffffffffffffP+1023;
    public static final double MIN_VALUE = 0x0.0000000000001P-1022;
    public static final double MIN_NORMAL = 0x1.0p-1022;
    private final double value;

    public Double(double value) {
        this.value = value;
    }

    public static native long doubleToRawLongBits(double d);
    public static native double longBitsToDouble(long l);
    public static native String toString(double d);
    private static native double parse0(String text);

    public static Double valueOf(double d) {
        return new Double(d);
    }

    public static Double valueOf(String text) {
        return new Double(parse0(text));
    }

    public static double parseDouble(String text) {
        return parse0(text);
    }

    public static long doubleToLongBits(double d) {
        return d != d ? 0x7ff8000000000000L : doubleToRawLongBits(d);
    }

    public static boolean isNaN(double d) {
        return d != d;
    }

    public boolean isNaN() {
        return isNaN(value);
    }

    public static boolean isInfinite(double d) {
        return d == POSITIVE_INFINITY || d == NEGATIVE_INFINITY;
    }

    public boolean isInfinite() {
        return isInfinite(value);
    }

    public int intValue() {
        return (int) value;
    }

    public long longValue() {
        return (long) value;
    }

    public float floatValue() {
        return (float) value;
    }

    public double doubleValue() {
        return value;
    }

    public int hashCode() {
        return Long.hashCode(doubleToLongBits(value));
    }

    public boolean equals(Object other) {
        return other instanceof Double && doubleToLongBits(((Double) other).value) == doubleToLongBits(value);
    }

    public int compareTo(Double other) {
        return compare(value, other.value);
    }

    public static int compare(double a, double b) {
        if (a < b) {
            return -1;
        }
        if (a > b) {
            return 1;
        }
        return Long.compare(doubleToLongBits(a), doubleToLongBits(b));
    }

    public String toString() {
        return toString(value);
    }
}
