// Copies a link to the shown page, for another browser or a later time. The script is loaded at its first use.

import { addressOf, routeIn } from './addresses.js';
import { element, place } from './elements.js';
import { shownTime } from './time-range.js';

const COPIED_MS = 2000;
/** The length of the finest slots of counts. */
const SLOT_MS = 15_000;

/**
 * Copies the address of what is shown. A time that ends now is written as its two moments, because the reader opens the link later. The
 * page then shows that time, too, so the page and the link have the same numbers.
 *
 * @param feed the latest answer, if there is one
 */
export async function copyLink(button, feed) {
  const route = routeIn(location.hash);
  const { view, id, params } = route;
  const time = feed === undefined ? {} : fixedTime(route, feed);
  const { origin, pathname } = location;
  const address = addressOf(view, { ...Object.fromEntries(params), ...time }, id);
  const text = `${origin}${pathname}${address}`;
  const name = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    // Without access to the clipboard the address is shown, where it can be copied by hand.
    const field = element('input', { class: 'link', readonly: '', value: text, 'aria-label': 'Link to this view' });
    button.after(field);
    field.select();
    field.addEventListener('blur', () => field.remove());
  }
  location.hash = address;
  setTimeout(() => {
    button.textContent = name;
  }, COPIED_MS);
}

/** Returns the moments that the link names; a list of requests has only an end, because it goes back as far as requests are remembered. */
function fixedTime({ view, id, params }, { at, history }) {
  if (view === 'requests') return id === undefined && !params.has('to') ? { to: at } : {};
  if (place('ranges').hidden || history === null || shownTime().range === undefined) return {};
  return { range: undefined, ...wholeSlotsOf(history.from, at) };
}

/**
 * Ends with the last complete slot. Begins with a slot that is kept for longer than the finest slots, so that the numbers stay the same
 * when the finest slots are deleted.
 */
function wholeSlotsOf(from, to) {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  const keptMs = toMs - fromMs > 1_200_000 ? 300_000 : 60_000;
  const beginMs = Math.ceil(fromMs / keptMs) * keptMs;
  const endMs = Math.floor(toMs / SLOT_MS) * SLOT_MS;
  // Soon after a start there may be no complete slot.
  const times = beginMs < endMs ? [beginMs, endMs] : [fromMs, endMs + SLOT_MS];
  const [begin, end] = times.map((ms) => new Date(ms).toISOString());
  return { from: begin, to: end };
}
