"""live.json: one run while it goes on. Does it hold, how fast is it, can it be believed?"""

from grafana import (BLUE, GREEN, GREY, RED, YELLOW, dashboard, from_on, heatmap, last, lines,
                     means, now, number, of_run, over_time, quantile, rate, row, states, table,
                     thresholds, total)

GRANTS = total(rate("lockmark_grants_total"))
MEAN_GRANTS = f"sum({last('lockmark_grants_total')} / {last('lockmark_run_window_seconds')})"
RUN = "{{lock}} on {{topology}}, {{scenario}}"


def success(expression):
    granted = total(expression("lockmark_attempts_total", 'outcome="granted"'))
    return f"{granted} / {total(expression('lockmark_attempts_total'))}"


# The last values in the shown range, so that they stay when the run is over and its process gone.
def headline():
    violations = total(last("lockmark_violations_total", 'kind!="possible"'))
    info = last("lockmark_run_info")
    ended = last("lockmark_run_info", 'status!="running"')
    return [
        number("Verdict", "none", "Proofs that the lock is none, since the load began. 0: it has "
               "held so far. Overlaps that the error of the clocks could explain do not count.",
               [now(violations, "violations")], text="value",
               mappings=[means(0, "held so far", GREEN), from_on(1, "NOT HELD", RED, 1)],
               thresholds=thresholds((None, GREEN), (1, RED))),
        number("Figures", "none", "Whether the figures are the lock's. Pending until the run ends. "
               "Bound: the harness or the machine was in the way, so actual performance is at least "
               "this good. Invalid: do not use them.",
               [now(f"{last('lockmark_run_validity')} == 1", "{{verdict}}")], text="name",
               thresholds=thresholds((None, BLUE))),
        number("Phase", "none", "What the run is doing.",
               [now(f"{last('lockmark_run_phase')} == 1", "{{phase}}")], text="name",
               thresholds=thresholds((None, BLUE))),
        number("Achieved", "ops", "Grants per second over the last seconds, and of the whole "
               "window. Of optimistic locks: commits.",
               [over_time(GRANTS, "now"), now(MEAN_GRANTS, "mean")]),
        number("Success", "percentunit", "Attempts that got the lock, of all that have ended since "
               "the window began.", [now(success(last), "success")],
               thresholds=thresholds((None, RED), (0.9, YELLOW), (0.99, GREEN))),
        number("Response p99", "s", "From when an attempt was due to its grant, over the last "
               "seconds, of all attempts. 60 s: so many were not granted that it lies beyond.",
               [over_time(quantile(0.99, "lockmark_acquire_duration_seconds", 'phase="response"'),
                          "p99")]),
        table("Run", "Which run this is, on which servers, and by which build.", [
            ("run", None, now(f"{ended} or ignoring (status) {info}", "")),
            ("lock", None, None), ("topology", None, None), ("scenario", None, None),
            ("workload", None, None), ("target", None, None), ("status", None, None),
            ("instance", None, None)], height=4, unit="none",
            hidden=("__name__", "backend", "job")),
    ]


def load():
    offered = total(of_run("lockmark_offered_per_second"))
    return [
        row("Load"),
        lines("Offered and achieved", "ops", "Offered is what the job lets begin; 0 is a closed "
              "loop, which begins an attempt when another one ends. Dropped attempts were due "
              "while the backlog was full.", [
                  over_time(offered, "offered"),
                  over_time(total(rate("lockmark_attempts_total")), "ended"),
                  over_time(GRANTS, "granted"),
                  over_time(total(rate("lockmark_dropped_total")), "dropped")]),
        lines("Attempts by outcome", "ops", "How attempts ended. A doubt is an attempt of which "
              "nobody can know whether it got the lock.",
              [over_time(total(rate("lockmark_attempts_total"), "outcome"), "{{outcome}}")],
              stacked=True),
        lines("Success rate", "percentunit", "Granted attempts of those that ended, over the last "
              "seconds.", [over_time(success(rate), "success")], max=1),
    ]


