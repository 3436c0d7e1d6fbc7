package java.lang;

public class Runtime {
    private static final Runtime RUNTIME = new Runtime();

    private Runtime() {}

    private static native long used0();

    public static Runtime getRuntime() {
        return RUNTIME;
    }

    public void gc() {
        System.gc();
    }
}
