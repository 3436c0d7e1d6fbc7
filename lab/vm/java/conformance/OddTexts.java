/** What texts, numbers, classes and throwables do where they are asked for odd things. */
public class OddTexts extends Odd {
    interface Sh {
    }

    enum En {
        A, B
    }

    /** The halves of a pair, one behind the other, are one character. */
    static void halves() {
        System.out.print('\ud83d');
        System.out.print('\ude00');
        System.out.print("\ud83d");
        System.out.println("\ude00\u00e9");
        System.out.print('\ude00');
        System.out.print('\ud83d');
        System.out.println();
        System.out.println("a\ud83db");
    }

    Object run(int number) {
        switch (number) {
            case 0:
                name = "concat null";
                return "abc".concat(null);
            case 1: {
                name = "setLength -1";
                StringBuilder b = new StringBuilder("ab");
                b.setLength(-1);
                return b.length();
            }
            case 2:
                name = "sb insert null";
                return new StringBuilder("ab").insert(1, (String)null);
            case 3:
                name = "sb insert 9";
                return new StringBuilder("ab").insert(9, "x");
            case 4:
                name = "sb insert -1";
                return new StringBuilder("ab").insert(-1, "x");
            case 5: {
                name = "reverse pair";
                String s = new StringBuilder("a\ud83d\ude00b").reverse().toString();
                return (int)s.charAt(1) + " " + (int)s.charAt(2);
            }
            case 6: {
                name = "getChars";
                "abc".getChars(2, 1, new char[9], 0);
                return "";
            }
            case 7:
                name = "parseInt radix 1";
                return Integer.parseInt("0", 1);
            case 8:
                name = "parseInt radix 0";
                return Integer.parseInt("5", 0);
            case 9:
                name = "parseInt radix 37";
                return Integer.parseInt("5", 37);
            case 10:
                name = "parseDouble hex";
                return Double.parseDouble("0x1.8p1");
            case 11:
                name = "parseDouble NaNd";
                return Double.parseDouble("NaNd");
            case 12:
                name = "parseDouble nbsp";
                return Double.parseDouble("\u00a01.5");
            case 13:
                name = "parseDouble ctl";
                return Double.parseDouble("\u00011.5");
            case 14:
                name = "simple anon";
                return new Object() {
                }.getClass().getSimpleName();
            case 15:
                name = "simple array";
                return new int[0].getClass().getSimpleName();
            case 16:
                name = "simple local";
                class Foo {
                }
                return new Foo().getClass().getSimpleName();
            case 17:
                name = "iface toString";
                return Sh.class.toString();
            case 18:
                name = "initCause twice";
                return new Exception("a", new Exception("b")).initCause(new Exception("c"));
            case 19: {
                name = "initCause self";
                Exception e = new Exception("a");
                return e.initCause(e);
            }
            case 20:
                name = "strasse";
                return "stra\u00dfe".toUpperCase().length();
            case 21:
                name = "upper y";
                return (int)Character.toUpperCase('\u00ff');
            case 22:
                name = "upper mu";
                return (int)Character.toUpperCase('\u00b5');
            case 23:
                name = "isLower aa";
                return Character.isLowerCase('\u00aa') + " " + Character.isLowerCase('\u00b5');
            case 24:
                name = "enum";
                return En.valueOf("C");
            case 25:
                name = "StrBuf insert";
                return new StringBuffer("abc").reverse();
            case 26: {
                name = "concat nothing";
                String s = "a";
                return s.concat("") == s;
            }
            case 27:
                name = "insert at end";
                return new StringBuilder("ab").insert(2, "c").insert(0, 'x');
            case 28: {
                name = "getChars beyond";
                "abc".getChars(2, 4, new char[9], 0);
                return "";
            }
            case 29: {
                name = "reverse halves";
                String s = new StringBuilder("\ude00\ud83d\ud83dx\ud83d\ude00").reverse().toString();
                String h = "";
                for (int i = 0; i < s.length(); i++) {
                    h += Integer.toHexString(s.charAt(i)) + " ";
                }
                return h;
            }
            case 30:
                name = "parseInt radix 36";
                return Integer.parseInt("-Zz", 36);
            case 31:
                name = "parseInt too large";
                return Integer.parseInt("2147483648");
            case 32:
                name = "parseLong radix";
                return Long.parseLong("0", 99);
            case 33:
                name = "parseDouble";
                return Double.parseDouble(" -1.5e3f ") + " " + Double.parseDouble("-0X1P-1074D") + Double.parseDouble("-NaN") + Float.parseFloat("0x1.000001p0");
            case 34:
                name = "parseDouble empty";
                return Double.parseDouble("");
            case 35:
                name = "parseFloat sign";
                return Float.parseFloat("+-1");
            case 36:
                name = "simple names";
                return String[][].class.getSimpleName() + Sh.class.getSimpleName() + OddTexts.class.getSimpleName() + new Object() {
                }.getClass().isInterface() + byte[].class.getSimpleName() + Sharp$Note.class.getSimpleName();
            case 37:
                name = "class names";
                return Runnable.class + " " + int[].class + " " + String.class + " " + new Runnable[0].getClass();
            case 38: {
                name = "cause";
                Exception e = new Exception("a");
                return e.getCause() + " " + e.initCause(null).getCause();
            }
            case 39:
                name = "cause after null";
                return new Exception("a", null).initCause(new Exception("b"));
            case 40: {
                name = "cause twice";
                Exception e = new Exception();
                e.initCause(new Exception("b"));
                return e.initCause(null);
            }
            case 41: {
                name = "cause of the machine";
                try {
                    return new int[-1];
                } catch (NegativeArraySizeException e) {
                    return e.getCause() + " " + e.initCause(new Exception("b")).getCause();
                }
            }
            case 42: {
                name = "letters";
                int h = 0;
                for (char c = 0; c < 256; c++) {
                    int kinds = (Character.isLowerCase(c) ? 1 : 0) + (Character.isUpperCase(c) ? 2 : 0) + (Character.isLetter(c) ? 4 : 0);
                    h = 31 * h + kinds + Character.toUpperCase(c) * 8 + Character.toLowerCase(c) * 16;
                }
                return h;
            }
            default:
                name = null;
                return null;
        }
    }

    public static void main(String[] args) {
        new OddTexts().say();
        halves();
    }
}

/** Says what each case returns, or which exception it throws. */
abstract class Odd {
    String name;

    /** Runs a case and says its name, which is null behind the last one. */
    abstract Object run(int number);

    void say() {
        for (int number = 0;; number++) {
            String text;
            try {
                text = String.valueOf(run(number));
            } catch (Throwable thrown) {
                text = "! " + thrown.getClass().getName();
            }
            if (name == null) {
                return;
            }
            System.out.println(name + ": " + text);
        }
    }
}

class Sharp$Note {
}
