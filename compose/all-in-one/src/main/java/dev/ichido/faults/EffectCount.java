package dev.ichido.faults;

import java.util.Map;

/**
 * How often each operation took effect, against how often it may.
 *
 * @param none operations without an effect
 * @param one those with one
 * @param more those with two and more
 * @param all effects in the remotes' books
 * @param duplicates effects beyond what an operation may have
 * @param lost effects that are missing
 * @param unasked operations that have an effect and that nobody published
 */
record EffectCount(
    long none, long one, long more, long all, long duplicates, long lost, long unasked) {
  static final EffectCount NOTHING = new EffectCount(0, 0, 0, 0, 0, 0, 0);

  /** How many effects one operation may have. */
  record Range(int least, int most) {
    static final Range ONCE = new Range(1, 1);
  }

  /**
   * Counts by the name under which the books know an operation.
   *
   * @param expected of each that was made
   * @param effects of each that has any
   */
  static EffectCount of(Map<String, Range> expected, Map<String, Integer> effects) {
    EffectCount sum = NOTHING;
    for (Map.Entry<String, Range> entry : expected.entrySet()) {
      int count = effects.getOrDefault(entry.getKey(), 0);
      Range may = entry.getValue();
      sum =
          sum.plus(
              new EffectCount(
                  count == 0 ? 1 : 0,
                  count == 1 ? 1 : 0,
                  count > 1 ? 1 : 0,
                  count,
                  Math.max(0, count - may.most()),
                  Math.max(0, may.least() - count),
                  0));
    }
    for (Map.Entry<String, Integer> entry : effects.entrySet()) {
      if (!expected.containsKey(entry.getKey())) {
        sum = sum.plus(new EffectCount(0, 0, 0, entry.getValue(), 0, 0, 1));
      }
    }
    return sum;
  }

  EffectCount plus(EffectCount other) {
    return new EffectCount(
        none + other.none,
        one + other.one,
        more + other.more,
        all + other.all,
        duplicates + other.duplicates,
        lost + other.lost,
        unasked + other.unasked);
  }
}
