/**
 * Traces rays through a scene of triangles: very many small objects that die at once, vectors and
 * rays, beside a tree of boxes that lives as long as the scene.
 *
 * All arithmetic is addition, multiplication, division and square roots, so every machine computes
 * the same picture.
 */
public class Raytrace {
    /** A point, a direction or a colour. */
    static final class Vector {
        final double x, y, z;

        Vector(double x, double y, double z) {
            this.x = x;
            this.y = y;
            this.z = z;
        }

        Vector plus(Vector o) {
            return new Vector(x + o.x, y + o.y, z + o.z);
        }

        Vector minus(Vector o) {
            return new Vector(x - o.x, y - o.y, z - o.z);
        }

        Vector times(double f) {
            return new Vector(x * f, y * f, z * f);
        }

        Vector times(Vector o) {
            return new Vector(x * o.x, y * o.y, z * o.z);
        }

        double dot(Vector o) {
            return x * o.x + y * o.y + z * o.z;
        }

        Vector cross(Vector o) {
            return new Vector(y * o.z - z * o.y, z * o.x - x * o.z, x * o.y - y * o.x);
        }

        double length() {
            return Math.sqrt(dot(this));
        }

        Vector unit() {
            return times(1 / length());
        }

        double get(int axis) {
            return axis == 0 ? x : axis == 1 ? y : z;
        }

        static Vector least(Vector a, Vector b) {
            return new Vector(Math.min(a.x, b.x), Math.min(a.y, b.y), Math.min(a.z, b.z));
        }

        static Vector most(Vector a, Vector b) {
            return new Vector(Math.max(a.x, b.x), Math.max(a.y, b.y), Math.max(a.z, b.z));
        }
    }

    static final class Ray {
        final Vector from, direction;

        Ray(Vector from, Vector direction) {
            this.from = from;
            this.direction = direction;
        }

        Vector at(double distance) {
            return from.plus(direction.times(distance));
        }
    }

    /** Where a ray meets a triangle. */
    static final class Hit {
        final double distance;
        final Triangle triangle;

        Hit(double distance, Triangle triangle) {
            this.distance = distance;
            this.triangle = triangle;
        }
    }

    static final class Material {
        final Vector colour;
        final double mirror;

        Material(Vector colour, double mirror) {
            this.colour = colour;
            this.mirror = mirror;
        }
    }

    /** Something that a ray may meet, nearer than a distance. */
    interface Body {
        Hit meet(Ray ray, double nearest);
        Vector least();
        Vector most();
    }

    static final class Triangle implements Body {
        final Vector a, ab, ac, normal;
        final Material material;

        Triangle(Vector a, Vector b, Vector c, Material material) {
            this.a = a;
            ab = b.minus(a);
            ac = c.minus(a);
            normal = ab.cross(ac).unit();
            this.material = material;
        }

        /** After Möller and Trumbore. */
        public Hit meet(Ray ray, double nearest) {
            Vector p = ray.direction.cross(ac);
            double determinant = ab.dot(p);
            if (determinant > -1e-9 && determinant < 1e-9) {
                return null;
            }
            Vector t = ray.from.minus(a);
            double u = t.dot(p) / determinant;
            if (u < 0 || u > 1) {
                return null;
            }
            Vector q = t.cross(ab);
            double v = ray.direction.dot(q) / determinant;
            if (v < 0 || u + v > 1) {
                return null;
            }
            double distance = ac.dot(q) / determinant;
            return distance > 1e-6 && distance < nearest ? new Hit(distance, this) : null;
        }

        public Vector least() {
            return Vector.least(a, Vector.least(a.plus(ab), a.plus(ac)));
        }

        public Vector most() {
            return Vector.most(a, Vector.most(a.plus(ab), a.plus(ac)));
        }
    }

    /** A box around two bodies. */
    static final class Box implements Body {
        private final Vector least, most;
        private final Body first, second;

        Box(Body first, Body second) {
            this.first = first;
            this.second = second;
            least = Vector.least(first.least(), second.least());
            most = Vector.most(first.most(), second.most());
        }

        private boolean isMet(Ray ray, double nearest) {
            double enter = 0, leave = nearest;
            for (int axis = 0; axis < 3; axis++) {
                double inverse = 1 / ray.direction.get(axis);
                double a = (least.get(axis) - ray.from.get(axis)) * inverse;
                double b = (most.get(axis) - ray.from.get(axis)) * inverse;
                enter = Math.max(enter, Math.min(a, b));
                leave = Math.min(leave, Math.max(a, b));
            }
            return enter <= leave + 1e-9;
        }

        public Hit meet(Ray ray, double nearest) {
            if (!isMet(ray, nearest)) {
                return null;
            }
            Hit one = first.meet(ray, nearest);
            Hit other = second.meet(ray, one == null ? nearest : one.distance);
            return other == null ? one : other;
        }

        public Vector least() {
            return least;
        }

        public Vector most() {
            return most;
        }
    }

    /** Puts bodies into boxes: sorted along one axis after another, half by half. */
    static Body tree(Body[] bodies, int from, int to, int axis) {
        if (to - from == 1) {
            return bodies[from];
        }
        sort(bodies, from, to, axis);
        int middle = (from + to) >>> 1, next = (axis + 1) % 3;
        return new Box(tree(bodies, from, middle, next), tree(bodies, middle, to, next));
    }

    /** By insertion, with smaller and smaller steps. */
    static void sort(Body[] bodies, int from, int to, int axis) {
        for (int gap = Math.max((to - from) / 3, 1); ; gap = Math.max(gap / 3, 1)) {
            for (int i = from + gap; i < to; i++) {
                Body body = bodies[i];
                double key = body.least().get(axis);
                int j = i;
                while (j - gap >= from && bodies[j - gap].least().get(axis) > key) {
                    bodies[j] = bodies[j - gap];
                    j -= gap;
                }
                bodies[j] = body;
            }
            if (gap == 1) {
                return;
            }
        }
    }

