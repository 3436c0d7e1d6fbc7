import org.apache.oro.text.regex.MatchResult;
import org.apache.oro.text.regex.Pattern;
import org.apache.oro.text.regex.PatternMatcherInput;
import org.apache.oro.text.regex.Perl5Compiler;
import org.apache.oro.text.regex.Perl5Matcher;
import org.apache.oro.text.regex.Perl5Substitution;
import org.apache.oro.text.regex.Util;
import org.apache.regexp.RE;

/** Matches generated text by two public libraries of regular expressions, oro and regexp. */
public class Patterns {
    private static final String[] PATTERNS = {
        "\\b([a-z]+)@([a-z]+)\\.(com|org)\\b", "(\\d+)-(\\d+)", "([aeiou])[^aeiou]+\\1", "(?:ab|cd)+e?",
        "^[a-z]{3,5}\\s", "x*y+z", "[^ ]+ing\\b"
    };
    private static int seed = 7;

    static int random(int bound) {
        seed = seed * 1103515245 + 12345;
        return (seed >>> 8) % bound;
    }

    static String text(int words) {
        StringBuffer text = new StringBuffer();
        for (int i = 0; i < words; i++) {
            switch (random(8)) {
                case 0:
                    text.append(word()).append('@').append(word()).append(random(2) == 0 ? ".com" : ".org");
                    break;
                case 1:
                    text.append(random(1000)).append('-').append(random(1000));
                    break;
                case 2:
                    text.append(word()).append("ing");
                    break;
                default:
                    text.append(word());
            }
            text.append(' ');
        }
        return text.toString();
    }

    static String word() {
        StringBuffer word = new StringBuffer();
        for (int i = 2 + random(6); i > 0; i--) {
            word.append((char) ('a' + random(26)));
        }
        return word.toString();
    }

    static String oro(String expression, String text) throws Exception {
        Pattern pattern = new Perl5Compiler().compile(expression, Perl5Compiler.CASE_INSENSITIVE_MASK);
        Perl5Matcher matcher = new Perl5Matcher();
        PatternMatcherInput input = new PatternMatcherInput(text);
        int count = 0, hash = 0;
        while (matcher.contains(input, pattern)) {
            MatchResult found = matcher.getMatch();
            count++;
            hash = 31 * hash + found.toString().hashCode() + found.groups() * found.beginOffset(0);
        }
        String replaced = Util.substitute(matcher, pattern, new Perl5Substitution("<$0>"), text, Util.SUBSTITUTE_ALL);
        return count + " " + hash + " " + replaced.hashCode();
    }

    static String regexp(String expression, String text) throws Exception {
        RE pattern = new RE(expression, RE.MATCH_CASEINDEPENDENT);
        int count = 0, hash = 0;
        for (int from = 0; pattern.match(text, from); count++) {
            hash = 31 * hash + pattern.getParen(0).hashCode() + pattern.getParenCount() * pattern.getParenStart(0);
            from = Math.max(pattern.getParenEnd(0), from + 1);
        }
        return count + " " + hash + " " + pattern.subst(text, "#").hashCode() + " " + pattern.split(text).length;
    }

    public static void main(String[] args) throws Exception {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 5;
        for (int round = 0; round < rounds; round++) {
            String text = text(300 + random(300));
            for (int i = 0; i < PATTERNS.length; i++) {
                System.out.println(round + " " + i + ": " + oro(PATTERNS[i], text));
                if (PATTERNS[i].indexOf("?:") < 0) {
                    System.out.println(round + " " + i + ": " + regexp(PATTERNS[i], text));
                }
            }
        }
    }
}
