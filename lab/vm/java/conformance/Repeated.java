/** Classes of the library that are used first when there is no room, and again when there is. */
public class Repeated {
    static Object[] chain;
    static Object kept;
    static boolean isDeep;
    static int number;

    interface Attempt {
        void run();
    }

    /** Runs it when there is no room for one more array, and makes room. */
    static void full(Attempt attempt) {
        try {
            while (true) {
                Object[] link = new Object[1];
                link[0] = chain;
                chain = link;
            }
        } catch (OutOfMemoryError e) {
            try {
                attempt.run();
            } catch (OutOfMemoryError none) {
                number--;
            }
        }
        chain = null;
    }

    static void deep() {
        try {
            deep();
        } catch (StackOverflowError e) {
            if (!isDeep) {
                isDeep = true;
                try {
                    number = Short.valueOf((short) 5).intValue();
                } catch (StackOverflowError none) {
                    number = -1;
                }
            }
        }
    }

    static class Deeper {
        static int deeper = Repeated.again();
    }

    static int again() {
        return again() + 1;
    }

    public static void main(String[] args) {
        Attempt boxes = new Attempt() {
            public void run() {
                kept = Integer.valueOf(5);
            }
        };
        Attempt writes = new Attempt() {
            public void run() {
                kept = System.out;
            }
        };
        full(boxes);
        full(boxes);
        full(writes);
        deep();
        System.out.println(Integer.valueOf(7) + " " + Short.valueOf((short) 8));
        for (int i = 0; i < 2; i++) {
            try {
                System.out.println(Deeper.deeper);
            } catch (StackOverflowError e) {
                System.out.println("of the program: once");
            } catch (NoClassDefFoundError e) {
                System.out.println("and not again");
            }
        }
    }
}
