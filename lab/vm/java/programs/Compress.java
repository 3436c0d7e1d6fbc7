/**
 * Compresses generated texts by Lempel, Ziv and Welch, and expands them again: few objects, and
 * most bytes in large arrays.
 *
 * A code has 9 to 16 bits. The dictionary is a hash table of pairs: a code and the byte behind it.
 * When it is full and the ratio falls, it begins anew.
 */
public class Compress {
    static final int CLEAR = 256;
    static final int FIRST = 257;
    static final int LEAST_BITS = 9;
    static final int MOST_BITS = 16;

    /** A stream of bytes in memory, which grows. */
    static class Bytes {
        byte[] data = new byte[1024];
        int size;

        void put(int b) {
            if (size == data.length) {
                byte[] larger = new byte[2 * data.length];
                System.arraycopy(data, 0, larger, 0, size);
                data = larger;
            }
            data[size++] = (byte) b;
        }

        /** Adler's checksum. */
        int sum() {
            int a = 1, b = 0;
            for (int i = 0; i < size; i++) {
                a = (a + (data[i] & 255)) % 65521;
                b = (b + a) % 65521;
            }
            return b << 16 | a;
        }
    }

    /** Codes of different lengths, behind each other. */
    static class Writer {
        final Bytes bytes = new Bytes();
        private int word;
        private int bits;

        void put(int code, int width) {
            word |= code << bits;
            bits += width;
            while (bits >= 8) {
                bytes.put(word & 255);
                word >>>= 8;
                bits -= 8;
            }
        }

        void end() {
            if (bits > 0) {
                bytes.put(word & 255);
            }
        }
    }

    static class Reader {
        private final Bytes bytes;
        private int at;
        private int word;
        private int bits;

        Reader(Bytes bytes) {
            this.bytes = bytes;
        }

        /** The next code; -1 at the end. */
        int get(int width) {
            while (bits < width) {
                if (at == bytes.size) {
                    return -1;
                }
                word |= (bytes.data[at++] & 255) << bits;
                bits += 8;
            }
            int code = word & (1 << width) - 1;
            word >>>= width;
            bits -= width;
            return code;
        }
    }

    /** Pairs of a code and a byte, and the code of each, by open addressing. */
    static class Dictionary {
        /** Primes, each above a power of two: the first above 2 to the 9. */
        static final int[] SIZES = {541, 1091, 2161, 4327, 8627, 17257, 34511, 69001};
        private final int size;
        private final int[] pairs;
        private final short[] codes;
        int next;

        Dictionary(int mostBits) {
            size = SIZES[mostBits - LEAST_BITS];
            pairs = new int[size];
            codes = new short[size];
            clear();
        }

        void clear() {
            for (int i = 0; i < size; i++) {
                pairs[i] = -1;
            }
            next = FIRST;
        }

        private int place(int pair) {
            int place = (pair ^ pair >>> 11) % size;
            int step = place == 0 ? 1 : size - place;
            while (pairs[place] != -1 && pairs[place] != pair) {
                place -= step;
                if (place < 0) {
                    place += size;
                }
            }
            return place;
        }

        /** The code of a pair; -1 if it has none. */
        int find(int code, int b) {
            int place = place(code << 8 | b);
            return pairs[place] == -1 ? -1 : codes[place] & 0xffff;
        }

        void add(int code, int b) {
            int pair = code << 8 | b, place = place(pair);
            pairs[place] = pair;
            codes[place] = (short) next++;
        }
    }

    static class Compressor {
        static final int CHECKED = 10000;
        private final int mostBits;
        private final int dictionaryBits;
        private int width = LEAST_BITS;
        int clears;

        Compressor(int mostBits, int dictionaryBits) {
            this.mostBits = mostBits;
            this.dictionaryBits = dictionaryBits;
        }

        Bytes run(Bytes in) {
            Writer out = new Writer();
            Dictionary dictionary = new Dictionary(dictionaryBits);
            int limit = 1 << mostBits, check = CHECKED;
            long best = 0;
            int code = in.data[0] & 255;
            for (int i = 1; i < in.size; i++) {
                int b = in.data[i] & 255;
                int longer = dictionary.find(code, b);
                if (longer >= 0) {
                    code = longer;
                    continue;
                }
                out.put(code, width);
                if (dictionary.next < limit) {
                    dictionary.add(code, b);
                    if (dictionary.next > 1 << width && width < mostBits) {
                        width++;
                    }
                } else if (i >= check) {
                    // It is full: as long as it serves as well as before, it stays.
                    check = i + CHECKED;
                    long ratio = ((long) i << 16) / out.bytes.size;
                    if (ratio > best) {
                        best = ratio;
                    } else {
                        out.put(CLEAR, width);
                        dictionary.clear();
                        width = LEAST_BITS;
                        best = 0;
                        clears++;
                    }
                }
                code = b;
            }
            out.put(code, width);
            out.end();
            return out.bytes;
        }
    }

