import java.util.*;

/** Which method a call runs. */
public class Dispatch {
    interface Shape {
        double area();

        default String name() {
            return "shape of " + area();
        }

        static Shape unit() {
            return new Square(1);
        }
    }

    interface Named extends Shape {
        default String name() {
            return "named " + area();
        }
    }

    static class Square implements Shape {
        final double side;

        Square(double side) {
            this.side = side;
        }

        public double area() {
            return side * side;
        }
    }

    static class Cube extends Square implements Named {
        Cube(double side) {
            super(side);
        }

        public double area() {
            return 6 * super.area();
        }
    }

    static abstract class Base implements Comparable<Base> {
        abstract int key();

        public int compareTo(Base other) {
            return key() - other.key();
        }

        private String secret() {
            return "base";
        }

        String tell() {
            return secret() + key();
        }

        static String which() {
            return "Base";
        }
    }

    static class One extends Base {
        int key() {
            return 1;
        }

        private String secret() {
            return "one";
        }

        static String which() {
            return "One";
        }
    }

    static class Two extends One {
        int key() {
            return super.key() + 1;
        }

        String tell() {
            return "two, " + super.tell();
        }
    }

    static String over(Object o) { return "object"; }
    static String over(String s) { return "string"; }
    static String over(long l) { return "long"; }
    static String over(Integer i) { return "integer"; }
    static String over(int... i) { return "ints" + i.length; }

    class Inner {
        int value = outer + 1;
    }

    int outer = 41;

    enum Op {
        ADD("+") {
            int apply(int a, int b) {
                return a + b;
            }
        },
        MUL("*") {
            int apply(int a, int b) {
                return a * b;
            }
        };

        final String sign;

        Op(String sign) {
            this.sign = sign;
        }

        abstract int apply(int a, int b);
    }

    static <T extends Comparable<T>> T most(List<T> all) {
        T most = null;
        for (T one : all) {
            if (most == null || one.compareTo(most) > 0) {
                most = one;
            }
        }
        return most;
    }

    static String choose(String text) {
        switch (text) {
            case "Aa": return "first";
            case "BB": return "second";
            case "other": return "third";
            default: return "none";
        }
    }

    static int sparse(int n) {
        switch (n) {
            case -1000000: return 1;
            case 0: return 2;
            case 7: return 3;
            case Integer.MAX_VALUE: return 4;
            default: return 5;
        }
    }

    static int dense(int n) {
        switch (n) {
            case 3: n += 10;
            case 4: n += 100; break;
            case 6: return 6;
            default: n = -n;
        }
        return n;
    }

    public static void main(String[] args) {
        Shape[] shapes = {new Square(2), new Cube(2), Shape.unit()};
        for (Shape shape : shapes) {
            System.out.println(shape.name() + " " + (shape instanceof Named) + " " + shape.getClass().getName());
        }
        List<Base> all = new ArrayList<Base>();
        all.add(new One());
        all.add(new Two());
        for (Base base : all) {
            System.out.println(base.tell());
        }
        System.out.println(most(all).key() + " " + Base.which() + " " + One.which());
        System.out.println(over("s") + over((Object) "s") + over(1) + over('c') + over(Integer.valueOf(1)) + over(1, 2));
        Dispatch dispatch = new Dispatch();
        Inner inner = dispatch.new Inner();
        System.out.println(inner.value);
        for (Op op : Op.values()) {
            System.out.println(op + op.sign + op.ordinal() + " " + op.apply(6, 7) + " " + Op.valueOf(op.name()).sign);
            switch (op) {
                case ADD: System.out.println("add"); break;
                case MUL: System.out.println("mul"); break;
            }
        }
        System.out.println(choose("Aa") + choose("BB") + choose("other") + choose("C#"));
        System.out.println(sparse(-1000000) + "" + sparse(0) + sparse(7) + sparse(Integer.MAX_VALUE) + sparse(8) + sparse(Integer.MIN_VALUE));
        System.out.println(dense(2) + " " + dense(3) + " " + dense(4) + " " + dense(5) + " " + dense(6) + " " + dense(7) + " " + dense(Integer.MIN_VALUE));
        Runnable runnable = new Runnable() {
            int calls;

            public void run() {
                System.out.println("run " + ++calls + " " + args.length);
            }
        };
        runnable.run();
        runnable.run();
        Object o = new int[0];
        System.out.println((o instanceof Cloneable) + " " + (o instanceof int[]) + " " + (o instanceof long[]) + " " + (o instanceof Object[]));
        o = new String[0][0];
        System.out.println((o instanceof Object[]) + " " + (o instanceof Object[][]) + " " + (o instanceof Comparable[][]) + " " + (o instanceof Integer[][]));
        System.out.println(new int[0][].getClass().getName() + " " + String[].class.getName() + " " + Op.ADD.getClass().getName());
    }
}
