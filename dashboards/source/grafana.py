"""Panels and dashboards as Grafana's JSON has them (schema version 39, Grafana 10.4 and later).

What to show is not decided here: live.py, comparison.py and safety.py do that.
"""

DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}

# What every query of a run is narrowed by; the variables of the same names offer the choices.
OF_RUN = 'lock=~"$lock", topology=~"$topology", scenario=~"$scenario", instance=~"$instance"'
ROW = "lock, topology, scenario"
ROW_LEGEND = "{{lock}} on {{topology}}, {{scenario}}"

GREEN, YELLOW, RED, BLUE, GREY = "green", "yellow", "red", "blue", "text"


# --- PromQL ---


def of_run(metric, *matchers):
    """The metric's series of the chosen runs."""
    return f"{metric}{{{', '.join([OF_RUN, *matchers])}}}"


def rate(metric, *matchers):
    return f"rate({of_run(metric, *matchers)}[$__rate_interval])"


def total(expression, by=""):
    return f"sum by ({by}) ({expression})" if by else f"sum({expression})"


def last(metric, *matchers):
    """The last value of each series in the shown range, also of runs that are over."""
    return f"last_over_time({of_run(metric, *matchers)}[$__range])"


def quantile(q, histogram, *matchers, by=""):
    buckets = total(rate(f"{histogram}_bucket", *matchers), ", ".join(filter(None, ["le", by])))
    return f"histogram_quantile({q}, {buckets})"


def quantile_of_run(q, histogram, *matchers):
    """Of a whole run: the buckets begin at 0 with it."""
    return f"histogram_quantile({q}, {total(last(f'{histogram}_bucket', *matchers), f'le, {ROW}')})"


def measuring(expression):
    """Only while a run measures: not before its window, nor while it drains."""
    phase = total(of_run("lockmark_run_phase", 'phase="measuring"'), ROW)
    return f"({expression}) and on ({ROW}) ({phase} > 0)"


# --- queries of a panel ---


def over_time(expr, legend, **more):
    return {"expr": expr, "legendFormat": legend, "range": True, "instant": False, **more}


def now(expr, legend, **more):
    return {"expr": expr, "legendFormat": legend, "range": False, "instant": True, **more}


# --- panels ---


def panel(kind, title, unit, description, targets, width, height, options, defaults=None, **more):
    for letter, target in zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", targets):
        target.update({"refId": letter, "datasource": DATASOURCE, "editorMode": "code"})
    return {
        "type": kind,
        "title": title,
        "description": description,
        "datasource": DATASOURCE,
        "interval": "1s",
        "targets": targets,
        "gridPos": {"w": width, "h": height},
        "options": options,
        "fieldConfig": {"defaults": {"unit": unit, **(defaults or {})}, "overrides": []},
        **more,
    }


