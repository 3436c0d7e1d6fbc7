/** When classes are initialised, and in which order. */
public class Initialisation {
    static StringBuilder log = new StringBuilder();

    static int say(String text, int value) {
        log.append(text).append(' ');
        return value;
    }

    static class A {
        static final int CONSTANT = 5;
        static final String TEXT = "text";
        static final Integer BOXED = say("A.BOXED", 6);
        static int number = say("A.number", 1);
        int field = say("A.field", 2);

        A() {
            say("A()", 0);
            call();
        }

        void call() {
            say("A.call", 0);
        }

        static void touch() {
            say("A.touch", 0);
        }
    }

    static class B extends A implements I {
        static int other = say("B.other", 3);
        int field = say("B.field", 4);

        B() {
            super();
            say("B()", field);
        }

        void call() {
            say("B.call" + field, 0);
        }
    }

    interface I {
        int SIDE = say("I.SIDE", 8);
    }

    static class C {
        static int c = D.d + say("C", 1);
    }

    static class D {
        static int d = C.c + say("D", 1);
    }

    static class Bad {
        static int bad = 1 / say("Bad", 0);
    }

    static class Worse extends Bad {
        static int worse = say("Worse", 1);
    }

    static class Ill {
        static int ill = 1 / say("Ill", 0);
    }

    static class Plain extends Ill {
    }

    static class Plainer extends Plain {
        static void touch() {
            say("Plainer.touch", 0);
        }
    }

    static class Late extends Ill {
        static int late = say("Late", 1);
    }

    static class Slow {
        static int slow = new Quick().value + say("Slow", 1);
        int value = say("new", 0);
    }

    static class Quick extends Slow {
    }

    static void attempt(String name, Runnable what) {
        try {
            what.run();
            say(name + " is ready", 0);
        } catch (LinkageError e) {
            say(name + ": " + e.getClass().getName() + " " + e.getMessage(), 0);
        }
        show();
    }

    static void broken() {
        for (int i = 0; i < 2; i++) {
            attempt("Plainer", new Runnable() {
                public void run() {
                    Plainer.touch();
                }
            });
            attempt("Plain", new Runnable() {
                public void run() {
                    new Plain();
                }
            });
            attempt("Late", new Runnable() {
                public void run() {
                    say("late", Late.late);
                }
            });
            attempt("Quick", new Runnable() {
                public void run() {
                    new Quick();
                }
            });
        }
    }

    static class Unused {
        static int unused = say("Unused", 0);
    }

    static void show() {
        System.out.println(log);
        log.setLength(0);
    }

    /** Its initialisation reads its own field by code outside of it, and fails. */
    static class ReadMeanwhile {
        static int value = 3;

        static {
            System.out.println("meanwhile " + readFromOutside());
            if (value == 3) {
                throw new IllegalStateException();
            }
        }
    }

    static int readFromOutside() {
        return ReadMeanwhile.value;
    }

    static void readAfterwards() {
        for (int i = 0; i < 2; i++) {
            try {
                System.out.println("afterwards " + (i == 0 ? new ReadMeanwhile().hashCode() : readFromOutside()));
            } catch (ExceptionInInitializerError e) {
                System.out.println("failed " + e.getCause());
            } catch (NoClassDefFoundError e) {
                System.out.println("not there");
            }
        }
    }

    public static void main(String[] args) {
        readAfterwards();
        say(A.TEXT, A.CONSTANT);
        show();
        Object none = new A[3];
        boolean is = none instanceof B[];
        show();
        System.out.println(B.number);
        show();
        new B();
        show();
        System.out.println(I.SIDE);
        show();
        System.out.println(C.c + " " + D.d);
        show();
        for (int i = 0; i < 2; i++) {
            try {
                System.out.println(Worse.worse);
            } catch (ExceptionInInitializerError e) {
                say("error " + e.getCause().getClass().getName(), 0);
            } catch (NoClassDefFoundError e) {
                say("gone", 0);
            }
            show();
        }
        broken();
        A.touch();
        System.out.println(A.BOXED + " " + (args == null ? Unused.unused : 0));
        show();
    }
}
