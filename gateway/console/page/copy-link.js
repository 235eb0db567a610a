// Copies a link to the shown page, for another browser or a later time. The script is loaded at its first use.

import { addressOf, routeIn } from './addresses.js';
import { element } from './elements.js';
import { shownTime } from './time-range.js';

const COPIED_MS = 2000;
/** The length of the finest slots of counts. */
const SLOT_MS = 15_000;

/**
 * Copies the address of what is shown. A time that ends now is written as its two moments, because the reader opens the link later. The
 * page then shows that time, too, so the page and the link have the same numbers.
 *
 * @param shown the period of the charts, or nothing where there are none
 */
export async function copyLink(button, shown) {
  const { view, id, params } = routeIn(location.hash);
  const endsNow = shownTime().range !== undefined;
  const time = shown && endsNow ? { range: undefined, ...wholeSlotsOf(shown) } : {};
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

/**
 * Ends with the last complete slot. Begins with a slot that is kept for longer than the finest slots, so that the numbers stay the same
 * when the finest slots are deleted.
 */
function wholeSlotsOf({ from, to }) {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  const keptMs = toMs - fromMs > 1_200_000 ? 300_000 : 60_000;
  const beginMs = Math.ceil(fromMs / keptMs) * keptMs;
  const endMs = Math.floor(toMs / SLOT_MS) * SLOT_MS;
  // Soon after a start there may be no complete slot.
  const times = beginMs < endMs ? [beginMs, endMs] : [fromMs, endMs + SLOT_MS];
  const [begin, end] = times.map((ms) => new Date(ms).toISOString());
  return { from: begin, to: end };
}
