// The keys of an organization: the list, and the dialogs that create, rotate and revoke them. Each of these asks with `dry_run` first, says what
// will happen, and is sent under one Idempotency-Key until its answer has arrived.

import { adviceElement, secondsText } from './account-advice.js';
import { createIntention, isOutcomeUnknown, Refusal } from './account-api.js';
import { grantableScopes, inForceText, linesOf, listOf, mayChangeKeys, moment, ownKeyIn } from './account-figures.js';
import { copyOnPress, element } from './page-tools.js';

const WAIT_SECONDS = '10';
const OVERLAPS_SECONDS = [0, 3600, 86_400, 604_800, 2_592_000, 7_776_000];
const OVERLAP_SECONDS = 86_400;
const SCOPES_SHOWN = 6;

/**
 * @param context.secret the key of the page
 * @param context.scopes those of the contracts
 * @param context.reload shows the list again
 * @param context.useKey goes on with another key
 */
export function keysElements(keys, hasMore, context) {
  const own = ownKeyIn(keys, context.secret);
  const isOffered = mayChangeKeys(own);
  const actions = createActions({ ...context, own });
  const card = (key) => keyElement(key, { isOwn: key.id === own?.id, actions: isOffered ? actions : undefined });
  const usable = keys.filter(({ state }) => state === 'active');
  const others = keys.filter(({ state }) => state !== 'active');
  const parts = [];
  if (isOffered) {
    const create = element('button', { type: 'button', class: 'primary' }, 'Create a key');
    create.addEventListener('click', () => actions.create());
    parts.push(element('p', {}, create));
  } else {
    parts.push(
      element(
        'p',
        { class: 'account-soft' },
        'To create, rotate and revoke keys, use a key with the scope ',
        element('code', {}, 'gateway:keys'),
        '.',
      ),
    );
  }
  parts.push(element('ul', { class: 'account-cards' }, ...usable.map((key) => element('li', {}, card(key)))));
  if (others.length > 0) {
    const list = element('ul', { class: 'account-cards' }, ...others.map((key) => element('li', {}, card(key))));
    parts.push(
      element('details', { class: 'nested' }, element('summary', {}, `Revoked and expired (${others.length})`), list),
    );
  }
  if (hasMore) parts.push(element('p', { class: 'cut' }, 'There are more keys than are shown.'));
  return parts;
}

function keyElement(key, { isOwn, actions }) {
  const { id, name, state, mode, scopes, allowed_cidrs: addresses, prefix, last_four: end } = key;
  const badges = [
    element('span', { class: `badge ${state === 'active' ? 'good' : 'off'}` }, state),
    ...(mode === 'test' ? [element('span', { class: 'badge' }, 'test')] : []),
    ...(isOwn ? [element('span', { class: 'badge' }, 'this page uses it')] : []),
  ];
  const facts = [
    ['Key', element('code', {}, `${prefix}…${end}`)],
    ['Last used', moment(key.last_used_at)],
    ['Ends', moment(key.expires_at)],
    ['Created', moment(key.created_at)],
    ...(key.revoked_at
      ? [['Revoked', `${moment(key.revoked_at)}${key.revoked_reason ? `: ${key.revoked_reason}` : ''}`]]
      : []),
    ...(key.replaced_by ? [['Replaced by', element('code', {}, key.replaced_by)]] : []),
    ...(listOf(addresses).length > 0 ? [['Only from', addresses.join(', ')]] : []),
  ];
  const made = element(
    'article',
    { class: 'account-card' },
    element('h3', {}, name || 'No name', ' ', ...badges),
    element(
      'dl',
      { class: 'key-facts' },
      ...facts.map(([term, value]) => element('div', {}, element('dt', {}, term), element('dd', {}, value))),
    ),
    scopeList(listOf(scopes)),
  );
  if (actions === undefined || state !== 'active') return made;
  const button = (text, act) => {
    const one = element('button', { type: 'button', 'aria-label': `${text} ${name || id}` }, text);
    one.addEventListener('click', act);
    return one;
  };
  made.append(
    element(
      'p',
      { class: 'account-actions' },
      button('Rotate', () => actions.rotate(key)),
      button('Revoke', () => actions.revoke(key)),
    ),
  );
  return made;
}

