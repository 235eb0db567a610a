// The link to what is shown, for another browser or a later time. It is loaded when it is first used.

import { element } from './elements.js';
import { addressOf, routeIn } from './routes.js';
import { shownTime } from './time-range.js';

const COPIED_MS = 2000;

/**
 * Copies the address of what is shown. A time that ends now is written as its two moments, because the reader opens the link later.
 *
 * @param shown the period of the charts, or nothing where there are none
 */
export async function copyLink(button, shown) {
  const { view, id, params } = routeIn(location.hash);
  const endsNow = shownTime().range !== undefined;
  const time = shown && endsNow ? { range: undefined, from: shown.from, to: shown.to } : {};
  const { origin, pathname } = location;
  const text = `${origin}${pathname}${addressOf(view, { ...Object.fromEntries(params), ...time }, id)}`;
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
  setTimeout(() => {
    button.textContent = name;
  }, COPIED_MS);
}
