package java.lang;

public final class Math {
    public static final double PI = 3.14159265358979323846;
    public static final double E = 2.7182818284590452354;

    private Math() {}

    public static native double sin(double a);
    public static native double cos(double a);
    public static native double tan(double a);
    public static native double asin(double a);
    public static native double acos(double a);
    public static native double atan(double a);
    public static native double atan2(double y, double x);
    public static native double exp(double a);
    public static native double log(double a);
    public static native double log10(double a);
    public static native double sqrt(double a);
    public static native double cbrt(double a);
    public static native double pow(double a, double b);
    public static native double floor(double a);
    public static native double ceil(double a);
    public static native double rint(double a);

    private static java.util.Random random;

    public static double random() {
        if (random == null) {
            random = new java.util.Random();
        }
        return random.nextDouble();
    }

    public static double toRadians(double degrees) {
        return degrees * (PI / 180);
    }

    public static double toDegrees(double radians) {
        return radians * (180 / PI);
    }

    public static long round(double a) {
        double whole = floor(a);
        return (long) (a - whole >= 0.5 ? whole + 1 : whole);
    }

    public static int round(float a) {
        double whole = floor(a);
        return (int) (a - whole >= 0.5 ? whole + 1 : whole);
    }

    public static int abs(int a) {
        return a < 0 ? -a : a;
    }

    public static long abs(long a) {
        return a < 0 ? -a : a;
    }

    public static float abs(float a) {
        return a <= 0 ? 0 - a : a;
    }

    public static double abs(double a) {
        return a <= 0 ? 0 - a : a;
    }

    public static int max(int a, int b) {
        return a >= b ? a : b;
    }

    public static long max(long a, long b) {
        return a >= b ? a : b;
    }

    public static float max(float a, float b) {
        return (float) max((double) a, (double) b);
    }

    public static double max(double a, double b) {
        if (a != a) {
            return a;
        }
        if (a == 0 && b == 0) {
            return Double.doubleToRawLongBits(a) < 0 ? b : a;
        }
        return a >= b ? a : b;
    }

    public static int min(int a, int b) {
        return a <= b ? a : b;
    }

    public static long min(long a, long b) {
        return a <= b ? a : b;
    }

    public static float min(float a, float b) {
        return (float) min((double) a, (double) b);
    }

    public static double min(double a, double b) {
        if (a != a) {
            return a;
        }
        if (a == 0 && b == 0) {
            return Double.doubleToRawLongBits(a) < 0 ? a : b;
        }
        return a <= b ? a : b;
    }

    public static double signum(double d) {
        return d > 0 ? 1 : d < 0 ? -1 : d;
    }

    public static int floorMod(int a, int b) {
        int rest = a % b;
        return rest != 0 && (rest ^ b) < 0 ? rest + b : rest;
    }

    public static int floorDiv(int a, int b) {
        int quotient = a / b;
        return a % b != 0 && (a ^ b) < 0 ? quotient - 1 : quotient;
    }

    public static long floorMod(long a, long b) {
        long rest = a % b;
        return rest != 0 && (rest ^ b) < 0 ? rest + b : rest;
    }

    public static long floorDiv(long a, long b) {
        long quotient = a / b;
        return a % b != 0 && (a ^ b) < 0 ? quotient - 1 : quotient;
    }
}