function scopeList(scopes) {
  const item = (scope) => element('li', {}, element('code', {}, String(scope)));
  const shown = element('ul', { class: 'scopes', 'aria-label': 'Scopes' }, ...scopes.slice(0, SCOPES_SHOWN).map(item));
  if (scopes.length <= SCOPES_SHOWN) return shown;
  const rest = element('ul', { class: 'scopes' }, ...scopes.slice(SCOPES_SHOWN).map(item));
  return element(
    'div',
    {},
    shown,
    element(
      'details',
      { class: 'nested' },
      element('summary', {}, `${scopes.length - SCOPES_SHOWN} more scopes`),
      rest,
    ),
  );
}

function createActions({ api, dialog, own, scopes, reload, useKey }) {
  const cancel = { text: 'Cancel', onPress: () => dialog.close() };

  /** Asks what would happen; `onRefused` shows a refusal where the reader can change something. */
  async function check({ method, path, body, ifMatch }, onChecked, onRefused) {
    dialog.showBusy('Checking…');
    try {
      onChecked((await api.ask(method, path, { body, ifMatch, query: [['dry_run', 'true']] })).value);
    } catch (error) {
      if (error instanceof Refusal) onRefused(error);
      else if (error.name !== 'AbortError') throw error;
    }
  }

  /** The last step before something changes. */
  function confirm({ title, will, button, kind, request, onDone, back }) {
    // One decision, one Idempotency-Key, however often the button is pressed.
    const intention = createIntention({ ...request, query: [['wait', WAIT_SECONDS]] });

    async function send() {
      dialog.showBusy('Waiting until every gateway has it…');
      dialog.onClose(reload);
      try {
        onDone((await api.carryOut(intention)).value);
      } catch (error) {
        if (error instanceof Refusal) showFailure(error);
        else if (error.name !== 'AbortError') throw error;
      }
    }

    function showFailure(refusal) {
      if (!isOutcomeUnknown(refusal))
        return dialog.show(
          title,
          [...will, adviceElement(refusal)],
          [...(refusal.status === 429 ? [{ text: 'Try again', kind: 'primary', onPress: send }] : []), ...back, cancel],
        );
      const note = element(
        'p',
        {},
        'It may have been done although no answer arrived. ',
        element('strong', {}, 'Send it again:'),
        ' it has the same Idempotency-Key, so that nothing is done twice.',
      );
      dialog.show(
        title,
        [adviceElement(refusal), note],
        [
          { text: 'Send again', kind: 'primary', onPress: send },
          { text: 'Close', onPress: () => dialog.close() },
        ],
        { isLocked: true },
      );
    }

    dialog.show(title, will, [{ text: button, kind, onPress: send }, ...back, cancel]);
  }

  /** A key and its secret, or why the secret is missing. */
  function showSecret(title, { id, name, secret, in_force: inForce, expires_at: end }, further) {
    const force = element('p', {}, inForceText(inForce), ...(end ? [` It ends on ${moment(end)}.`] : []));
    if (typeof secret !== 'string') {
      const lost = element(
        'p',
        { class: 'warning' },
        `The key ${name || id} exists, and its secret was in an answer that did not arrive. Nothing can show it again: revoke this key and create another.`,
      );
      return dialog.show(
        title,
        [lost, force, ...further],
        [
          { text: 'Revoke it', kind: 'danger', onPress: () => revoke({ id, name }) },
          { text: 'Close', onPress: () => dialog.close() },
        ],
      );
    }
    const code = element('code', { id: 'account-secret' }, secret);
    const copy = element('button', { type: 'button', class: 'primary' }, 'Copy');
    copyOnPress(copy, code);
    const warning = element(
      'p',
      { class: 'warning' },
      'Store this key now. It is shown here once, and no other answer has it.',
    );
    const content = [warning, element('div', { class: 'secret-row' }, code, copy), force, ...further];
    const onward =
      own !== undefined && further.length > 0 ? [{ text: 'Use it on this page', onPress: () => goOn(secret) }] : [];
    dialog.show(title, content, [{ text: 'I have stored it', onPress: () => dialog.close() }, ...onward], {
      isLocked: true,
    });
  }

  function goOn(secret) {
    dialog.onClose(() => useKey(secret));
    dialog.close();
  }

  function create(given = { mode: 'live', scopes: [], addresses: listOf(own?.allowed_cidrs) }, refusal) {
    const form = element('form', { id: 'key-form', class: 'key-form', autocomplete: 'off' });
    const name = element('input', { id: 'key-name', maxlength: '200', autocomplete: 'off', 'data-first': '' });
    name.value = given.name ?? '';
    const mode = choice(
      'key-mode',
      [
        ['live', 'live: real data'],
        ['test', 'test: test data only'],
      ],
      given.mode,
    );
    const offered = grantableScopes(own, scopes);
    const boxes = offered.map((scope) => {
      const box = element('input', { type: 'checkbox', value: scope });
      box.checked = given.scopes.includes(scope);
      const note = scope === '*' ? ' every scope but those of operators and gateway:' : '';
      return [box, element('label', { class: 'scope-choice' }, box, ' ', element('code', {}, scope), note)];
    });
    const end = element('input', { id: 'key-end', type: 'date' });
    end.value = given.end ?? '';
    const addresses = element('textarea', {
      id: 'key-addresses',
      rows: '2',
      spellcheck: 'false',
      'aria-describedby': 'key-addresses-note',
    });
    addresses.value = given.addresses.join('\n');
    form.append(
      field('Name', name),
      field('Mode', mode),
      element(
        'fieldset',
        { class: 'scope-choices' },
        element('legend', {}, 'Scopes'),
        element('div', {}, ...boxes.map(([, label]) => label)),
      ),
      field('Ends on (optional), at 00:00 UTC', end),
      field(
        'Only from these addresses (optional)',
        addresses,
        element('small', { id: 'key-addresses-note' }, 'One address or CIDR range per line, such as 203.0.113.0/24.'),
      ),
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const taken = {
        name: name.value.trim(),
        mode: mode.value,
        scopes: boxes.flatMap(([box]) => (box.checked ? [box.value] : [])),
        end: end.value,
        addresses: linesOf(addresses.value),
      };
      const request = { method: 'POST', path: '/keys', body: bodyOf(taken) };
      const back = [{ text: 'Back', onPress: () => create(taken) }];
      check(
        request,
        (value) =>
          confirm({
            title: 'Create this key?',
            will: [willBe(value), element('p', {}, 'Its secret is shown once.')],
            ...{ button: 'Create the key', kind: 'primary', request, back },
            onDone: (made) => showSecret('The key is created', made, []),
          }),
        (error) => create(taken, error),
      );
    });
    dialog.show(
      'Create a key',
      [...(refusal ? [adviceElement(refusal)] : []), form],
      [{ text: 'Continue', kind: 'primary', form: 'key-form' }, cancel],
    );
  }

  function rotate(key, given = OVERLAP_SECONDS, refusal) {
    const form = element('form', { id: 'key-form', class: 'key-form' });
    const overlaps = OVERLAPS_SECONDS.map((seconds) => [
      String(seconds),
      seconds === 0 ? 'ends at once' : `works for ${secondsText(seconds)} more`,
    ]);
    const overlap = choice('key-overlap', overlaps, String(given));
    overlap.dataset.first = '';
    form.append(
      element(
        'p',
        {},
        'A new key with the same rights takes the place of ',
        strong(key),
        '. Until the old key ends, both work.',
      ),
      field('The old key', overlap),
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const seconds = Number(overlap.value);
      const request = {
        method: 'POST',
        path: `/keys/${encodeURIComponent(key.id)}/rotate`,
        body: { overlap_seconds: seconds },
      };
      check(
        request,
        (value) =>
          confirm({
            title: 'Rotate this key?',
            will: [
              willBe(value),
              element(
                'p',
                {},
                'The old key ',
                strong(key),
                ` ${seconds === 0 ? 'ends at once.' : `ends on ${moment(value.replaces?.expires_at, `its day, at most ${secondsText(seconds)} from now`)}.`}`,
              ),
            ],
            ...{ button: 'Rotate the key', kind: 'primary', request },
            back: [{ text: 'Back', onPress: () => rotate(key, seconds) }],
            onDone: (made) =>
              showSecret('The new key', made, [
                element(
                  'p',
                  {},
                  `The old key ${seconds === 0 ? 'has ended.' : `works until ${moment(made.replaces?.expires_at)}. Replace it everywhere before that.`}`,
                ),
              ]),
          }),
        (error) => rotate(key, seconds, error),
      );
    });
    dialog.show(
      `Rotate ${key.name || key.id}`,
      [...(refusal ? [adviceElement(refusal)] : []), form],
      [{ text: 'Continue', kind: 'primary', form: 'key-form' }, cancel],
    );
  }

  function revoke(key, given = { reason: '' }, refusal) {
    const isLast = refusal?.code === 'last_key';
    const form = element('form', { id: 'key-form', class: 'key-form', autocomplete: 'off' });
    const reason = element('input', { id: 'key-reason', maxlength: '200', 'data-first': '' });
    reason.value = given.reason;
    const allow = element('input', { type: 'checkbox', id: 'key-allow-last', required: isLast ? '' : undefined });
    form.append(
      element('p', {}, 'Requests with ', strong(key), ' are refused from then on. This cannot be undone.'),
      field('Reason for the audit log (optional)', reason),
      ...(isLast
        ? [element('label', { class: 'scope-choice' }, allow, ' Revoke it although it is the last key that works')]
        : []),
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      prepare(key, { reason: reason.value.trim(), allowLast: isLast && allow.checked });
    });
    dialog.show(
      `Revoke ${key.name || key.id}`,
      [...(refusal ? [adviceElement(refusal)] : []), form],
      [{ text: 'Continue', kind: 'primary', form: 'key-form' }, cancel],
    );
  }

  /** Reads the key again, so that what is confirmed is what is revoked. */
  async function prepare(key, given) {
    const path = `/keys/${encodeURIComponent(key.id)}`;
    const body = {
      ...(given.reason === '' ? {} : { reason: given.reason }),
      ...(given.allowLast ? { allow_last: true } : {}),
    };
    const again = (error) => revoke(key, given, error);
    let request;
    dialog.showBusy('Checking…');
    try {
      const { etag } = await api.get(path);
      request = { method: 'POST', path: `${path}/revoke`, body, ifMatch: etag };
    } catch (error) {
      if (error instanceof Refusal) again(error);
      return;
    }
    check(
      request,
      (value) => {
        const isOwn = value.id === own?.id;
        confirm({
          title: 'Revoke this key?',
          will: [
            willBe(value),
            element(
              'p',
              { class: 'warning' },
              isOwn ? 'This page uses this key: after that it shows nothing more. ' : '',
              'It was last used ',
              element('strong', {}, moment(value.last_used_at)),
              '. Clients that still use it are refused.',
            ),
          ],
          ...{ button: 'Revoke the key', kind: 'danger', request },
          back: [{ text: 'Back', onPress: () => revoke(key, given) }],
          onDone: (done) =>
            dialog.show(
              'The key is revoked',
              [element('p', {}, inForceText(done.in_force))],
              [{ text: 'Close', onPress: () => dialog.close() }],
            ),
        });
      },
      again,
    );
  }

  return { create, rotate, revoke };
}

