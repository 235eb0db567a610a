// The time of charts and tables, and the instance that is asked. The address contains both, so a link shows the same page, and the
// browser's buttons go back through earlier pages.

import { addressOf, routeIn } from './addresses.js';
import { place } from './elements.js';
import { gatewayNow, moment } from './format.js';

const SHORTEST = '15m';
const RANGE_NAMES = { '15m': 'last 15 minutes', '1h': 'last hour', '6h': 'last 6 hours', '24h': 'last 24 hours' };
const LENGTHS_MS = { '15m': 900_000, '1h': 3_600_000, '6h': 21_600_000, '24h': 86_400_000 };
const EVERY_MS = { '15m': 2000, '1h': 2000, '6h': 10_000, '24h': 10_000 };
const FREE_EVERY_MS = 10_000;

const ranges = place('ranges');
const free = place('free-range');
const zoomOut = place('zoom-out');

const now = () => routeIn(location.hash);

/** Returns the time in the address, as members of a question. */
export function shownTime() {
  const { params } = now();
  const [from, to] = [params.get('from'), params.get('to')];
  if (Date.parse(from) < Date.parse(to)) return { from, to };
  const range = params.get('range');
  return { range: range in RANGE_NAMES ? range : SHORTEST };
}

/** Returns how often the shown time changes, in milliseconds. */
export const renewedEveryMs = () => EVERY_MS[shownTime().range] ?? FREE_EVERY_MS;

/** Returns the name of the time for headings. */
export function timeName() {
  const { range, from, to } = shownTime();
  return range === undefined ? `${moment(from)} to ${moment(to)}` : RANGE_NAMES[range];
}

/** Shows another time in the current view. Moments are epoch milliseconds. */
export function showTime({ range, fromMs, toMs }) {
  const { view, id, params } = now();
  const time =
    range === undefined
      ? { range: undefined, from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() }
      : { range: range === SHORTEST ? undefined : range, from: undefined, to: undefined };
  location.hash = addressOf(view, { ...Object.fromEntries(params), ...time }, id);
}

/** Sets the controls to what the address says. */
export function placeTime() {
  const { range } = shownTime();
  for (const input of ranges.querySelectorAll('input')) input.checked = input.value === range;
  zoomOut.hidden = range !== undefined;
  free.classList.toggle('chosen', range === undefined);
  if (!free.contains(document.activeElement)) free.open = false;
}

// The fields begin with the shown time, because the reader often changes only one end.
free.addEventListener('toggle', () => {
  if (!free.open) return;
  const { range, from, to } = shownTime();
  const untilMs = range === undefined ? Date.parse(to) : gatewayNow();
  place('free-from').value = forInput(range === undefined ? Date.parse(from) : untilMs - LENGTHS_MS[range]);
  place('free-to').value = forInput(untilMs);
});

document.addEventListener('click', ({ target }) => {
  if (!free.contains(target)) free.open = false;
});

ranges.addEventListener('change', () => showTime({ range: ranges.querySelector('input:checked').value }));

free.querySelector('form').addEventListener('submit', (event) => {
  event.preventDefault();
  const fromMs = Date.parse(place('free-from').value);
  const toMs = Date.parse(place('free-to').value);
  const isPeriod = fromMs < toMs;
  place('free-error').textContent = isPeriod ? '' : 'The end must be after the start.';
  if (!isPeriod) return;
  free.open = false;
  showTime({ fromMs, toMs });
});

zoomOut.addEventListener('click', () => {
  const { from, to } = shownTime();
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  const half = (toMs - fromMs) / 2;
  showTime({ fromMs: fromMs - half, toMs: Math.min(gatewayNow(), toMs + half) });
});

/** Returns a time in the form of `datetime-local`, without a zone, and to the second, because slots start at whole seconds. */
function forInput(ms) {
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
