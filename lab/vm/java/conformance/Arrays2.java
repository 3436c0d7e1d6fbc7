/** Arrays of every type, one and many dimensions, copies. */
public class Arrays2 {
    public static void main(String[] args) {
        boolean[] z = new boolean[9];
        byte[] b = new byte[9];
        char[] c = new char[9];
        short[] s = new short[9];
        int[] i = new int[9];
        long[] l = new long[9];
        float[] f = new float[9];
        double[] d = new double[9];
        String[] t = new String[9];
        for (int n = 0; n < 9; n++) {
            z[n] = n % 3 == 0;
            b[n] = (byte) (n * 37 - 128);
            c[n] = (char) (n * 8191 + 65);
            s[n] = (short) (n * 8191 - 32768);
            i[n] = n * 0x12345678;
            l[n] = n * 0x123456789abcdefL;
            f[n] = n / 3f;
            d[n] = n / 7.0;
            t[n] = "t" + n;
        }
        b[3] += 5; c[3]++; s[3] -= 7; i[3] *= 3; l[3] >>>= 2; f[3] %= 0.3f; d[3]--; z[3] ^= true; t[3] += "!";
        for (int n = 0; n < 9; n++) {
            System.out.println(z[n] + " " + b[n] + " " + (int) c[n] + " " + s[n] + " " + i[n] + " " + l[n] + " " + f[n] + " " + d[n] + " " + t[n]);
        }
        int[][][] cube = new int[3][4][];
        cube[1][2] = new int[] {1, 2, 3};
        System.out.println(cube.length + " " + cube[0].length + " " + (cube[0][0] == null) + " " + cube[1][2][2]);
        long[][] square = new long[5][5];
        for (int a = 0; a < 5; a++) {
            for (int e = 0; e < 5; e++) {
                square[a][e] = a * 10 + e;
            }
        }
        long sum = 0;
        for (long[] row : square) {
            for (long one : row) {
                sum += one;
            }
        }
        System.out.println(sum);
        char[] copy = c.clone();
        copy[0] = 'x';
        System.out.println(c[0] + " " + copy[0] + " " + copy.length);
        System.arraycopy(i, 0, i, 2, 7);
        System.arraycopy(b, 3, b, 0, 6);
        System.arraycopy(t, 0, t, 1, 8);
        System.arraycopy(t, 4, t, 2, 3);
        StringBuilder text = new StringBuilder();
        for (int n = 0; n < 9; n++) {
            text.append(i[n]).append(' ').append(b[n]).append(' ').append(t[n]).append(' ');
        }
        System.out.println(text);
        Object[] objects = new Object[4];
        System.arraycopy(t, 0, objects, 0, 4);
        objects[2] = Integer.valueOf(3);
        try {
            System.arraycopy(objects, 0, t, 0, 4);
        } catch (ArrayStoreException e) {
            System.out.println("stopped at " + t[0] + t[1] + t[2]);
        }
        int n = 0;
        int[] order = new int[4];
        order[n++] = n++ + n;
        order[n] = order[n = 3] = 9;
        System.out.println(order[0] + " " + order[1] + " " + order[2] + " " + order[3]);
    }
}