def latency():
    acquire = "lockmark_acquire_duration_seconds"
    handoff = "lockmark_handoff_duration_seconds"
    return [
        row("Latency"),
        heatmap("Response", "How many attempts had to wait how long, from when they were due. On "
                "top, +Inf: those that were not granted.",
                acquire, 'phase="response"'),
        lines("Response and service", "s", "Response counts from when the attempt was due, service "
              "from when it was sent: where they part, clients were busy. Of all attempts; 60 s: "
              "so many were not granted that it lies beyond. By buckets; run.json has the exact "
              "ones.", [
                  over_time(quantile(q, acquire, f'phase="{phase}"'), f"{phase} {name}")
                  for phase in ("response", "service")
                  for q, name in ((0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"))],
              width=12, height=9),
        heatmap("Hand-off to another client", "From the sending of a release to the next grant of "
                "that key to another client.", handoff, 'kind="transfer"'),
        lines("Hand-off", "s", "A transfer goes to another client; a self-reacquire is the same "
              "client again, which says little about the lock.", [
                  over_time(quantile(q, handoff, by="kind"), "{{kind}} " + name)
                  for q, name in ((0.5, "p50"), (0.99, "p99"))], width=6, height=9),
        lines("Hold and release", "s", "From the grant to the sending of the release, and from "
              "there to its answer.", [
                  over_time(quantile(q, f"lockmark_{what}_duration_seconds"), f"{what} {name}")
                  for what in ("hold", "release")
                  for q, name in ((0.5, "p50"), (0.99, "p99"))], width=6, height=9),
    ]


def competition():
    return [
        row("Who has it, who waits"),
        lines("Holders and waiters", "short", "Clients with an attempt that has begun and not "
              "ended, and of these the ones that hold their key or wait for it.", [
                  over_time(total(of_run("lockmark_in_flight")), "in flight"),
                  over_time(total(of_run("lockmark_holders")), "holders"),
                  over_time(total(of_run("lockmark_lock_waiters")), "waiters")]),
        lines("Fairness", "none", "Jain's index of grants per client in short windows: 1 is even, "
              "1/clients is one client having it all.",
              [over_time(of_run("lockmark_fairness_ratio"), RUN)], max=1),
        lines("Longest time without a grant", "s", "The longest one in the window so far.",
              [over_time(of_run("lockmark_longest_gap_seconds"), RUN)]),
    ]


def belief():
    lag = "lockmark_send_lag_seconds"
    loop = "lockmark_loop_lag_seconds"
    return [
        row("Can the figures be believed?"),
        lines("Sent late", "s", "Timer: although a client was free, the harness's own error. "
              "Queue: because every client was busy, so the lock is slower than the load.", [
                  over_time(quantile(q, lag, by="cause"), "{{cause}} " + name)
                  for q, name in ((0.5, "p50"), (0.99, "p99"))]),
        lines("Load threads woke up late", "s", "How much later than asked. Grows when the "
              "machine has no core to spare.", [
                  over_time(quantile(q, loop), name) for q, name in ((0.5, "p50"), (0.99, "p99"))]),
        states("Phase and verdict", "What the run was doing, and what it says of its figures: 1 "
               "is the one that holds.", [
                   over_time(of_run("lockmark_run_phase"), "{{phase}}"),
                   over_time(of_run("lockmark_run_validity"), "figures {{verdict}}")], height=8,
               mappings=[means(0, "no", GREY), means(1, "yes", BLUE, 1)]),
    ]


def per_grant(metric, legend, by=""):
    # Not over $__rate_interval: servers are asked for their counters every five seconds.
    grown = total(f"increase({of_run(metric)}[1m])", by)
    grants = total(f"increase({of_run('lockmark_grants_total')}[1m])")
    divide = "/ ignoring (command) group_left ()" if by == "command" else "/"
    return over_time(f"{grown} {divide} {grants}", legend)


def cost():
    return [
        row("What a grant costs"),
        lines("Server commands per grant", "short", "By the server's own counters, which are "
              "looked at every five seconds; over the last minute. Commands inside a script count.",
              [per_grant("lockmark_server_commands_total", "{{command}}", "command")],
              stacked=True),
        lines("Client traffic per grant", "short", "Commands sent, answers waited for, waiters "
              "woken by the server, and tries of polling locks; over the last minute.", [
                  per_grant("lockmark_client_commands_total", "commands"),
                  per_grant("lockmark_client_round_trips_total", "round trips"),
                  per_grant("lockmark_client_wakeups_total", "wake-ups"),
                  per_grant("lockmark_tries_total", "tries")]),
        lines("On the wire", "Bps", "Bytes of all clients together.", [
            over_time(total(rate("lockmark_client_bytes_total"), "direction"), "{{direction}}")]),
        lines("Server silent", "s", "Since when no server has answered although asked.",
              [over_time(of_run("lockmark_server_silent_seconds"), RUN)]),
        lines("Connections made again", "short", "Since the load began.",
              [over_time(total(of_run("lockmark_client_reconnects_total")), "reconnects")]),
        table("Build", "What measures.", [
            ("version", None, now('lockmark_build_info{instance=~"$instance"}', "")),
            ("revision", None, None), ("compiler", None, None), ("instance", None, None)],
            width=8, height=8, unit="none", hidden=("__name__", "job")),
    ]


def dashboard_json():
    return dashboard(
        "lockmark-live", "lockmark: live run",
        "A run of lockmark while it goes on. Read the verdict first, then the figures' validity, "
        "then the figures.",
        headline() + load() + latency() + competition() + belief() + cost())
