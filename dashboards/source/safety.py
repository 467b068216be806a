"""safety.json: was it a lock, what went wrong, and how long until it worked again?"""

from grafana import (GREEN, GREY, RED, ROW, ROW_LEGEND, dashboard, from_on, last, lines, means,
                     measuring, now, number, of_run, over_time, rate, row, states, table,
                     thresholds, total)

RUN = "{{lock}} on {{topology}}, {{scenario}}"
BAD_IF_ANY = thresholds((None, GREEN), (1, RED))

# irate looks at the last two samples only: it is 0 as soon as one second went by without a grant.
GRANTS_NOW = total(f"irate({of_run('lockmark_grants_total')}[$__rate_interval])", ROW)
UNSERVED = f"time() - max_over_time(timestamp({GRANTS_NOW} > 0)[2m:1s])"
SECONDS_WITHOUT = f"count_over_time(({measuring(f'{GRANTS_NOW} == 0')})[$__range:1s])"


def counted(kind):
    return total(last("lockmark_violations_total", f'kind="{kind}"'))


def headline():
    shown = [
        ("Two holders at once", "certain", "Holds of one key that overlapped by more than the "
         "error of the clocks, since the load began."),
        ("Stale tokens", "stale_token", "Grants whose fencing token was not above the last one: "
         "the resource would take an older holder for a newer one."),
        ("Lost updates", "lost_update", "Commits of optimistic locks that overwrote another."),
        ("Broken promises", "broken_promise", "Nested acquires or releases that a reentrant lock "
         "refused."),
        ("Possible overlaps", "possible", "Overlaps shorter than the error of the clocks. They "
         "prove nothing and do not count."),
    ]
    found = [number(title, "none", what, [now(counted(kind), kind)], thresholds=BAD_IF_ANY)
             for title, kind, what in shown]
    chances = total(last("lockmark_chances_total"))
    return [*found, number(
        "Chances to go wrong", "short", "Requests that met another client's hold, at which a wrong "
        "grant would have been seen. After n of them without a violation, fewer than 3 in n go "
        "wrong, with 95 % confidence; after none, the lock was not tested.",
        [now(chances, "requests that met a hold")])]


def violations():
    kinds = total(of_run("lockmark_violations_total"), "kind")
    return [
        row("Violations and doubts"),
        lines("Violations by kind", "short", "Since the load began. Any of them but a possible "
              "one proves that the lock is none.", [over_time(kinds, "{{kind}}")]),
        lines("Attempts in doubt", "ops", "Attempts of which nobody can know whether they got the "
              "lock (no answer, connection lost), and those that found no server.",
              [over_time(total(rate("lockmark_attempts_total",
                                    'outcome=~"doubt_deadline|doubt_lost|unavailable"'),
                               "outcome"), "{{outcome}}")]),
        table("Verdict of each run", "The last run of each lock in the shown range.", [
            ("lock", None, None), ("topology", None, None), ("scenario", None, None),
            ("violations", "none",
             now(total(last("lockmark_violations_total", 'kind!="possible"'), ROW), "")),
            ("owner changes", "short", now(total(last("lockmark_transfers_total"), ROW), "")),
            ("chances", "short", now(total(last("lockmark_chances_total"), ROW), "")),
            ("longest gap", "s", now(f"max by ({ROW}) ({last('lockmark_longest_gap_seconds')})",
                                     ""))], width=8, height=8),
    ]


def leases():
    return [
        row("Leases and releases"),
        lines("Renewals", "ops", "Extended leases. One that was lost: the hold went on without the "
              "lock.", [over_time(total(rate("lockmark_renewals_total"), "outcome"),
                                  "{{outcome}}")]),
        lines("Renewals lost or late", "short", "Lost: another had the lock, or nobody. Late: it "
              "came after the lease could have ended. Since the window began.",
              [over_time(of_run("lockmark_renewals_total", 'outcome="lost"'), f"{RUN}, lost"),
               over_time(of_run("lockmark_renewals_late_total"), f"{RUN}, late")]),
        lines("Releases that were not confirmed", "short", "Not owner: the lock was gone when its "
              "holder gave it up. Since the window began.",
              [over_time(total(of_run("lockmark_release_failures_total"), "reason"),
                         "{{reason}}")]),
    ]


def recovery():
    faults = f"max by (fault) ({of_run('lockmark_fault_active')})"
    return [
        row("Recovery"),
        lines("Grants", "ops", "Grants per second. A fault or a failover is a hole in it.",
              [over_time(total(rate("lockmark_grants_total"), ROW), ROW_LEGEND)]),
        lines("Time since the last grant", "s", "How long nobody has been granted anything, as far "
              "as the last two minutes show.", [over_time(UNSERVED, ROW_LEGEND)]),
        number("Seconds without a grant", "s", "In the shown range, while a run went on.",
               [now(f"{total(SECONDS_WITHOUT)} or vector(0)", "without a grant")], height=8),
        number("Longest gap", "s", "The longest time in the window without any grant.",
               [now(f"max({last('lockmark_longest_gap_seconds')})", "longest gap")], height=8),
        states("Faults", "Which faults the job injects, and when. None: a run without faults.",
               [over_time(f"{faults} or on () vector(0)", "{{fault}}")], height=8,
               mappings=[means(0, "off", GREY), from_on(1, "on", RED, 1)]),
        lines("Server silent", "s", "Since when no server has answered although asked; 0 while one "
              "answers.", [over_time(of_run("lockmark_server_silent_seconds"), RUN)]),
        lines("Connections made again", "short", "Since the load began.",
              [over_time(of_run("lockmark_client_reconnects_total"), RUN)]),
    ]


def dashboard_json():
    return dashboard(
        "lockmark-safety", "lockmark: safety",
        "Whether it is a lock: violations, stale tokens, doubts, lost leases, and the time until "
        "it worked again after a fault.",
        headline() + violations() + leases() + recovery())
