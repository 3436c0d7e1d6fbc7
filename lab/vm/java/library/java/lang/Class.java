package java.lang;

public final class Class<T> {
    private int number;

    private Class() {}

    private static native String name0(int number);
    private static native boolean isInstance0(int number, Object object);
    private static native Object[] constants0(int number);

    public String getName() {
        return name0(number);
    }

    public String getSimpleName() {
        String name = getName();
        int dollar = name.lastIndexOf('$');
        return name.substring(Math.max(dollar, name.lastIndexOf('.')) + 1);
    }

    public boolean isInstance(Object object) {
        return isInstance0(number, object);
    }

    public boolean desiredAssertionStatus() {
        return false;
    }

    Object[] constants() {
        return constants0(number);
    }

    public String toString() {
        return "class " + getName();
    }
}
