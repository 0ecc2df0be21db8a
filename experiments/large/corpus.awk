# Prints a made-up corpus of `tokens` tokens in columns: word, class, label. The same `seed` gives the same bytes with
# any awk. Word number r of `words` has a frequency in proportion to 1 / r, so pairs of words have the long tail that
# text has.
#
#   awk -v tokens=20000000 -v seed=1 -f corpus.awk > large.txt
BEGIN {
    if (!tokens) tokens = 200000
    if (!words) words = 150000
    x = 48271 * (seed ? seed : 1) % 2147483647
    spread = log(words)
    before = 0
    while (done < tokens) {
        length_ = 5 + int(draw() * 31)
        for (i = 0; i < length_ && done < tokens; i++) {
            r = int(exp(draw() * spread))
            class = r * 7919 % 40
            label = (class + (class % 3 == 0 ? before : 0)) % 9
            if (draw() < 0.04) label = int(draw() * 9)
            printf "w%d\tC%d\tL%d\n", r, class, label
            before = label
            done++
        }
        print ""
    }
}

# The generator of Park and Miller: products stay below 2^53, so doubles are exact.
function draw() {
    x = 16807 * x % 2147483647
    return x / 2147483647
}
