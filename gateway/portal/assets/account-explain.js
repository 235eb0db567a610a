// The field that takes the id of a request, and what happened to the request: pasted here, or named by a link (`#request=…`).

import { isAddressable } from './account-figures.js';
import { explanationElements, fetchExplanation } from './account-requests.js';
import { element } from './page-tools.js';

const WHERE = 'It is in the header X-Request-Id of every response, and in request_id of every error.';

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

/**
 * @param section makes a part of the page that loads by itself
 * @returns the part, with its form
 */
export function explainSection(api, section) {
  let id = linkedId();
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
    const value = await fetchExplanation(api, id);
    return explanationElements(value, value.request);
  });

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    id = idIn(field.value);
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