def lines(title, unit, description, targets, width=8, height=8, stacked=False, **defaults):
    """Values over time."""
    custom = {
        "drawStyle": "line",
        "lineWidth": 1,
        "fillOpacity": 40 if stacked else 8,
        "showPoints": "never",
        "spanNulls": False,
        "stacking": {"mode": "normal" if stacked else "none", "group": "A"},
    }
    options = {
        "legend": {"displayMode": "table", "placement": "bottom", "showLegend": True,
                   "calcs": ["lastNotNull", "max"]},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
    defaults = {"min": 0, "custom": custom, **defaults}
    return panel("timeseries", title, unit, description, targets, width, height, options, defaults)


REDUCED = {"calcs": ["lastNotNull"], "fields": "", "values": False}


def number(title, unit, description, targets, width=4, height=4, text="auto", **defaults):
    """A figure to be read from afar."""
    options = {
        "graphMode": "none",
        "colorMode": "value" if text == "auto" else "background",
        "justifyMode": "auto",
        "textMode": text,
        "orientation": "auto",
        "wideLayout": True,
        "showPercentChange": False,
        "reduceOptions": REDUCED,
    }
    return panel("stat", title, unit, description, targets, width, height, options, defaults)


def bars(title, unit, description, targets, width=8, height=8, **defaults):
    """One figure of each run, side by side."""
    options = {
        "displayMode": "gradient",
        "orientation": "horizontal",
        "valueMode": "color",
        "namePlacement": "auto",
        "showUnfilled": True,
        "sizing": "auto",
        "minVizWidth": 8,
        "minVizHeight": 16,
        "maxVizHeight": 300,
        "reduceOptions": REDUCED,
    }
    return panel("bargauge", title, unit, description, targets, width, height, options,
                 {"min": 0, **defaults})


def heatmap(title, description, histogram, *matchers, width=12, height=9):
    """A histogram's buckets over time."""
    expr = total(f"increase({of_run(f'{histogram}_bucket', *matchers)}[$__rate_interval])", "le")
    options = {
        "calculate": False,
        "cellGap": 1,
        "cellValues": {"unit": "short"},
        "color": {"mode": "scheme", "scheme": "Oranges", "steps": 64, "exponent": 0.5,
                  "scale": "exponential", "fill": "dark-orange", "reverse": False},
        "exemplars": {"color": "rgba(255,0,255,0.7)"},
        "filterValues": {"le": 1e-9},
        "legend": {"show": True},
        "rowsFrame": {"layout": "auto"},
        "showValue": "never",
        "tooltip": {"mode": "single", "showColorScale": False, "yHistogram": True},
        "yAxis": {"axisPlacement": "left", "unit": "s", "reverse": False},
    }
    return panel("heatmap", title, "s", description,
                 [over_time(expr, "{{le}}", format="heatmap")], width, height, options)


def states(title, description, targets, width=8, height=6, mappings=()):
    """What was the case, and from when to when."""
    options = {
        "mergeValues": True,
        "showValue": "never",
        "alignValue": "left",
        "rowHeight": 0.9,
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
        "tooltip": {"mode": "single", "sort": "none"},
    }
    defaults = {"custom": {"lineWidth": 0, "fillOpacity": 70}, "mappings": list(mappings)}
    return panel("state-timeline", title, "short", description, targets, width, height, options,
                 defaults)


def table(title, description, columns, width=24, height=9, unit="short", hidden=(), **more):
    """columns: (title, unit, query); unit None for a label of the query, which has no value."""
    queries = [query for _, _, query in columns if query]
    for query in queries:
        query["format"] = "table"
    names, overrides, letters = {}, [], iter("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    for name, column_unit, query in columns:
        if query is None:
            names[name] = name
            continue
        letter = next(letters)
        source = f"Value #{letter}" if len(queries) > 1 else "Value"
        if column_unit is None:
            hidden = (*hidden, source)
            continue
        names[source] = name
        overrides.append({"matcher": {"id": "byName", "options": name},
                          "properties": [{"id": "unit", "value": column_unit}]})
    options = {
        "showHeader": True,
        "cellHeight": "sm",
        "frameIndex": 0,
        "footer": {"show": False, "reducer": ["sum"], "countRows": False},
    }
    made = panel("table", title, unit, description, queries, width, height, options,
                 {"custom": {"align": "auto", "cellOptions": {"type": "auto"}, "inspect": False}},
                 **more)
    made["fieldConfig"]["overrides"] = overrides
    made["transformations"] = [
        {"id": "merge", "options": {}},
        {"id": "organize", "options": {
            "excludeByName": {name: True for name in ("Time", *hidden)},
            "indexByName": {name: at for at, name in enumerate(names)},
            "renameByName": names,
        }},
    ]
    return made


def row(title):
    return {"type": "row", "title": title, "collapsed": False, "panels": [],
            "gridPos": {"w": 24, "h": 1}}


# --- what values mean ---


def thresholds(*steps):
    """(from, colour), the first one from the bottom."""
    return {"mode": "absolute",
            "steps": [{"value": value, "color": color} for value, color in steps]}


def means(value, text, color, index=0):
    result = {"text": text, "color": color, "index": index}
    return {"type": "value", "options": {str(value): result}}


def from_on(value, text, color, index=0):
    return {"type": "range", "options": {
        "from": value, "to": None, "result": {"text": text, "color": color, "index": index}}}


# --- the whole ---


def choice(name, label, narrowed_by):
    """A variable that offers the values of a label."""
    narrow = ", ".join(f'{other}=~"${other}"' for other in narrowed_by)
    query = f"label_values(lockmark_run_info{{{narrow}}}, {name})" if narrow else \
        f"label_values(lockmark_run_info, {name})"
    return {
        "type": "query",
        "name": name,
        "label": label,
        "datasource": DATASOURCE,
        "query": {"query": query, "refId": f"variable-{name}"},
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
        "options": [],
        "regex": "",
        "hide": 0,
        "skipUrlSync": False,
    }


def variables():
    source = {
        "type": "datasource",
        "name": "datasource",
        "label": "data source",
        "query": "prometheus",
        "refresh": 1,
        "multi": False,
        "includeAll": False,
        "current": {"selected": True, "text": "default", "value": "default"},
        "options": [],
        "regex": "",
        "hide": 0,
        "skipUrlSync": False,
    }
    return [source, choice("lock", "lock", ()), choice("topology", "topology", ("lock",)),
            choice("scenario", "scenario", ("lock", "topology")),
            choice("instance", "process", ("lock", "topology", "scenario"))]


def annotation(name, color, expr, title, text, tags, value_is_time=False):
    return {
        "name": name,
        "enable": True,
        "hide": False,
        "iconColor": color,
        "datasource": DATASOURCE,
        "expr": expr,
        "step": "1s",
        "titleFormat": title,
        "textFormat": text,
        "tagKeys": tags,
        "useValueForTime": value_is_time,
    }


def annotations():
    start = of_run("lockmark_run_start_timestamp_seconds")
    violations = of_run("lockmark_violations_total", 'kind!="possible"')
    return [
        annotation("faults", "orange", of_run("lockmark_fault_active"), "fault",
                   "{{fault}} ({{lock}} on {{topology}})", "fault,lock"),
        annotation("start of a run", BLUE, f"({start} > 0) * 1000", "window begins",
                   "{{lock}} on {{topology}}, {{scenario}}", "lock,topology,scenario", True),
        annotation("violations", RED, f"changes({violations}[2s])", "violation",
                   "{{kind}} ({{lock}} on {{topology}})", "kind,lock"),
    ]


def placed(items):
    """Panels from left to right and from top to bottom, with their ids."""
    x = y = below = 0
    for number_, item in enumerate(items, start=1):
        at = item["gridPos"]
        if x + at["w"] > 24:
            x, y = 0, below
        at.update({"x": x, "y": y})
        x += at["w"]
        below = max(below, y + at["h"])
        item["id"] = number_
    return items


OTHERS = (("lockmark-live", "live run"), ("lockmark-comparison", "comparison"),
          ("lockmark-safety", "safety"))


def dashboard(uid, title, description, panels, range_="now-15m"):
    links = [{"type": "link", "title": name, "url": f"/d/{other}", "icon": "dashboard",
              "tooltip": "", "asDropdown": False, "includeVars": True, "keepTime": True,
              "targetBlank": False, "tags": []} for other, name in OTHERS if other != uid]
    return {
        "id": None,
        "uid": uid,
        "title": title,
        "description": description,
        "tags": ["lockmark"],
        "timezone": "browser",
        "editable": True,
        "graphTooltip": 1,
        "fiscalYearStartMonth": 0,
        "liveNow": False,
        "schemaVersion": 39,
        "version": 1,
        "refresh": "5s",
        "time": {"from": range_, "to": "now"},
        "timepicker": {"refresh_intervals": ["1s", "5s", "10s", "30s", "1m", "5m"]},
        "links": links,
        "annotations": {"list": annotations()},
        "templating": {"list": variables()},
        "panels": placed(panels),
    }