    static class Expander {
        private final int mostBits;
        private final int[] prefixes;
        private final byte[] suffixes;
        private final byte[] stack;

        Expander(int mostBits) {
            this.mostBits = mostBits;
            prefixes = new int[1 << mostBits];
            suffixes = new byte[1 << mostBits];
            stack = new byte[1 << mostBits];
            for (int i = 0; i < 256; i++) {
                suffixes[i] = (byte) i;
            }
        }

        Bytes run(Bytes in) {
            Bytes out = new Bytes();
            Reader reader = new Reader(in);
            int width = LEAST_BITS, next = FIRST, limit = 1 << mostBits;
            int last = reader.get(width), first = last;
            out.put(first);
            for (int code = reader.get(width); code >= 0; code = reader.get(width)) {
                if (code == CLEAR) {
                    width = LEAST_BITS;
                    next = FIRST;
                    last = first = reader.get(width);
                    out.put(first);
                    continue;
                }
                int depth = 0, at = code;
                if (code >= next) {
                    // The code that the compressor made just now.
                    stack[depth++] = (byte) first;
                    at = last;
                }
                while (at >= FIRST) {
                    stack[depth++] = suffixes[at];
                    at = prefixes[at];
                }
                first = at;
                out.put(first);
                while (depth > 0) {
                    out.put(stack[--depth]);
                }
                if (next < limit) {
                    prefixes[next] = last;
                    suffixes[next] = (byte) first;
                    next++;
                    // The compressor is one pair ahead.
                    if (next + 1 > 1 << width && width < mostBits) {
                        width++;
                    }
                }
                last = code;
            }
            return out;
        }
    }

    /** Words with frequencies as in a language, in sentences; some tables of numbers; noise. */
    static class Source {
        private int seed;
        private final String[] words;

        Source(int seed, int count) {
            this.seed = seed;
            words = new String[count];
            for (int i = 0; i < words.length; i++) {
                StringBuilder word = new StringBuilder();
                int length = 2 + random(4) + random(5);
                for (int j = 0; j < length; j++) {
                    word.append((j + i) % 2 == 0 ? "aeiou".charAt(random(5)) : "bcdfghklmnprstvw".charAt(random(16)));
                }
                words[i] = word.toString();
            }
        }

        int random(int bound) {
            seed = seed * 1103515245 + 12345;
            return (seed >>> 8) % bound;
        }

        private void put(Bytes out, String text) {
            for (int i = 0; i < text.length(); i++) {
                out.put(text.charAt(i));
            }
        }

        Bytes text(int size) {
            Bytes out = new Bytes();
            while (out.size < size) {
                int kind = random(20);
                if (kind == 0) {
                    for (int i = 0; i < 40; i++) {
                        put(out, Integer.toString(random(1000)));
                        out.put(i % 8 == 7 ? '\n' : '\t');
                    }
                } else if (kind == 1) {
                    for (int i = 0; i < 200; i++) {
                        out.put(random(256));
                    }
                } else {
                    int count = 4 + random(12);
                    for (int i = 0; i < count; i++) {
                        // The smaller of numbers that are smaller each: some words are frequent.
                        put(out, words[random(1 + random(1 + random(words.length)))]);
                        put(out, i == count - 1 ? ".\n" : random(7) == 0 ? ", " : " ");
                    }
                }
            }
            return out;
        }
    }

    static boolean same(Bytes a, Bytes b) {
        if (a.size != b.size) {
            return false;
        }
        for (int i = 0; i < a.size; i++) {
            if (a.data[i] != b.data[i]) {
                return false;
            }
        }
        return true;
    }

    public static void main(String[] args) {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 10;
        // Of a smaller run, codes, texts and their words: half as much for each bit.
        int bits = args.length > 1 ? Integer.parseInt(args[1]) : MOST_BITS, smaller = MOST_BITS - bits;
        Source source = new Source(12345, 2000 >> smaller);
        long in = 0, out = 0;
        for (int round = 0; round < rounds; round++) {
            Bytes text = source.text(20000 + 30000 * (round % 4) >> smaller);
            int mostBits = Math.max(LEAST_BITS, bits - 4 + round % 5);
            Compressor compressor = new Compressor(mostBits, bits);
            Bytes packed = compressor.run(text);
            Bytes again = new Expander(mostBits).run(packed);
            if (!same(text, again)) {
                System.out.println("round " + round + ": what was expanded differs");
                return;
            }
            in += text.size;
            out += packed.size;
            System.out.println("round " + round + ": " + text.size + " -> " + packed.size + " bytes, " + mostBits
                + " bits, " + compressor.clears + " clears, sums " + text.sum() + " " + packed.sum());
        }
        System.out.println(in + " -> " + out + " bytes");
    }
}
