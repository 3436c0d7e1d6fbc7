/** The edges of int, long, float and double. */
public class Arithmetic {
    static int[] ints = {0, 1, -1, 2, 7, -7, 31, 32, 33, 127, 128, -128, 255, 65535, 65536, Integer.MAX_VALUE, Integer.MIN_VALUE};
    static long[] longs = {0, 1, -1, 63, 64, 65, -7, 1L << 31, 1L << 32, -(1L << 32), 0x123456789abcdefL, Long.MAX_VALUE, Long.MIN_VALUE};
    static double[] doubles = {0.0, -0.0, 1.0, -1.5, 0.1, 1e10, -1e10, 1e19, -1e19, 3e9, 1e300, Double.MIN_VALUE,
        Double.MAX_VALUE, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY};

    static int hash;

    static void mix(long value) {
        hash = 31 * hash + (int) (value ^ value >>> 32);
    }

    static void show(String name) {
        System.out.println(name + " " + hash);
        hash = 0;
    }

    static void ints() {
        for (int a : ints) {
            for (int b : ints) {
                mix(a + b); mix(a - b); mix(a * b); mix(a & b); mix(a | b); mix(a ^ b);
                mix(a << b); mix(a >> b); mix(a >>> b);
                mix(a < b ? 1 : 2); mix(a <= b ? 1 : 2); mix(a > b ? 1 : 2); mix(a >= b ? 1 : 2); mix(a == b ? 1 : 2); mix(a != b ? 1 : 2);
                if (b != 0) {
                    mix(a / b); mix(a % b);
                }
            }
            mix(-a); mix(~a); mix((byte) a); mix((char) a); mix((short) a); mix((long) a);
            mix(Float.floatToRawIntBits((float) a)); mix(Double.doubleToRawLongBits((double) a));
            mix(a < 0 ? 1 : 2); mix(a <= 0 ? 1 : 2); mix(a > 0 ? 1 : 2); mix(a >= 0 ? 1 : 2);
        }
        show("ints");
    }

    static void longs() {
        for (long a : longs) {
            for (long b : longs) {
                mix(a + b); mix(a - b); mix(a * b); mix(a & b); mix(a | b); mix(a ^ b);
                mix(a << b); mix(a >> b); mix(a >>> b); mix(a << (int) b);
                mix(a < b ? 1 : 2); mix(a <= b ? 1 : 2); mix(a > b ? 1 : 2); mix(a == b ? 1 : 2);
                if (b != 0) {
                    mix(a / b); mix(a % b);
                }
            }
            mix(-a); mix(~a); mix((int) a); mix((byte) a);
            mix(Float.floatToRawIntBits((float) a)); mix(Double.doubleToRawLongBits((double) a));
        }
        show("longs");
    }

    static void doubles() {
        for (double a : doubles) {
            float c = (float) a;
            for (double b : doubles) {
                float d = (float) b;
                mix(Double.doubleToLongBits(a + b)); mix(Double.doubleToLongBits(a - b)); mix(Double.doubleToLongBits(a * b));
                mix(Double.doubleToLongBits(a / b)); mix(Double.doubleToLongBits(a % b));
                mix(a < b ? 1 : 2); mix(a <= b ? 1 : 2); mix(a > b ? 1 : 2); mix(a >= b ? 1 : 2); mix(a == b ? 1 : 2); mix(a != b ? 1 : 2);
                mix(Float.floatToIntBits(c + d)); mix(Float.floatToIntBits(c - d)); mix(Float.floatToIntBits(c * d));
                mix(Float.floatToIntBits(c / d)); mix(Float.floatToIntBits(c % d));
                mix(c < d ? 1 : 2); mix(c <= d ? 1 : 2); mix(c > d ? 1 : 2); mix(c >= d ? 1 : 2); mix(c == d ? 1 : 2);
                mix(Double.compare(a, b)); mix(Double.doubleToLongBits(Math.max(a, b))); mix(Double.doubleToLongBits(Math.min(a, b)));
            }
            mix((int) a); mix((long) a); mix((int) c); mix((long) c); mix((byte) a); mix((char) a);
            mix(Double.doubleToLongBits(-a)); mix(Float.floatToIntBits(-c)); mix(Math.round(a));
            mix(Double.doubleToLongBits(Math.floor(a))); mix(Double.doubleToLongBits(Math.ceil(a))); mix(Double.doubleToLongBits(Math.rint(a)));
            mix(Double.doubleToLongBits(Math.sqrt(a))); mix(Double.doubleToLongBits(Math.abs(a)));
            System.out.println(a + " " + c + " " + (int) a + " " + (long) a);
        }
        show("doubles");
    }

    static void locals() {
        // Increments that need two bytes, and conversions in place.
        int i = 0;
        i += 1000; i += -32768; i++; i--;
        byte b = (byte) 200; b += 100; b++;
        short s = (short) 40000; s *= 3;
        char c = 'z'; c += 1; c--;
        long l = 1; l <<= 40; l |= 5; l++;
        float f = 1; f /= 3;
        double d = 1; d /= 3; d++;
        System.out.println(i + " " + b + " " + s + " " + c + " " + l + " " + f + " " + d);
        System.out.println((5 & 6) + (5 | 6) + (5 ^ 6) + " " + (0.1f + 0.2f) + " " + (0.1 + 0.2) + " " + 100.0 / 3 + " " + 1e-5 + " " + 123456789.0f);
        System.out.println(Integer.MIN_VALUE / -1 + " " + Integer.MIN_VALUE % -1 + " " + Long.MIN_VALUE / -1 + " " + Long.MIN_VALUE % -1);
        System.out.println(Integer.parseInt("-2147483648") + " " + Long.parseLong("9223372036854775807") + " " + Integer.toHexString(-1) + " " + Integer.toString(-255, 16));
        System.out.println(Double.parseDouble("1.5e3") + " " + Float.parseFloat("-0.25") + " " + Integer.bitCount(255) + " " + Integer.numberOfLeadingZeros(1));
        System.out.println(Integer.valueOf(127) == Integer.valueOf(127));
    }

    static void floors() {
        for (int a : ints) {
            for (int b : ints) {
                if (b != 0) {
                    mix(Math.floorDiv(a, b)); mix(Math.floorMod(a, b));
                }
            }
        }
        for (long a : longs) {
            for (long b : longs) {
                if (b != 0) {
                    mix(Math.floorDiv(a, b)); mix(Math.floorMod(a, b));
                }
            }
        }
        show("floors");
    }

    public static void main(String[] args) {
        ints();
        longs();
        doubles();
        locals();
        floors();
    }
}
