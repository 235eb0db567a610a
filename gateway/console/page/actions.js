// Actions of an operator. Each opens a dialog that asks the gateway what it would do, shows it, does it when it is confirmed, and follows
// on how many instances it is in force. Only the holder of the admin token gets buttons.

import { act, read, Unauthorized } from './api.js';
import { element } from './elements.js';
import { clockWithSeconds, count, gatewayNow, NONE, withTimes } from './format.js';
import { mayAct } from './role.js';

const FOLLOWED_MS = 20_000;
const ASKED_EVERY_MS = 400;

/** Title, consequence and the word of the button, by action. */
const ACTION_TEXTS = {
  'suspend-organization': {
    verb: 'Suspend',
    of: (id) => `Suspend ${id}?`,
    says: 'Every request with its keys and tokens is refused with 403 account_inactive until you resume it.',
    dangerous: true,
  },
  'resume-organization': {
    verb: 'Resume',
    of: (id) => `Resume ${id}?`,
    says: 'Requests with its keys and tokens are admitted again.',
  },
  'change-tier': {
    verb: 'Change tier',
    of: (id) => `Change the tier of ${id}?`,
    says: 'The limits of the new tier apply to all its keys at once.',
  },
  'revoke-key': {
    verb: 'Revoke',
    of: (id) => `Revoke ${id}?`,
    says: 'Every request with this key is refused with 401 api_key_revoked. This cannot be undone.',
    dangerous: true,
  },
  'reset-limits': {
    verb: 'Reset limits',
    of: (id) => `Reset the limits of ${id}?`,
    says: 'All its counters return to zero: it can use its full limits again at once.',
  },
  'retry-upstream': {
    verb: 'Retry',
    of: (id) => `Send the credential of ${id} again?`,
    says: 'The next request on each instance sends the refused credential again. Correct the account first: after several refusals, a mail server may ban the address of the gateway.',
  },
  'silence-alerts': {
    verb: 'Silence',
    of: (id) => `Silence alerts about ${id}?`,
    says: 'During this time, no instance sends receivers a new alert about it. They still get the end of an alert that they already have.',
  },
  'forget-instance': {
    verb: 'Gone for good',
    of: (id) => `Is ${id} gone for good?`,
    says: 'No instance lists it under what needs attention any longer, and its alert is resolved. If it responds again, it is shown again.',
  },
  'end-silence': {
    verb: 'End silence',
    of: (id) => `Send alerts about ${id} again?`,
    says: 'If the cause still exists, receivers get an alert at once.',
  },
};

/** Seconds of a silence. */
const DURATIONS = [
  ['1800', '30 minutes'],
  ['7200', '2 hours'],
  ['28800', '8 hours'],
  ['86400', 'a day'],
  ['604800', 'a week'],
];

/** Seconds of a silence that are not chosen. 0 ends one; an instance that is gone is dismissed by the shortest one. */
const FIXED_SECONDS = { 'end-silence': 0, 'forget-instance': 60 };

/**
 * A button for an action, or nothing for those who may not act.
 *
 * @param options.tiers names to choose from, for `change-tier`
 * @param options.text the texts of another name, for `silence-alerts`: `end-silence` ends it, `forget-instance` dismisses an instance
 * @param options.done called when it has been done
 */
export function actionButton(action, target, options = {}) {
  if (!mayAct()) return [];
  const { verb, dangerous } = ACTION_TEXTS[options.text ?? action];
  const kind = dangerous ? 'act dangerous' : 'act';
  const name = `${verb} ${target}`;
  const button = element('button', { type: 'button', class: kind, 'aria-label': name, 'data-focus': name }, verb);
  button.addEventListener('click', () => openDialog(action, target, name, options));
  return [button];
}

