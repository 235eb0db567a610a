// Markers of what happened to the gateway: a line for a moment, a band for an outage, a strip for a warning, and a hatched one where nothing was counted.

import { drawn } from './elements.js';

const SIGNS = { start: '▸', reload: '↻', refused: '✕', restart: '↺', outage: '▼', warning: '▲', uncounted: '▨' };

/** The events within a span, each with its drawing if there is a place to draw on. */
export function marksIn(events, { beginMs, endMs, toX, ...place }) {
  return events.flatMap((event) => {
    const at = Date.parse(event.at);
    const until = event.until === null ? endMs : Date.parse(event.until);
    if (until < beginMs || at >= endMs) return [];
    return [{ event, drawing: toX && draw(event, toX(Math.max(at, beginMs)), toX(Math.min(until, endMs)), place) }];
  });
}

function draw({ kind, text, instance }, from, to, { top, bottom, pattern }) {
  const where = instance === undefined ? '' : ` (${instance})`;
  const group = drawn('g', { class: `mark ${kind}` }, drawn('title', {}, text + where));
  const band = { x: from, y: top, width: Math.max(2, to - from), height: bottom - top };
  if (kind === 'outage') group.append(drawn('rect', band));
  // A warning is a strip at the top, so that charts stay readable while several warnings last.
  else if (kind === 'warning') group.append(drawn('rect', { ...band, height: 3 }));
  else if (kind === 'uncounted')
    // The stripes have the colour of the paper.
    group.append(drawn('rect', { ...band, class: 'ground' }), drawn('rect', { ...band, fill: `url(#${pattern})` }));
  else group.append(drawn('line', { x1: from, x2: from, y1: top, y2: bottom }));
  group.append(drawn('text', { x: from, y: top - 6, 'text-anchor': 'middle' }, SIGNS[kind] ?? '•'));
  return group;
}

/** A sign for a list of events. */
export const signOf = (kind) => SIGNS[kind] ?? '•';
