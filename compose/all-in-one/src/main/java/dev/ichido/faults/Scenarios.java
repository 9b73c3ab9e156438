package dev.ichido.faults;

import java.util.ArrayList;
import java.util.List;

/** All of them, in the order of the table. */
final class Scenarios {
  private Scenarios() {}

  static List<Scenario> all() {
    List<Scenario> all = new ArrayList<>(TheThirteen.all());
    all.addAll(FailureModes.all());
    all.addAll(RelayFaults.all());
    all.addAll(StreamsFaults.all());
    all.addAll(FailureModes.limits());
    return all;
  }
}
