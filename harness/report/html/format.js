// How the page writes figures, and what all its charts share. Everything hangs on `report`.
'use strict';

// draw[kind](plot, spec) draws a chart into an empty element and returns {points, destroy()}.
const report = { draw: {} };

report.color = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

report.element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

// "12.3 ms"
report.duration = (ns) => {
  const units = [['ns', 1], ['us', 1e3], ['ms', 1e6], ['s', 1e9]];
  const [unit, size] = units.filter(([, least]) => ns >= least).pop() || units[0];
  return `${Number((ns / size).toPrecision(3))} ${unit}`;
};

report.number = (value) =>
  value >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));

// A moment of a run of so many seconds: "12.5 s", from three minutes on "4:30".
report.moment = (s, whole_s) => {
  if (whole_s < 180) return `${Number(s.toFixed(1))} s`;
  const seconds = Math.round(s);
  const [h, m] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = String(seconds % 60).padStart(2, '0');
  return h > 0 ? `${h}:${String(m).padStart(2, '0')}:${rest}` : `${m}:${rest}`;
};

// Round steps of time, so that no more than `most` of them fill the run.
report.timeStep = (whole_s, most) => {
  const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200];
  return steps.find((step) => whole_s / step <= most) || whole_s / most;
};

// Values for the ticks of a logarithmic axis: decades, and 2 and 5 between them if there are few.
report.logTicks = (min, max) => {
  const digits = Math.log10(max / min) > 2.5 ? [1] : [1, 2, 5];
  const ticks = [];
  for (let e = Math.floor(Math.log10(min)); 10 ** e <= max * 1.001; ++e) {
    ticks.push(...digits.map((d) => d * 10 ** e));
  }
  return ticks.filter((t) => t >= min * 0.999 && t <= max * 1.001);
};

report.shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// Faults as shaded stretches from top to bottom, with their kinds as far as these have room.
// `at` turns seconds into pixels.
report.paintMarks = (ctx, marks, at, { left, right, top, bottom }) => {
  ctx.save();
  ctx.font = '11px system-ui, sans-serif';
  ctx.textBaseline = 'top';
  ctx.textAlign = 'left';
  let free = left;
  for (const mark of marks) {
    const from = Math.max(left, at(mark.at));
    const to = Math.min(right, Math.max(at(mark.at + mark.for), from + 2));
    if (to <= from) continue;
    ctx.fillStyle = report.color('fault-area');
    ctx.fillRect(from, top, to - from, bottom - top);
    ctx.fillStyle = report.color('fault');
    ctx.fillRect(from, top, 1, bottom - top);
    ctx.fillRect(to - 1, top, 1, bottom - top);
    const width = ctx.measureText(mark.kind).width;
    if (from + 3 < free || from + 3 + width > right) continue;
    ctx.fillStyle = report.color('page');
    ctx.fillRect(from + 2, top + 1, width + 3, 14);
    ctx.fillStyle = report.color('fault');
    ctx.fillText(mark.kind, from + 3, top + 2);
    free = from + width + 10;
  }
  ctx.restore();
};
