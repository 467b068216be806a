// The heatmap of latency over time. Chart.js has none; this paints it on a canvas of its own.
'use strict';

(() => {
  const margin = { left: 62, right: 10, top: 6, bottom: 36 };
  const strip = 12; // attempts that were not granted, above the rest
  const height = 340;

  // Between the colours of --heat, evenly: 0 is the weakest, 1 the strongest.
  const ramp = () => {
    const stops = report.color('heat').split(',').map((c) => c.trim().slice(1))
      .map((c) => [0, 2, 4].map((i) => parseInt(c.slice(i, i + 2), 16)));
    return (t) => {
      const at = Math.min(Math.max(t, 0), 1) * (stops.length - 1);
      const i = Math.min(Math.floor(at), stops.length - 2);
      const mixed = stops[i].map((v, c) => Math.round(v + (stops[i + 1][c] - v) * (at - i)));
      return `rgb(${mixed.join(',')})`;
    };
  };

  // {column, band, perSecond} for each band of each stretch of time that has something.
  const cellsOf = (spec) => spec.columns.flatMap(([first, ...counts], column) => {
    const length = spec.edges[column + 1] - spec.edges[column] || 1;
    return counts
      .map((n, i) => ({ column, band: first + i, n, perSecond: n / length }))
      .filter((cell) => cell.n > 0);
  });

  class Heatmap {
    constructor(plot, spec) {
      this.spec = spec;
      this.cells = cellsOf(spec);
      this.bands = {
        first: Math.min(...this.cells.map((c) => c.band)),
        end: Math.max(...this.cells.map((c) => c.band)) + 1,
      };
      this.most = Math.max(...this.cells.map((c) => c.perSecond));
      this.canvas = report.element('canvas');
      this.canvas.setAttribute('role', 'img');
      this.canvas.setAttribute('aria-label', 'Latency over time');
      this.readout = report.element('output', { className: 'readout', textContent: '\u00a0' });
      this.box = report.element('div', { className: 'canvas' }, this.canvas);
      this.box.style.height = `${height}px`;
      const scale = report.element('span', { className: 'scale' });
      plot.append(this.box, this.readout, report.element('div', { className: 'legend' }, 'few',
        scale, `many: up to ${report.number(this.most)} a second in a band`));
      this.canvas.addEventListener('pointermove', (event) => this.tell(event));
      this.observer = new ResizeObserver(() => this.paint());
      this.observer.observe(this.box);
      this.paint();
    }

    get points() { return this.cells.length; }
    destroy() { this.observer.disconnect(); }

    // Seconds and bands to pixels.
    x(s) {
      const [begin, end] = [this.spec.edges[0], this.spec.edges[this.spec.edges.length - 1]];
      const wide = this.width - margin.left - margin.right;
      return margin.left + ((s - begin) / (end - begin)) * wide;
    }
    y(band) {
      const top = margin.top + strip;
      const share = (band - this.bands.first) / (this.bands.end - this.bands.first);
      return height - margin.bottom - share * (height - margin.bottom - top);
    }
    bandOf(ns) { return this.spec.bands_per_decade * Math.log10(ns); }
    nsOf(band) { return 10 ** (band / this.spec.bands_per_decade); }

    paint() {
      this.width = this.box.clientWidth;
      if (this.width < 2 * margin.left) return;
      const ratio = window.devicePixelRatio || 1;
      this.canvas.width = Math.round(this.width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.width = `${this.width}px`;
      this.canvas.style.height = `${height}px`;
      const ctx = this.canvas.getContext('2d');
      ctx.scale(ratio, ratio);
      ctx.clearRect(0, 0, this.width, height);
      ctx.font = '12px system-ui, sans-serif';
      this.paintAxes(ctx);
      this.paintCells(ctx);
      const area = {
        left: margin.left,
        right: this.width - margin.right,
        top: margin.top + strip,
        bottom: height - margin.bottom,
      };
      report.paintMarks(ctx, this.spec.marks, (s) => this.x(s), area);
    }

    paintCells(ctx) {
      const color = ramp();
      const edge = (column) => this.x(this.spec.edges[column]);
      for (const { column, band, perSecond } of this.cells) {
        ctx.fillStyle = color(Math.log1p(perSecond) / Math.log1p(this.most));
        const [left, top] = [edge(column), this.y(band + 1)];
        // A little larger, or the page shines through between the cells.
        ctx.fillRect(left, top, edge(column + 1) - left + 0.4, this.y(band) - top + 0.4);
      }
      ctx.fillStyle = report.color('alarm');
      this.spec.not_granted.forEach((n, column) => {
        if (n === 0) return;
        const left = edge(column);
        ctx.fillRect(left, margin.top, Math.max(edge(column + 1) - left, 2), strip - 4);
      });
    }

    paintAxes(ctx) {
      const bottom = height - margin.bottom;
      const line = (x1, y1, x2, y2) => {
        ctx.beginPath();
        ctx.moveTo(x1, y1);
        ctx.lineTo(x2, y2);
        ctx.stroke();
      };
      ctx.strokeStyle = report.color('grid');
      ctx.fillStyle = report.color('quiet');
      ctx.textAlign = 'right';
      ctx.textBaseline = 'middle';
      for (const ns of report.logTicks(this.nsOf(this.bands.first), this.nsOf(this.bands.end))) {
        const y = this.y(this.bandOf(ns));
        line(margin.left - 4, y, this.width - margin.right, y);
        ctx.fillText(report.duration(ns), margin.left - 7, y);
      }
      const [begin, end] = [this.spec.edges[0], this.spec.edges[this.spec.edges.length - 1]];
      const step = report.timeStep(end - begin, Math.max(2, Math.floor(this.width / 80)));
      ctx.textAlign = 'center';
      ctx.textBaseline = 'top';
      for (let s = Math.ceil(begin / step) * step; s <= end * 1.0001; s += step) {
        line(this.x(s), bottom, this.x(s), bottom + 4);
        const x = Math.min(this.x(s), this.width - 18);
        ctx.fillText(report.moment(s, end - begin), x, bottom + 6);
      }
      ctx.fillText('since the window began', (margin.left + this.width) / 2, bottom + 21);
    }

    // What is under the pointer, in words.
    tell(event) {
      const { edges, not_granted: lost } = this.spec;
      const column = edges.findIndex((s) => this.x(s) > event.offsetX) - 1;
      const [low, high] = [this.y(this.bands.first), this.y(this.bands.end)];
      const share = (low - event.offsetY) / (low - high);
      const band = this.bands.first + Math.floor(share * (this.bands.end - this.bands.first));
      if (column < 0) return;
      const cell = this.cells.find((c) => c.column === column && c.band === band);
      const when = `${edges[column].toFixed(1)} to ${edges[column + 1].toFixed(1)} s`;
      const what = `${report.duration(this.nsOf(band))} to ${report.duration(this.nsOf(band + 1))}`;
      this.readout.textContent = `${when}, ${what}: ${cell ? cell.n : 0} granted` +
        (lost[column] > 0 ? `; ${lost[column]} not granted in this time` : '');
    }
  }

  report.draw.heat = (plot, spec) => new Heatmap(plot, spec);
})();