const strong = ({ name, id }) => element('strong', {}, name || id);

function bodyOf({ name, mode, scopes, end, addresses }) {
  return {
    mode,
    scopes,
    ...(name === '' ? {} : { name }),
    ...(end === '' ? {} : { expires_at: `${end}T00:00:00Z` }),
    ...(addresses.length === 0 ? {} : { allowed_cidrs: addresses }),
  };
}

/** What a key is, or would be. */
function willBe({ name, mode, scopes, expires_at: end, allowed_cidrs: addresses }) {
  const facts = [
    ['Name', name || 'none'],
    ['Mode', String(mode)],
    ['Ends', moment(end)],
    ['From', listOf(addresses).length > 0 ? addresses.join(', ') : 'any address'],
  ];
  return element(
    'div',
    { class: 'account-card' },
    element(
      'dl',
      { class: 'key-facts' },
      ...facts.map(([term, value]) => element('div', {}, element('dt', {}, term), element('dd', {}, value))),
    ),
    scopeList(listOf(scopes)),
  );
}

function field(text, input, ...notes) {
  return element('div', { class: 'field' }, element('label', { for: input.id }, text), input, ...notes);
}

function choice(id, options, chosen) {
  const made = element('select', { id }, ...options.map(([value, text]) => element('option', { value }, text)));
  made.value = chosen;
  return made;
}
