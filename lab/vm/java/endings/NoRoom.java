/** A constant for which there is no room, in a superclass: nothing of the class itself has run. */
public class NoRoom extends Constants {
    static {
        System.out.println("begun");
    }

    public static void main(String[] args) {
        System.out.println("runs");
    }
}

class Constants {
    static final String SHORT = "sixteen letters.";
    static final String LONG = SHORT + SHORT + SHORT + SHORT + SHORT + SHORT + SHORT + SHORT;
    static final String LONGER = LONG + LONG + LONG + LONG + LONG + LONG + LONG + LONG;
    static final String LONGEST = LONGER + LONGER + LONGER + LONGER + LONGER + LONGER + LONGER + LONGER
        + LONGER + LONGER + LONGER + LONGER + LONGER + LONGER + LONGER + LONGER
        + LONGER + LONGER + LONGER + LONGER + LONGER + LONGER + LONGER + LONGER
        + LONGER + LONGER + LONGER + LONGER + LONGER + LONGER + LONGER + LONGER
        + LONGER + LONGER + LONGER + LONGER + LONGER + LONGER + LONGER + LONGER;
}
