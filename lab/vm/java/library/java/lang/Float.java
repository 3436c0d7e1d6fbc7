package java.lang;

public final class Float extends Number implements Comparable<Float> {
    public static final float POSITIVE_INFINITY = 1.0f / 0.0f;
    public static final float NEGATIVE_INFINITY = -1.0f / 0.0f;
    public static final float NaN = 0.0f / 0.0f;
    public static final float MAX_VALUE = 0x1.fffffeP+127f;
    public static final float MIN_VALUE = 0x0.000002P-126f;
    private final float value;

    public Float(float value) {
        this.value = value;
    }

    public static native int floatToRawIntBits(float f);
    public static native float intBitsToFloat(int i);
    public static native String toString(float f);
    private static native float parse0(String text);

    public static Float valueOf(float f) {
        return new Float(f);
    }

    public static float parseFloat(String text) {
        return parse0(text);
    }

    public static int floatToIntBits(float f) {
        return f != f ? 0x7fc00000 : floatToRawIntBits(f);
    }

    public static boolean isNaN(float f) {
        return f != f;
    }

    public boolean isNaN() {
        return isNaN(value);
    }

    public int intValue() {
        return (int) value;
    }

    public long longValue() {
        return (long) value;
    }

    public float floatValue() {
        return value;
    }

    public double doubleValue() {
        return value;
    }

    public int hashCode() {
        return floatToIntBits(value);
    }

    public boolean equals(Object other) {
        return other instanceof Float && floatToIntBits(((Float) other).value) == floatToIntBits(value);
    }

    public int compareTo(Float other) {
        return Double.compare(value, other.value);
    }

    public static int compare(float a, float b) {
        return Double.compare(a, b);
    }

    public String toString() {
        return toString(value);
    }
}
