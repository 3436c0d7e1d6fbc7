package java.util;

public interface Map<K, V> {
    int size();
    boolean isEmpty();
    boolean containsKey(Object key);
    boolean containsValue(Object value);
    V get(Object key);
    V put(K key, V value);
    V remove(Object key);
    void putAll(Map<? extends K, ? extends V> others);
    void clear();
    Set<K> keySet();
    Collection<V> values();
    Set<Map.Entry<K, V>> entrySet();

    default V getOrDefault(Object key, V other) {
        V value = get(key);
        return value != null || containsKey(key) ? value : other;
    }

    default V putIfAbsent(K key, V value) {
        V known = get(key);
        return known != null ? known : put(key, value);
    }

    interface Entry<K, V> {
        K getKey();
        V getValue();
        V setValue(V value);
    }
}