function openDialog(action, target, opener, { tiers = [], tier, text = action, done = () => undefined }) {
  const { verb, of, says, dangerous } = ACTION_TEXTS[text];
  const plan = element('div', { class: 'plan', 'aria-live': 'polite' }, element('p', { class: 'soft' }, 'Asking…'));
  const alert = element('p', { class: 'bad', role: 'alert' });
  const outcome = element('p', { class: 'outcome', role: 'status' });
  const confirm = element('button', { type: 'submit', class: dangerous ? 'dangerous' : 'main', disabled: '' }, verb);
  const cancel = element('button', { type: 'button' }, 'Cancel');
  const { parts, input } = fieldsFor(text, tiers, tier);
  const form = element(
    'form',
    { method: 'dialog' },
    element('h2', { id: 'dialog-title' }, of(target)),
    element('p', { id: 'dialog-says' }, says),
    ...parts,
    plan,
    alert,
    outcome,
    element('p', { class: 'buttons' }, cancel, confirm),
  );
  const dialog = element(
    'dialog',
    { class: 'action', 'aria-labelledby': 'dialog-title', 'aria-describedby': 'dialog-says' },
    form,
  );
  let seen;
  let busy = false;
  let over = false;
  let asked = 0;

  /** Asks what would happen, again whenever a field changes. Only the latest answer is used. */
  async function ask() {
    asked += 1;
    const mine = asked;
    confirm.disabled = true;
    const answer = await send({ dry_run: true, ...input.forPlan() });
    if (mine !== asked || over) return;
    seen = answer?.ok ? answer.body : undefined;
    plan.replaceChildren(...(seen === undefined ? [] : planOf(seen, input.tellLast(seen.last_key === true))));
    tell(answer);
    allow();
  }

  /** To revoke the last key of an organization, the operator has to check a box. An action without effect cannot be confirmed. */
  function allow() {
    confirm.disabled =
      busy ||
      seen === undefined ||
      !(changes(seen) || mayChangeElsewhere(seen)) ||
      (seen.last_key === true && !input.allowsLast());
  }

  function tell(answer) {
    alert.textContent = answer?.ok ? '' : (answer?.body.error ?? 'The gateway does not answer.');
  }

  async function send(body) {
    try {
      return await act(action, { target, ...body });
    } catch (error) {
      return error instanceof Unauthorized ? { ok: false, body: { error: 'The admin token is required.' } } : undefined;
    }
  }

  async function carryOut() {
    busy = true;
    allow();
    cancel.disabled = true;
    const answer = await send({ dry_run: false, if_match: seen.if_match, ...input.forChange() });
    busy = false;
    cancel.disabled = false;
    if (answer === undefined) {
      alert.textContent =
        'The gateway has not answered. The action may have been carried out: check this page and the audit log.';
      seen = undefined;
      allow();
      done();
      return;
    }
    if (!answer.ok) {
      await ask();
      tell(answer);
      done();
      return;
    }
    over = true;
    alert.textContent = '';
    for (const part of [...parts, confirm]) part.hidden = true;
    cancel.textContent = 'Close';
    cancel.focus();
    outcome.textContent = `Done at ${clockWithSeconds(gatewayNow())}.`;
    done();
    if (!['retry-upstream', 'silence-alerts'].includes(action)) await follow(outcome, dialog);
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!confirm.disabled && !over) void carryOut();
  });
  cancel.addEventListener('click', () => dialog.close());
  // The operator has to see the outcome of a request that is in progress.
  dialog.addEventListener('cancel', (event) => {
    if (busy) event.preventDefault();
  });
  dialog.addEventListener('keydown', keepInside);
  dialog.addEventListener('close', () => {
    over = true;
    dialog.remove();
    focusOn(opener);
  });
  input.onChange((asksAgain) => (asksAgain ? void ask() : allow()));
  document.body.append(dialog);
  dialog.showModal();
  cancel.focus();
  void ask();
}

/** Returns what the operator entered, as members of the request. */
function fieldsFor(action, tiers, tier) {
  const nothing = { forPlan: () => ({}), forChange: () => ({}), allowsLast: () => false, onChange: () => undefined };
  if (action in FIXED_SECONDS) {
    const forBoth = () => ({ seconds: FIXED_SECONDS[action] });
    return { parts: [], input: { ...nothing, forPlan: forBoth, forChange: forBoth, tellLast: () => [] } };
  }
  if (action === 'change-tier' || action === 'silence-alerts') {
    const isTier = action === 'change-tier';
    const choices = isTier ? tiers.filter((one) => one !== tier).map((one) => [one, one]) : DURATIONS;
    const select = element(
      'select',
      { id: 'dialog-choice' },
      ...choices.map(([value, shown]) => element('option', { value }, shown)),
    );
    const forBoth = () => (isTier ? { tier: select.value } : { seconds: Number(select.value) });
    const label = element('label', { for: 'dialog-choice' }, isTier ? 'New tier' : 'For');
    return {
      parts: [element('p', { class: 'field' }, label, select)],
      input: {
        ...nothing,
        forPlan: forBoth,
        forChange: forBoth,
        tellLast: () => [],
        onChange: (change) => select.addEventListener('change', () => change(true)),
      },
    };
  }
  if (action !== 'revoke-key') return { parts: [], input: { ...nothing, tellLast: () => [] } };
  const reason = element('input', { id: 'dialog-reason', maxlength: '200', autocomplete: 'off' });
  const box = element('input', { type: 'checkbox', id: 'dialog-last' });
  const last = element(
    'p',
    { class: 'last' },
    element('strong', { class: 'bad' }, '▲ It is the last usable key of its organization.'),
    element('label', {}, box, ' Revoke it anyway'),
  );
  return {
    parts: [
      element('p', { class: 'field' }, element('label', { for: 'dialog-reason' }, 'Reason, for the audit log'), reason),
    ],
    input: {
      forPlan: () => ({}),
      forChange: () => ({ reason: reason.value.trim(), allow_last: box.checked }),
      allowsLast: () => box.checked,
      tellLast: (isLast) => (isLast ? [last] : []),
      onChange: (change) => box.addEventListener('change', () => change(false)),
    },
  };
}

