// Creates, rotates and revokes keys in a dialog.

import { secondsText } from './account-advice.js';
import { grantableScopes, linesOf, listOf, moment } from './account-figures.js';
import { choice, field, strong, willBe } from './account-key-parts.js';
import { createKeySteps } from './account-key-steps.js';
import { element } from './page-tools.js';

const MODES = [
  ['test', 'test: test data only'],
  ['live', 'live: real data'],
];
const OVERLAPS_SECONDS = [0, 3600, 86_400, 604_800, 2_592_000, 7_776_000];
const OVERLAP_SECONDS = 86_400;

export function createKeyActions(context) {
  const { own, scopes } = context;
  const steps = createKeySteps(context);

  function create(
    given = { name: '', mode: 'test', scopes: [], end: '', addresses: listOf(own?.allowed_cidrs) },
    refusal,
  ) {
    const { form, taken } = creationForm(given, grantableScopes(own, scopes));
    steps.fillIn('Create a key', form, refusal, () => {
      const next = taken();
      if (next.scopes.length === 0) return askForScope(form);
      const request = { method: 'POST', path: '/keys', body: bodyOf(next) };
      const offer = (value) =>
        steps.confirm({
          title: 'Create this key?',
          will: [willBe(value), element('p', {}, 'Its secret is shown once.')],
          action: { text: 'Create the key', kind: 'primary' },
          request,
          back: () => create(next),
          onDone: (made) => showNew('The key is created', made, { isForTests: next.mode === 'test' }),
        });
      steps.check(request, offer, (error) => create(next, error));
    });
  }

  function rotate(key, given = OVERLAP_SECONDS, refusal) {
    const { form, taken } = rotationForm(key, given);
    steps.fillIn(`Rotate ${key.name || key.id}`, form, refusal, () => {
      const seconds = taken();
      const path = `/keys/${encodeURIComponent(key.id)}/rotate`;
      const request = { method: 'POST', path, body: { overlap_seconds: seconds } };
      const endOf = ({ replaces }) => moment(replaces?.expires_at, `${secondsText(seconds)} from now`);
      const offer = (value) =>
        steps.confirm({
          title: 'Rotate this key?',
          will: [
            willBe(value),
            element(
              'p',
              {},
              'The old key ',
              strong(key),
              seconds === 0 ? ' ends at once.' : ` ends on ${endOf(value)}.`,
            ),
          ],
          action: { text: 'Rotate the key', kind: 'primary' },
          request,
          back: () => rotate(key, seconds),
          onDone(made) {
            const then = `works until ${endOf(made)}. Replace it everywhere before that.`;
            const notes = [element('p', {}, `The old key ${seconds === 0 ? 'has ended.' : then}`)];
            showNew('The new key', made, { notes, isForPage: key.id === own?.id });
          },
        });
      steps.check(request, offer, (error) => rotate(key, seconds, error));
    });
  }

  function showNew(title, made, options) {
    if (typeof made.secret === 'string') steps.showSecret(title, made, options);
    else steps.showLost(title, made, () => revoke(made));
  }

  function revoke(key, given = { reason: '' }, refusal) {
    const { form, taken } = revocationForm(key, given, refusal?.code === 'last_key');
    const again = (next) => (error) => revoke(key, next, error);
    steps.fillIn(`Revoke ${key.name || key.id}`, form, refusal, () => {
      const { reason, allowsLast } = taken();
      const path = `/keys/${encodeURIComponent(key.id)}`;
      const body = { ...(reason === '' ? {} : { reason }), ...(allowsLast ? { allow_last: true } : {}) };
      const offer = (request) => (value) =>
        steps.confirm({
          title: 'Revoke this key?',
          will: [willBe(value), revocationWarning(value, value.id === own?.id)],
          action: { text: 'Revoke the key', kind: 'danger' },
          request,
          back: () => revoke(key, { reason }),
          onDone: (done) => steps.showDone('The key is revoked', done),
        });
      const onRead = ({ etag }) => {
        const request = { method: 'POST', path: `${path}/revoke`, body, ifMatch: etag };
        return steps.check(request, offer(request), again({ reason }));
      };
      steps.readAgain(path, onRead, again({ reason }));
    });
  }

  return { create, rotate, revoke };
}

