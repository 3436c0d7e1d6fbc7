package java.util;

/** What maps have in common that know their entries. */
public abstract class AbstractMap<K, V> implements Map<K, V> {
    protected AbstractMap() {}

    public boolean containsValue(Object value) {
        return values().contains(value);
    }

    public void putAll(Map<? extends K, ? extends V> others) {
        for (Map.Entry<? extends K, ? extends V> entry : others.entrySet()) {
            put(entry.getKey(), entry.getValue());
        }
    }

    public int hashCode() {
        int hash = 0;
        for (Map.Entry<K, V> entry : entrySet()) {
            hash += entry.hashCode();
        }
        return hash;
    }

    public boolean equals(Object other) {
        if (other == this) {
            return true;
        }
        if (!(other instanceof Map) || ((Map<?, ?>) other).size() != size()) {
            return false;
        }
        try {
            return isWithin((Map<?, ?>) other);
        } catch (ClassCastException e) {
            return false;
        } catch (NullPointerException e) {
            return false;
        }
    }

    private boolean isWithin(Map<?, ?> other) {
        for (Map.Entry<K, V> entry : entrySet()) {
            V value = entry.getValue();
            if (!Objects.equals(value, other.get(entry.getKey()))
                || value == null && !other.containsKey(entry.getKey())) {
                return false;
            }
        }
        return true;
    }

    /** Whether there is an entry of this key and value. */
    boolean hasEntry(Object other) {
        if (!(other instanceof Map.Entry)) {
            return false;
        }
        Object key = ((Map.Entry<?, ?>) other).getKey(), value = ((Map.Entry<?, ?>) other).getValue();
        return containsKey(key) && Objects.equals(get(key), value);
    }

    private String text(Object part) {
        return part == this ? "(this Map)" : String.valueOf(part);
    }

    public String toString() {
        StringBuilder text = new StringBuilder("{");
        for (Map.Entry<K, V> entry : entrySet()) {
            if (text.length() > 1) {
                text.append(", ");
            }
            text.append(text(entry.getKey())).append('=').append(text(entry.getValue()));
        }
        return text.append('}').toString();
    }

    /** An entry of which one class keeps the table, and how it is compared and written. */
    abstract static class Node<K, V> implements Map.Entry<K, V> {
        public int hashCode() {
            return Objects.hashCode(getKey()) ^ Objects.hashCode(getValue());
        }

        public boolean equals(Object other) {
            return other instanceof Map.Entry && Objects.equals(getKey(), ((Map.Entry<?, ?>) other).getKey())
                && Objects.equals(getValue(), ((Map.Entry<?, ?>) other).getValue());
        }

        public String toString() {
            return getKey() + "=" + getValue();
        }
    }
}
