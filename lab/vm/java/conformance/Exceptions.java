import java.util.*;

/** What is thrown, where it is caught, and what runs on the way. */
public class Exceptions {
    static class Own extends Exception {
        final int number;

        Own(int number) {
            super("own " + number);
            this.number = number;
        }
    }

    static StringBuilder log = new StringBuilder();

    static int order(int n) throws Own {
        try {
            log.append("try").append(n).append(' ');
            if (n == 1) {
                throw new Own(n);
            }
            if (n == 2) {
                return n;
            }
            log.append("on ");
        } catch (Own e) {
            log.append("catch").append(e.number).append(' ');
            if (n == 1) {
                throw new Own(10 * n);
            }
        } finally {
            log.append("finally").append(n).append(' ');
            if (n == 4) {
                return -1;
            }
        }
        return 0;
    }

    static void provoke(int n) {
        Object[] objects = new String[1];
        Object nothing = args(0);
        int zero = n - n;
        switch (n) {
            case 0: System.out.println(1 / zero); break;
            case 1: System.out.println(1L % zero); break;
            case 2: System.out.println(nothing.toString()); break;
            case 3: int[][] empty = new int[2][0]; System.out.println(empty[1][zero]); break;
            case 4: System.out.println(new int[3][zero - 1].length); break;
            case 5: objects[0] = Integer.valueOf(1); break;
            case 6: System.out.println((String) (Object) Integer.valueOf(5)); break;
            case 7: System.out.println(new int[5][n - 5].clone()[7]); break;
            case 8: throw (RuntimeException) nothing;
            case 9: synchronized (nothing) { System.out.println(); } break;
            case 10: System.out.println(((int[]) nothing).length); break;
            case 11: System.out.println("abc".charAt(3)); break;
            case 12: System.out.println("abc".substring(2, 1)); break;
            case 13: System.out.println(Integer.parseInt("12x")); break;
            case 14: new ArrayList<String>().get(0); break;
            case 15: new ArrayList<String>().iterator().next(); break;
            case 16: new Stack<String>().pop(); break;
            case 17: List<Integer> list = new ArrayList<Integer>(Arrays.asList(1, 2, 3)); for (Integer i : list) { list.remove(i); } break;
            case 18: System.arraycopy(new int[2], 0, new int[2], 1, 2); break;
            case 19: System.arraycopy(new int[2], 0, new long[2], 0, 1); break;
            case 20: new LinkedList<String>().getFirst(); break;
            case 21: ((Runnable) (Object) "x").run(); break;
            case 22: ((long[]) nothing)[0] = 1; break;
            case 23: byte[] bytes = new byte[1]; bytes[-1] = 0; break;
            case 24: Enum.valueOf(Thing.class, "NONE"); break;
        }
    }

    enum Thing { ONE }

    static Object args(int n) {
        return null;
    }

    static int deep(int n) {
        return deep(n + 1) + 1;
    }

    static class Closed implements AutoCloseable {
        public void close() throws Own {
            log.append("closed ");
            throw new Own(7);
        }
    }

    public static void main(String[] args) {
        for (int n = 0; n < 6; n++) {
            try {
                log.append(order(n)).append(' ');
            } catch (Own e) {
                log.append(e.getMessage()).append(' ');
            }
        }
        System.out.println(log);
        for (int n = 0; n < 25; n++) {
            try {
                provoke(n);
                System.out.println(n + " nothing");
            } catch (ArrayStoreException e) {
                System.out.println(n + " store");
            } catch (RuntimeException e) {
                System.out.println(n + " " + e.getClass().getName());
            }
        }
        try {
            deep(0);
        } catch (StackOverflowError e) {
            System.out.println("deep " + (e instanceof VirtualMachineError));
        }
        log.setLength(0);
        try (Closed closed = new Closed()) {
            log.append("body ");
        } catch (Own e) {
            log.append(e.number);
        }
        System.out.println(log);
        try {
            throw new IllegalStateException("outer", new Own(3));
        } catch (RuntimeException e) {
            System.out.println(e + " / " + e.getCause());
        }
        Throwable plain = new Error();
        System.out.println(plain + " " + plain.getMessage());
    }
}
