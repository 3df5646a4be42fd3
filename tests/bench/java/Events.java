import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/** Keys, JSON values and headers that depend on the seed alone, whatever the codec, magic or batch size. */
final class Events {
    private static final String[] KIND = {
        "page_view", "add_to_cart", "checkout", "search", "login", "logout", "impression", "click"};
    private static final String[] COUNTRY = {"DE", "FR", "US", "GB", "JP", "BR", "IN", "PL", "SE", "NL", "IT", "ES"};
    private static final String[] AGENT = {
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0",
        "okhttp/4.12.0", "python-requests/2.32.3"};
    private static final String[] WORD = (
        "alpha river stone cloud market garden silver winter signal paper window copper bridge forest "
        + "engine harbor candle velvet orange marble rocket shadow summer valley anchor basket circle dragon "
        + "empire feather glacier hammer island jungle kernel lantern meadow needle oyster pepper quartz ribbon "
        + "saddle temple").split(" ");

    private final SplittableRandom random;
    private final StringBuilder text = new StringBuilder(4096);

    Events(long seed) {
        random = new SplittableRandom(seed);
    }

    int next(int bound) {
        return random.nextInt(bound);
    }

    /** A size between half the mean and one and a half times it. */
    int size(int mean) {
        return (int) (mean * (0.5 + random.nextDouble()));
    }

    /** One JSON event of about {@code target} bytes: never below some 150, never 200 above. */
    byte[] value(long sequence, long timestamp, int target) {
        text.setLength(0);
        int user = next(50_000);
        text.append("{\"event_id\":\"");
        hex(16);
        text.append("\",\"seq\":").append(sequence).append(",\"ts\":").append(timestamp)
            .append(",\"type\":\"").append(pick(KIND))
            .append("\",\"user_id\":").append(user)
            .append(",\"country\":\"").append(COUNTRY[user % COUNTRY.length])
            .append("\",\"amount\":").append(next(100_000) / 100.0);
        if (target > 320) text.append(",\"user_agent\":\"").append(AGENT[user % AGENT.length]).append('"');
        if (target > 260) url();
        items(target);
        text.append(",\"ok\":").append(next(20) != 0).append('}');
        return bytes();
    }

    /** A key of exactly {@code size} bytes, one of some 50,000; null for size 0. */
    byte[] key(int size) {
        if (size <= 0) return null;
        text.setLength(0);
        text.append("k-").append(next(50_000));
        while (text.length() < size) text.append('x');
        text.setLength(size);
        return bytes();
    }

    Header[] headers(int count) {
        Header[] headers = new Header[count];
        for (int i = 0; i < count; i++) headers[i] = header(i);
        return headers;
    }

    private Header header(int i) {
        text.setLength(0);
        switch (i % 4) {
            case 0:
                hex(16);
                return new RecordHeader("trace-id", bytes());
            case 1:
                return new RecordHeader("content-type", "application/json".getBytes(StandardCharsets.UTF_8));
            case 2:
                return new RecordHeader("schema-version", new byte[] {0, 0, 0, (byte) (1 + next(3))});
            default:
                text.append(pick(COUNTRY));
                return new RecordHeader("source", bytes());
        }
    }

    private void url() {
        text.append(",\"url\":\"/shop/").append(pick(WORD)).append('/').append(next(20_000))
            .append("?ref=").append(pick(WORD)).append('"');
    }

    private void items(int target) {
        text.append(",\"items\":[");
        for (boolean first = true; text.length() < target - 90; first = false) {
            if (!first) text.append(',');
            text.append("{\"sku\":\"SKU-").append(100_000 + next(900_000)).append("\",\"name\":\"")
                .append(pick(WORD)).append(' ').append(pick(WORD))
                .append("\",\"qty\":").append(1 + next(5)).append(",\"price\":").append(next(20_000) / 100.0).append('}');
        }
        text.append(']');
    }

    private void hex(int count) {
        long bits = 0;
        for (int i = 0; i < count; i++) {
            if (i % 16 == 0) bits = random.nextLong();
            text.append(Character.forDigit((int) (bits & 15), 16));
            bits >>>= 4;
        }
    }

    private String pick(String[] from) {
        return from[next(from.length)];
    }

    private byte[] bytes() {
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }
}
