// The field that takes the id of a request, and what happened to the request: pasted here, or named by a link (`#request=…`). A request whose
// key or path was not accepted belongs to no organization, so the gateway does not explain it. Its error, if it was pasted, does.

import { errorPage } from './account-advice.js';
import { isAddressable } from './account-figures.js';
import { explanationElements, fetchExplanation } from './account-requests.js';
import { element } from './page-tools.js';

const WHERE =
  'It is in the header X-Request-Id of every response, and in request_id of every error. You can paste the whole error.';

/** The id that the address names. */
export function linkedId() {
  return /^#request=([\w-]{1,128})$/.exec(location.hash)?.[1];
}

/** The id in what was pasted, which may be a header or a whole error. */
function idIn(pasted) {
  const [found] = /req_\w+/.exec(pasted) ?? [];
  const id = found ?? pasted.trim();
  return isAddressable(id) ? id : undefined;
}

/** The error object in what was pasted, such as the body of a response; undefined if it contains none. */
function errorIn(pasted) {
  try {
    const value = JSON.parse(pasted.slice(pasted.indexOf('{'), pasted.lastIndexOf('}') + 1));
    const { code, message } = value.error ?? value;
    const isWhole = [code, message].every((text) => typeof text === 'string') && errorPage(code) !== undefined;
    return isWhole ? { code, message } : undefined;
  } catch {
    return undefined;
  }
}

/** What an error says itself: for a path that does not exist, for example, a path with a similar name. */
function ownWords(id, { code, message }) {
  const known = 'The gateway has no such request for this key. Its error says: ';
  return [
    element('p', {}, known, element('strong', {}, message)),
    element(
      'p',
      { class: 'account-facts' },
      element('a', { href: errorPage(code) }, `About ${code}`),
      element('span', {}, 'Request id ', element('code', {}, id)),
    ),
  ];
}

/**
 * @param section makes a part of the page that loads by itself
 * @returns the part, with its form
 */
export function explainSection(api, section) {
  let id = linkedId();
  let pasted;
  const field = element('input', {
    ...{ id: 'request-id', type: 'text', placeholder: 'req_…', autocomplete: 'off', spellcheck: 'false' },
    'aria-describedby': 'request-id-note',
  });
  field.value = id ?? '';
  const note = element('p', { id: 'request-id-note' }, WHERE);
  const row = element(
    'div',
    { class: 'key-row' },
    field,
    element('button', { type: 'submit', class: 'primary' }, 'Explain'),
  );
  const label = element('label', { for: field.id }, 'Request id');
  const form = element('form', { class: 'key-box', autocomplete: 'off' }, label, row, note);

  const one = section('request', 'Explain a request', async () => {
    if (id === undefined) return [];
    try {
      const value = await fetchExplanation(api, id);
      return explanationElements(value, value.request);
    } catch (error) {
      if (error.unknownRequest === undefined || pasted === undefined) throw error;
      return ownWords(id, pasted);
    }
  });

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const before = id;
    id = idIn(field.value);
    // A second press finds the id alone in the field.
    pasted = errorIn(field.value) ?? (id === before ? pasted : undefined);
    field.toggleAttribute('aria-invalid', id === undefined);
    note.replaceChildren(id === undefined ? `This is no request id. ${WHERE}` : WHERE);
    if (id === undefined) return field.focus();
    field.value = id;
    // The address then leads back here, without an event that would load the whole page again.
    history.replaceState(history.state, '', `#request=${id}`);
    one.load();
  });
  one.made.firstChild.after(form);
  return one;
}
