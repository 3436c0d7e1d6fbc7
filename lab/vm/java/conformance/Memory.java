import java.util.*;

/** More than the heap holds: garbage, live structures, an error that is caught. */
public class Memory {
    static class Tree {
        Tree left, right;
        int depth;

        Tree(int depth) {
            this.depth = depth;
            if (depth > 0) {
                left = new Tree(depth - 1);
                right = new Tree(depth - 1);
            }
        }

        int count() {
            return left == null ? 1 : 1 + left.count() + right.count();
        }
    }

    static Object kept;

    static int fill() {
        ArrayList<byte[]> all = new ArrayList<byte[]>();
        int caught = 0;
        try {
            while (true) {
                all.add(new byte[100000]);
            }
        } catch (OutOfMemoryError e) {
            caught = all.size() > 3 ? 1 : 0;
        }
        return caught;
    }

    static void chain() {
        try {
            Object[] chain = null;
            while (true) {
                Object[] link = new Object[1000];
                link[0] = chain;
                chain = link;
            }
        } catch (OutOfMemoryError e) {
            kept = null;
        }
    }

    public static void main(String[] args) {
        Tree longest = new Tree(9);
        kept = longest;
        int sum = 0;
        for (int i = 0; i < 60; i++) {
            Tree tree = new Tree(7);
            sum += tree.count();
            String text = "";
            for (int j = 0; j < 20; j++) {
                text += j;
            }
            sum += text.length();
            long[][] rows = new long[10][20];
            rows[9][19] = sum;
            sum += (int) rows[9][19] % 3;
        }
        System.out.println(sum + " " + longest.count());
        System.out.println(fill() + fill());
        System.out.println(((Tree) kept).count());
        chain();
        System.out.println("full");
        try {
            System.out.println(new int[Integer.MAX_VALUE - 8].length);
        } catch (OutOfMemoryError e) {
            System.out.println("too large");
        }
        System.out.println(new Tree(5).count());
    }
}
