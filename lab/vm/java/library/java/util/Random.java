package java.util;

public class Random implements java.io.Serializable {
    private long seed;
    private double next;
    private boolean hasNext;

    public Random() {
        this(System.nanoTime());
    }

    public Random(long seed) {
        setSeed(seed);
    }

    public void setSeed(long seed) {
        this.seed = (seed ^ 0x5DEECE66DL) & (1L << 48) - 1;
        hasNext = false;
    }

    protected int next(int bits) {
        seed = seed * 0x5DEECE66DL + 0xBL & (1L << 48) - 1;
        return (int) (seed >>> 48 - bits);
    }

    public int nextInt() {
        return next(32);
    }

    public int nextInt(int bound) {
        if (bound <= 0) {
            throw new IllegalArgumentException("bound must be positive");
        }
        int bits = next(31);
        if ((bound & -bound) == bound) {
            return (int) (bound * (long) bits >> 31);
        }
        int value = bits % bound;
        while (bits - value + (bound - 1) < 0) {
            bits = next(31);
            value = bits % bound;
        }
        return value;
    }

    public long nextLong() {
        return ((long) next(32) << 32) + next(32);
    }

    public boolean nextBoolean() {
        return next(1) != 0;
    }

    public float nextFloat() {
        return next(24) / (float) (1 << 24);
    }

    public double nextDouble() {
        return (((long) next(26) << 27) + next(27)) * 0x1.0p-53;
    }

    public double nextGaussian() {
        if (hasNext) {
            hasNext = false;
            return next;
        }
        double a, b, s;
        do {
            a = 2 * nextDouble() - 1;
            b = 2 * nextDouble() - 1;
            s = a * a + b * b;
        } while (s >= 1 || s == 0);
        double factor = Math.sqrt(-2 * Math.log(s) / s);
        next = b * factor;
        hasNext = true;
        return a * factor;
    }
}