/** The gateway refuses a key without a scope, because it could do nothing. */
function askForScope(form) {
  const note = form.querySelector('#key-scopes-note');
  note.hidden = false;
  form.querySelector('.scope-choices').setAttribute('aria-describedby', note.id);
  form.querySelector('.scope-choice input').focus();
}

function creationForm(given, offered) {
  const name = element('input', { id: 'key-name', maxlength: '200', autocomplete: 'off', 'data-first': '' });
  const mode = choice('key-mode', MODES, given.mode);
  const boxes = offered.map((scope) => {
    const box = element('input', { type: 'checkbox', value: scope });
    box.checked = given.scopes.includes(scope);
    return box;
  });
  const labels = boxes.map((box) => {
    const note = box.value === '*' ? ' all scopes but those of operators and those that begin with gateway:' : '';
    return element('label', { class: 'scope-choice' }, box, ' ', element('code', {}, box.value), note);
  });
  const scopesNote = element(
    'p',
    { id: 'key-scopes-note', class: 'warning', hidden: '' },
    'Choose at least one scope.',
  );
  const end = element('input', { id: 'key-end', type: 'date' });
  const note = element(
    'small',
    { id: 'key-addresses-note' },
    'One address or CIDR range per line, such as 203.0.113.0/24.',
  );
  const addresses = element('textarea', {
    id: 'key-addresses',
    rows: '2',
    spellcheck: 'false',
    'aria-describedby': note.id,
  });
  name.value = given.name;
  end.value = given.end;
  addresses.value = given.addresses.join('\n');
  const form = element(
    'form',
    { id: 'key-form', autocomplete: 'off' },
    field('Name', name),
    field('Mode', mode),
    element(
      'fieldset',
      { class: 'scope-choices' },
      element('legend', {}, 'Scopes'),
      scopesNote,
      element('div', {}, ...labels),
    ),
    field('Ends on (optional), at 00:00 UTC', end),
    field('Only from these addresses (optional)', addresses, note),
  );
  const takenName = () => ({
    name: name.value.trim(),
    mode: mode.value,
    scopes: boxes.flatMap((box) => (box.checked ? [box.value] : [])),
    end: end.value,
    addresses: linesOf(addresses.value),
  });
  return { form, taken: takenName };
}

function bodyOf({ name, mode, scopes, end, addresses }) {
  return {
    mode,
    scopes,
    ...(name === '' ? {} : { name }),
    ...(end === '' ? {} : { expires_at: `${end}T00:00:00Z` }),
    ...(addresses.length === 0 ? {} : { allowed_cidrs: addresses }),
  };
}

function rotationForm(key, given) {
  const overlaps = OVERLAPS_SECONDS.map((seconds) => [
    String(seconds),
    seconds === 0 ? 'ends at once' : `works for ${secondsText(seconds)} more`,
  ]);
  const overlap = choice('key-overlap', overlaps, String(given));
  overlap.dataset.first = '';
  const text = element(
    'p',
    {},
    'A new key with the same rights takes the place of ',
    strong(key),
    '. Until the old key ends, both work.',
  );
  const form = element('form', { id: 'key-form' }, text, field('The old key', overlap));
  return { form, taken: () => Number(overlap.value) };
}

function revocationForm(key, given, isLast) {
  const reason = element('input', { id: 'key-reason', maxlength: '200', 'data-first': '' });
  reason.value = given.reason;
  const allow = element('input', { type: 'checkbox', id: 'key-allow-last', required: '' });
  const form = element(
    'form',
    { id: 'key-form', autocomplete: 'off' },
    element('p', {}, 'Requests with ', strong(key), ' are refused from then on. This cannot be undone.'),
    field('Reason for the audit log (optional)', reason),
  );
  if (isLast)
    form.append(
      element('label', { class: 'scope-choice' }, allow, ' Revoke it although it is the last key that works'),
    );
  return { form, taken: () => ({ reason: reason.value.trim(), allowsLast: isLast && allow.checked }) };
}

function revocationWarning({ last_used_at: usedAt }, isOwn) {
  return element(
    'p',
    { class: 'warning' },
    isOwn ? 'This page uses this key: after that it shows nothing more. ' : '',
    'It was last used: ',
    element('strong', {}, moment(usedAt)),
    '. Clients that still use it are refused.',
  );
}
