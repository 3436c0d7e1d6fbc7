/** What names mean: of fields and methods that more than one class or interface has. */
public class Names {
    static class Above {
        private Object of = "superclass";
        static String hidden = "superclass";
    }

    interface Beside {
        Object of = new String("interface");
    }

    interface Lower extends Beside {
        Object lower = new String("lower");
    }

    static class Below extends Above implements Lower {
        Object own() {
            return of + " " + lower + " " + hidden;
        }
    }

    interface Hides {
        String kept = new String("hidden");
    }

    static class Middle implements Hides {
        static String kept = "of the class";
    }

    static class Last extends Middle {
        static String get() {
            return kept;
        }
    }

    interface Waits {
        String wait0(boolean is);
    }

    interface WaitsToo extends Waits {
    }

    static class Waiting implements WaitsToo {
        public String wait0(boolean is) {
            return "its own wait0 " + is;
        }
    }

    static class Letters {
        int \ud835\udcb3 = 5;

        int \ud835\udcb3\ud835\udcb4(int \ud835\udcb5) {
            return \ud835\udcb3 * \ud835\udcb5;
        }
    }

    public static void main(String[] args) {
        System.out.println(new Below().own());
        System.out.println(Below.of);
        System.out.println(Last.get());
        WaitsToo waits = new Waiting();
        System.out.println(waits.wait0(true));
        System.out.println(waits.hashCode() == ((Object) waits).hashCode());
        System.out.println(new Letters().\ud835\udcb3\ud835\udcb4(4));
    }
}
