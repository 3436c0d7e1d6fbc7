package java.lang;

public abstract class Enum<E extends Enum<E>> implements Comparable<E>, java.io.Serializable {
    private final String name;
    private final int ordinal;

    protected Enum(String name, int ordinal) {
        this.name = name;
        this.ordinal = ordinal;
    }

    public final String name() {
        return name;
    }

    public final int ordinal() {
        return ordinal;
    }

    public String toString() {
        return name;
    }

    public final boolean equals(Object other) {
        return this == other;
    }

    public final int hashCode() {
        return super.hashCode();
    }

    public final int compareTo(E other) {
        return ordinal - ((Enum<?>) other).ordinal;
    }

    @SuppressWarnings("unchecked")
    public static <T extends Enum<T>> T valueOf(Class<T> type, String name) {
        Object[] all = type.constants();
        for (int i = 0; all != null && i < all.length; i++) {
            if (((Enum<?>) all[i]).name.equals(name)) {
                return (T) all[i];
            }
        }
        throw new IllegalArgumentException("No enum constant " + type.getName().replace('$', '.') + "." + name);
    }
}
