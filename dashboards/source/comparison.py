"""comparison.json: locks side by side, the last run of each in the shown range.

A table measures one lock after the other, so all but one of them are over: hence last_over_time.
"""

from grafana import (ROW, ROW_LEGEND, bars, dashboard, last, lines, now, of_run,
                     over_time, quantile, quantile_of_run, rate, row, table, total)

ACQUIRE = "lockmark_acquire_duration_seconds"
HANDOFF = "lockmark_handoff_duration_seconds"

# Of several processes of one lock: together.
GRANTS = total(rate("lockmark_grants_total"), ROW)
# Of the whole window, as in run.json.
WINDOW = f"max by ({ROW}) ({last('lockmark_run_window_seconds')})"
MEAN_GRANTS = f"{total(last('lockmark_grants_total'), ROW)} / {WINDOW}"
GRANTED = last("lockmark_attempts_total", 'outcome="granted"')
SUCCESS = f"{total(GRANTED, ROW)} / {total(last('lockmark_attempts_total'), ROW)}"
VIOLATIONS = total(last("lockmark_violations_total", 'kind!="possible"'), ROW)
FAIRNESS = f"avg by ({ROW}) ({last('lockmark_fairness_ratio')})"


def grown(metric):
    return total(f"increase({of_run(metric)}[$__range])", ROW)


COMMANDS = f"{grown('lockmark_client_commands_total')} / {grown('lockmark_grants_total')}"
FIGURES = f"max by ({ROW}, figure) ({last('lockmark_run_figure')})"
VALIDITY = f"max by ({ROW}, verdict) ({last('lockmark_run_validity')}) == 1"


def response(q):
    return quantile_of_run(q, ACQUIRE, 'phase="response"')


def side_by_side():
    return [
        table("Locks side by side", "The last run of each lock in the shown range, several "
              "processes together. Quantiles are of all attempts and by buckets, 60 s for one "
              "among those that were not granted; the run folders have the exact ones.", [
                  ("lock", None, None), ("topology", None, None), ("scenario", None, None),
                  ("violations", "none", now(VIOLATIONS, "")),
                  ("figures", None, now(VALIDITY, "")),
                  ("success", "percentunit", now(SUCCESS, "")),
                  ("grants/s", "ops", now(MEAN_GRANTS, "")),
                  ("p50", "s", now(response(0.5), "")),
                  ("p99", "s", now(response(0.99), "")),
                  ("p99.9", "s", now(response(0.999), "")),
                  ("hand-off p50", "s",
                   now(quantile_of_run(0.5, HANDOFF, 'kind="transfer"'), "")),
                  ("fairness", "none", now(FAIRNESS, "")),
                  ("commands per grant", "short", now(COMMANDS, ""))], height=10),
        bars("Grants per second", "ops", "Mean of the whole window.",
             [now(MEAN_GRANTS, ROW_LEGEND)]),
        bars("Response p50", "s", "From when an attempt was due to its grant; half of the "
             "attempts took no longer.", [now(response(0.5), ROW_LEGEND)]),
        bars("Response p99", "s", "99 of 100 attempts took no longer; 60 s: more than one "
             "in 100 was not granted.",
             [now(response(0.99), ROW_LEGEND)]),
        bars("Success", "percentunit", "Attempts that got the lock, of all that ended.",
             [now(SUCCESS, ROW_LEGEND)], max=1),
        bars("Hand-off p50", "s", "From the sending of a release to the next grant of that key to "
             "another client.",
             [now(quantile_of_run(0.5, HANDOFF, 'kind="transfer"'), ROW_LEGEND)]),
        bars("Commands per grant", "short", "What clients sent. A server may count more, where it "
             "counts the commands inside a script.", [now(COMMANDS, ROW_LEGEND)]),
        table("Figures of ended runs", "Each figure of run.json, exact and over all attempts, "
              "under the name that --fail and claims give it. Times in seconds, shares as "
              "ratios.", [
                  ("lock", None, None), ("topology", None, None), ("scenario", None, None),
                  ("figure", None, None), ("value", "none", now(FIGURES, ""))]),
    ]


def over_the_range():
    return [
        row("Over time"),
        lines("Grants", "ops", "Grants per second of each lock.", [over_time(GRANTS, ROW_LEGEND)],
              width=12),
        lines("Response p99", "s", "Of all attempts of the last seconds, by buckets.",
              [over_time(quantile(0.99, ACQUIRE, 'phase="response"', by=ROW), ROW_LEGEND)],
              width=12),
        lines("Fairness", "none", "Jain's index of grants per client in short windows: 1 is even, "
              "1/clients is one client having it all.",
              [over_time(f"avg by ({ROW}) ({of_run('lockmark_fairness_ratio')})", ROW_LEGEND)],
              width=12, max=1),
        lines("Violations", "short", "Proofs that a lock is none.",
              [over_time(total(of_run("lockmark_violations_total", 'kind!="possible"'), ROW),
                         ROW_LEGEND)], width=12),
    ]


def dashboard_json():
    return dashboard(
        "lockmark-comparison", "lockmark: comparison",
        "Locks side by side: the last run of each in the shown range, one after the other from a "
        "table or at once from several processes. Do not rank what is INVALID, nor a bound below "
        "a measured lock.", side_by_side() + over_the_range(), "now-1h")
