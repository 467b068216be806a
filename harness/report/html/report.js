// Draws the charts of the page that can be seen, and those in folded parts when these are opened.
// What it did stands in data attributes, where tests find it.
'use strict';

(() => {
  const root = document.documentElement;
  const data = JSON.parse(document.getElementById('report-data').textContent);
  const plots = [...document.querySelectorAll('.plot')];
  const drawn = new Map();

  const draw = (plot) => {
    const id = plot.dataset.chart;
    if (drawn.has(plot)) drawn.get(plot).destroy();
    plot.replaceChildren();
    try {
      if (!Object.hasOwn(data, id)) throw new Error('its data are missing');
      const made = report.draw[data[id].kind](plot, data[id]);
      if (!(made.points > 0)) throw new Error('its data are empty');
      drawn.set(plot, made);
      plot.dataset.points = made.points;
    } catch (error) {
      plot.dataset.failed = error.message;
      plot.replaceChildren(`This chart could not be drawn: ${error.message}.`);
      console.error(`chart ${id}: ${error.message}`);
    }
  };

  const canBeSeen = (plot) => !plot.closest('details:not([open])');
  const drawNew = () => {
    for (const plot of plots) {
      if (canBeSeen(plot) && !drawn.has(plot) && !plot.dataset.failed) draw(plot);
    }
  };
  const drawAgain = () => [...drawn.keys()].forEach(draw);

  // A link to a run opens it.
  const openTarget = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!(target instanceof HTMLDetailsElement)) return;
    target.open = true;
    target.scrollIntoView();
  };

  // Paper is white, and has nothing to click on. The charts' numbers stay folded.
  const closedForPaper = () => [...document.querySelectorAll('details.run:not([open])')];
  let opened = [];
  window.addEventListener('beforeprint', () => {
    opened = closedForPaper();
    for (const run of opened) run.open = true;
    root.dataset.theme = 'light';
    drawNew();
    drawAgain();
  });
  window.addEventListener('afterprint', () => {
    for (const run of opened) run.open = false;
    delete root.dataset.theme;
    drawAgain();
  });

  root.className = 'js';
  // With charts to look at, the tables of their numbers need not be open.
  for (const numbers of document.querySelectorAll('details.numbers')) numbers.open = false;
  // Toggling does not bubble, but it can be caught on its way down.
  document.addEventListener('toggle', drawNew, true);
  window.addEventListener('hashchange', openTarget);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAgain);
  openTarget();
  drawNew();
})();