/** Each instance knows only its own refusals, so another instance may have one that this instance does not show. */
function mayChangeElsewhere({ action, before }) {
  return action === 'retry-upstream' && before.credential !== 'none';
}

function changes({ before, after }) {
  return JSON.stringify(before) !== JSON.stringify(after);
}

/** Times as people read them. */
const shown = (value) => (value == null ? NONE : withTimes(String(value)));

/** Members before and after, the usable keys, and the warning. */
function planOf(seen, last) {
  const { before, after, organization, usable_keys: keys } = seen;
  const rows = Object.keys(after).map((name) => [
    name.replaceAll('_', ' '),
    before[name] === after[name]
      ? `stays ${after[name]}`
      : element(
          'span',
          {},
          shown(before[name]),
          element('span', { 'aria-hidden': 'true' }, ' → '),
          element('span', { class: 'hidden' }, ' becomes '),
          element('strong', {}, shown(after[name])),
        ),
  ]);
  if (organization !== null && organization !== seen.target) rows.unshift(['organization', organization]);
  if (keys !== undefined)
    rows.push([
      'usable keys',
      keys.before === keys.after ? count(keys.before) : `${count(keys.before)} now, ${count(keys.after)} afterwards`,
    ]);
  const list = element('dl', {});
  for (const [name, value] of rows) list.append(element('div', {}, element('dt', {}, name), element('dd', {}, value)));
  const where = mayChangeElsewhere(seen) ? 'On the instance that answers, nothing' : 'Nothing';
  const nothing = changes(seen) ? [] : [element('p', { class: 'soft' }, `${where} would change.`)];
  return [list, ...last, ...nothing];
}

/** Says on how many instances the change is in force. Stops when all have it, the dialog is closed, or the time is over. */
async function follow(outcome, dialog) {
  const did = outcome.textContent;
  const endsAt = Date.now() + FOLLOWED_MS;
  for (;;) {
    const state = await read('in-force').catch(() => undefined);
    if (!dialog.isConnected) return;
    const { confirmed = 0, unconfirmed = [] } = state ?? {};
    const all = confirmed + unconfirmed.length;
    const isOver = Date.now() > endsAt;
    if (state === undefined) outcome.textContent = `${did} Whether it is in force on every instance is unknown.`;
    else if (unconfirmed.length === 0)
      outcome.textContent = `${did} In force on ${all === 1 ? 'the one instance' : `all ${count(all)} instances`}.`;
    else {
      const waiting = unconfirmed.map(({ host, pid }) => `${host}, process ${pid}`).join('; ');
      outcome.textContent = `${did} In force on ${count(confirmed)} of ${count(all)} instances${isOver ? `; not on ${waiting}` : '…'}.`;
    }
    if (isOver || (state !== undefined && unconfirmed.length === 0)) return;
    await new Promise((resolve) => setTimeout(resolve, ASKED_EVERY_MS));
  }
}

/** The Tab key goes around within the dialog. */
function keepInside(event) {
  if (event.key !== 'Tab') return;
  const all = [...event.currentTarget.querySelectorAll('button, input, select')];
  const parts = all.filter((part) => !part.disabled && part.closest('[hidden]') === null);
  const edge = event.shiftKey ? parts[0] : parts.at(-1);
  if (document.activeElement !== edge) return;
  event.preventDefault();
  (event.shiftKey ? parts.at(-1) : parts[0]).focus();
}

/** The button may have been replaced, or removed by the action. */
function focusOn(name) {
  const button = [...document.querySelectorAll('button[data-focus]')].find(({ dataset }) => dataset.focus === name);
  (button ?? document.getElementById('main')).focus({ preventScroll: true });
}