    /** A landscape of hills under some prisms. */
    static class Scene {
        private int seed = 99;
        private final java.util.ArrayList<Body> bodies = new java.util.ArrayList<Body>();
        final Vector light = new Vector(-6, 9, -7);
        final Body root;

        Scene(int size) {
            double[][] heights = new double[size + 1][size + 1];
            for (int i = 0; i <= size; i++) {
                for (int j = 0; j <= size; j++) {
                    double a = i - size * 0.3, b = j - size * 0.6;
                    heights[i][j] = 1.5 / (1 + (a * a + b * b) / size) + random(100) / 400.0;
                }
            }
            Material[] grass = {new Material(new Vector(0.3, 0.7, 0.3), 0), new Material(new Vector(0.5, 0.6, 0.2), 0.1)};
            for (int i = 0; i < size; i++) {
                for (int j = 0; j < size; j++) {
                    Vector a = corner(heights, i, j, size), b = corner(heights, i + 1, j, size);
                    Vector c = corner(heights, i, j + 1, size), d = corner(heights, i + 1, j + 1, size);
                    bodies.add(new Triangle(a, b, c, grass[(i + j) % 2]));
                    bodies.add(new Triangle(b, d, c, grass[(i + j) % 2]));
                }
            }
            for (int i = 0; i < size; i++) {
                prism(new Vector(random(800) / 100.0 - 4, 1 + random(200) / 100.0, random(800) / 100.0 - 4), 0.3 + random(40) / 100.0);
            }
            Body[] all = bodies.toArray(new Body[bodies.size()]);
            root = tree(all, 0, all.length, 0);
        }

        private int random(int bound) {
            seed = seed * 1103515245 + 12345;
            return (seed >>> 8) % bound;
        }

        private static Vector corner(double[][] heights, int i, int j, int size) {
            return new Vector(10.0 * i / size - 5, heights[i][j] - 1, 10.0 * j / size - 5);
        }

        private void prism(Vector centre, double size) {
            Material material = new Material(new Vector(random(100) / 100.0, random(100) / 100.0, random(100) / 100.0), random(3) * 0.3);
            Vector[] corners = {
                centre.plus(new Vector(0, size, 0)), centre.plus(new Vector(size, -size, size)),
                centre.plus(new Vector(-size, -size, size)), centre.plus(new Vector(0, -size, -size))
            };
            for (int i = 0; i < 4; i++) {
                bodies.add(new Triangle(corners[i], corners[(i + 1) % 4], corners[(i + 2) % 4], material));
            }
        }

        Vector colour(Ray ray, int depth) {
            Hit hit = root.meet(ray, 1e9);
            if (hit == null) {
                double up = ray.direction.y / 2 + 0.5;
                return new Vector(0.5 + 0.2 * up, 0.6 + 0.2 * up, 0.7 + 0.3 * up);
            }
            Vector point = ray.at(hit.distance), normal = hit.triangle.normal;
            if (normal.dot(ray.direction) > 0) {
                normal = normal.times(-1);
            }
            Material material = hit.triangle.material;
            Vector toLight = light.minus(point);
            double distance = toLight.length();
            Vector direction = toLight.times(1 / distance);
            double shade = 0.2;
            if (root.meet(new Ray(point, direction), distance) == null) {
                shade += 0.8 * Math.max(0, normal.dot(direction));
            }
            Vector colour = material.colour.times(shade);
            if (material.mirror > 0 && depth > 0) {
                Vector reflected = ray.direction.minus(normal.times(2 * normal.dot(ray.direction)));
                Vector seen = colour(new Ray(point, reflected.unit()), depth - 1);
                colour = colour.times(1 - material.mirror).plus(seen.times(material.mirror));
            }
            return colour;
        }
    }

    static int level(double value) {
        return (int) (255 * Math.min(1, Math.max(0, value)));
    }

    /** The colours of a line, in which each has three bytes. */
    static int[] line(Scene scene, int width, int y) {
        int height = width * 3 / 4;
        Vector eye = new Vector(0, 2.5, -9);
        int[] line = new int[width];
        for (int x = 0; x < width; x++) {
            Vector to = new Vector((x + 0.5) / width - 0.5, (0.5 - (y + 0.5) / height) * 0.75 - 0.12, 0.8);
            Vector colour = scene.colour(new Ray(eye, to.unit()), 3);
            line[x] = level(colour.x) << 16 | level(colour.y) << 8 | level(colour.z);
        }
        return line;
    }

    /** Prints every third line in characters, and a sum of all colours. */
    static void print(int[][] lines) {
        int sum = 0;
        for (int y = 0; y < lines.length; y++) {
            StringBuilder text = new StringBuilder();
            for (int colour : lines[y]) {
                int light = (colour >> 16) + (colour >> 8 & 255) + (colour & 255);
                sum = 31 * sum + colour;
                text.append(" .:-=+*#%@".charAt(light * 9 / 765));
            }
            if (y % 3 == 0) {
                System.out.println(text);
            }
        }
        System.out.println(lines[0].length + " x " + lines.length + ": " + sum);
    }

    public static void main(String[] args) {
        int width = args.length > 0 ? Integer.parseInt(args[0]) : 48;
        int size = args.length > 1 ? Integer.parseInt(args[1]) : 12;
        Scene scene = new Scene(size);
        int[][] lines = new int[width * 3 / 4][];
        for (int y = 0; y < lines.length; y++) {
            lines[y] = line(scene, width, y);
        }
        print(lines);
    }
}
