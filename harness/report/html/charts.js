// The charts that Chart.js draws: percentiles, rates over time, bars, shares of the clients.
'use strict';

(() => {
  const dashes = [[], [7, 3], [2, 3], [9, 3, 2, 3]];
  const styles = ['solid', 'dashed', 'dotted', 'dashed'];
  // Beyond so many lines nobody can tell them apart; the others are drawn when asked for.
  const mostLines = 8;

  // Lines differ in colour and in their dashes: nobody has to tell colours apart.
  const dashOf = (i) => (i + Math.floor(i / 8)) % dashes.length;
  const line = (i) => ({
    borderColor: report.color(`series-${(i % 8) + 1}`),
    backgroundColor: report.color(`series-${(i % 8) + 1}`),
    borderDash: dashes[dashOf(i)],
    borderWidth: 2,
    pointHoverRadius: 4,
    order: -i, // the later ones on top: dashes over a solid line show both
    hidden: i >= mostLines,
  });

  const axis = (title, more = {}) => ({
    ...more,
    title: { display: title !== '', text: title, color: report.color('quiet') },
    ticks: { color: report.color('quiet'), maxRotation: 0, ...more.ticks },
    grid: { color: report.color('grid'), ...more.grid },
  });

  const make = (plot, height, config) => {
    const canvas = report.element('canvas');
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', plot.closest('figure').querySelector('h3').textContent);
    const box = report.element('div', { className: 'canvas' }, canvas);
    box.style.height = `${height}px`;
    plot.append(box);
    config.options = {
      animation: false,
      maintainAspectRatio: false,
      interaction: { mode: 'nearest', axis: 'xy', intersect: false },
      ...config.options,
    };
    config.options.plugins = { legend: { display: false }, ...config.options.plugins };
    const chart = new Chart(canvas, config);
    const points = config.data.datasets.reduce((n, d) => n + d.data.length, 0);
    return { chart, points, destroy: () => chart.destroy() };
  };

  // Names beside their lines; a click takes a line away or brings it back.
  const addLegend = (plot, { chart }) => {
    const entries = chart.data.datasets.map((d, i) => {
      const box = report.element('input', { type: 'checkbox', checked: !d.hidden });
      box.addEventListener('change', () => {
        chart.setDatasetVisibility(i, box.checked);
        chart.update();
      });
      const sample = report.element('span', { className: 'line' });
      sample.style.borderTop = `3px ${styles[dashOf(i)]} ${d.borderColor}`;
      return report.element('label', {}, box, sample, d.label);
    });
    plot.append(report.element('div', { className: 'legend' }, ...entries));
  };

  const nines = [2, 10, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
  const nameOfNine = (x) => `p${Number((100 * (1 - 1 / x)).toFixed(7))}`;

  report.draw.percentiles = (plot, spec) => {
    const datasets = spec.series.map((s, i) => ({
      ...line(i),
      label: s.name,
      data: s.points.map(([x, ns]) => ({ x, y: Math.max(ns, 1) })),
      pointRadius: s.points.length < 8 ? 4 : 0,
      clip: 6,
    }));
    const all = datasets.flatMap((d) => d.data);
    const least = Math.min(...all.map((p) => p.y));
    const min = 10 ** Math.floor(Math.log10(least));
    const max = Math.max(...all.map((p) => p.y)) * 1.2;
    const ticks = (values) => (scale) => {
      const wanted = values(scale);
      const room = scale.isHorizontal() ? scale.maxWidth / 52 : scale.maxHeight / 20;
      const each = Math.ceil(wanted.length / room);
      scale.ticks = wanted.filter((_, i) => i % each === 0).map((value) => ({ value }));
    };
    const made = make(plot, 360, {
      type: 'line',
      data: { datasets },
      options: {
        parsing: false,
        scales: {
          x: axis('attempts at least so fast', {
            type: 'logarithmic',
            min: 1,
            max: Math.max(...all.map((p) => p.x), 100),
            afterBuildTicks: ticks((scale) => nines.filter((x) => x <= scale.max * 1.001)),
            ticks: { callback: nameOfNine, autoSkip: false },
          }),
          y: axis('latency', {
            type: 'logarithmic',
            min,
            max,
            afterBuildTicks: ticks(() => report.logTicks(min, max)),
            ticks: { callback: report.duration, autoSkip: false },
          }),
        },
        plugins: {
          tooltip: {
            callbacks: {
              title: ([item]) => nameOfNine(item.parsed.x),
              label: (item) => `${item.dataset.label}: ${report.duration(item.parsed.y)}`,
            },
          },
        },
      },
    });
    addLegend(plot, made);
    return made;
  };

  report.draw.rates = (plot, spec) => {
    const [begin, end] = [spec.edges[0], spec.edges[spec.edges.length - 1]];
    const moment = (s) => report.moment(s, end - begin);
    const datasets = spec.series.map((s, i) => ({
      ...line(i),
      label: s.name,
      // A value holds until the next one begins; the last one to the end.
      data: spec.edges.map((x, k) => ({ x, y: s.values[Math.min(k, s.values.length - 1)] })),
      stepped: 'before',
      pointRadius: 0,
    }));
    const faults = {
      id: 'faults',
      beforeDatasetsDraw: ({ ctx, chartArea, scales }) =>
        report.paintMarks(ctx, spec.marks, (s) => scales.x.getPixelForValue(s), chartArea),
    };
    const made = make(plot, 300, {
      type: 'line',
      data: { datasets },
      plugins: [faults],
      options: {
        parsing: false,
        interaction: { mode: 'index', axis: 'x', intersect: false },
        scales: {
          x: axis('since the window began', {
            type: 'linear',
            min: begin,
            max: end,
            ticks: {
              callback: moment,
              includeBounds: false,
              stepSize: report.timeStep(end - begin, plot.clientWidth < 500 ? 5 : 10),
            },
          }),
          y: axis(spec.axis, {
            beginAtZero: true,
            grace: '5%', // the line of what was offered lies off the edge
            ticks: { callback: report.number },
          }),
        },
        plugins: {
          tooltip: {
            callbacks: {
              title: ([item]) => `from ${moment(item.parsed.x)}`,
              label: (item) => `${item.dataset.label}: ${report.number(item.parsed.y)}/s`,
            },
          },
        },
      },
    });
    addLegend(plot, made);
    return made;
  };

  // What is not to be compared is striped, a bound is pale.
  const striped = (color) => {
    const tile = report.element('canvas', { width: 8, height: 8 });
    const ctx = tile.getContext('2d');
    ctx.strokeStyle = color;
    ctx.lineWidth = 2;
    ctx.beginPath();
    for (const x of [-8, 0, 8]) {
      ctx.moveTo(x, 8);
      ctx.lineTo(x + 8, 0);
    }
    ctx.stroke();
    return ctx.createPattern(tile, 'repeat');
  };

  const fills = () => {
    const [plain, broken] = [report.color('series-1'), report.color('alarm')];
    return {
      '': { fill: plain, edge: plain, before: '' },
      bound: { fill: `${plain}66`, edge: plain, before: '>= ' },
      invalid: { fill: striped(report.color('quiet')), edge: report.color('quiet'), before: '' },
      broken: { fill: striped(broken), edge: broken, before: '' },
    };
  };

  // The value at the end of each bar; inside it, where there is no room behind it.
  const valuesAtEnds = (texts) => ({
    id: 'values',
    afterDatasetsDraw: (chart) => {
      const { ctx, chartArea } = chart;
      ctx.save();
      ctx.font = '11px system-ui, sans-serif';
      ctx.textBaseline = 'middle';
      chart.getDatasetMeta(0).data.forEach((bar, i) => {
        const width = ctx.measureText(texts[i]).width;
        const inside = bar.x + width + 6 > chartArea.right;
        if (inside) {
          ctx.fillStyle = report.color('page');
          ctx.fillRect(bar.x - width - 10, bar.y - 8, width + 6, 16);
        }
        ctx.fillStyle = report.color('text');
        ctx.fillText(texts[i], inside ? bar.x - width - 7 : bar.x + 5, bar.y);
      });
      ctx.restore();
    },
  });

  report.draw.bars = (plot, spec) => {
    const most = plot.clientWidth < 500 ? 20 : 48;
    const labels = spec.labels.map((lines) => lines.map((l) => report.shortened(l, most)));
    const fill = fills();
    const texts = spec.values.map((v, i) => fill[spec.states[i]].before + report.number(v));
    const logarithmic = {
      type: 'logarithmic',
      min: 0.5,
      max: 10 ** Math.ceil(Math.log10(Math.max(...spec.values) * 1.5)), // with room for its value
      afterBuildTicks: (scale) => {
        scale.ticks = report.logTicks(1, scale.max).map((value) => ({ value }));
      },
    };
    return make(plot, 64 + 36 * spec.values.length, {
      type: 'bar',
      data: {
        labels,
        datasets: [{
          data: spec.values,
          backgroundColor: spec.states.map((s) => fill[s].fill),
          borderColor: spec.states.map((s) => fill[s].edge),
          borderWidth: 1,
          maxBarThickness: 24,
        }],
      },
      plugins: [valuesAtEnds(texts)],
      options: {
        indexAxis: 'y',
        interaction: { mode: 'index', axis: 'y', intersect: false },
        layout: { padding: { right: 12 } },
        scales: {
          x: axis(spec.axis, {
            ...(spec.logarithmic ? logarithmic : { beginAtZero: true, max: spec.most }),
            ticks: { callback: report.number },
          }),
          y: axis('', {
            grid: { display: false },
            ticks: { color: report.color('text'), autoSkip: false },
          }),
        },
        plugins: {
          tooltip: {
            callbacks: {
              title: ([item]) => spec.labels[item.dataIndex].join(' '),
              label: (item) => `${texts[item.dataIndex]} ${spec.axis}`,
            },
          },
        },
      },
    });
  };

  report.draw.shares = (plot, spec) => {
    const even = {
      ...line(1),
      type: 'line',
      label: 'an even share',
      data: spec.values.map(() => spec.even),
      pointRadius: 0,
      order: 0,
    };
    const color = report.color('series-1');
    const shares = { label: 'share', data: spec.values, backgroundColor: color, order: 1 };
    return make(plot, 240, {
      type: 'bar',
      data: { labels: spec.labels, datasets: [shares, even] },
      options: {
        interaction: { mode: 'index', axis: 'x', intersect: false },
        scales: {
          x: axis('the luckiest first', { grid: { display: false }, ticks: { autoSkip: true } }),
          y: axis(spec.axis, { beginAtZero: true, ticks: { callback: report.number } }),
        },
      },
    });
  };
})();
