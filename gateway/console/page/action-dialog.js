// The dialog of an action. It asks the gateway what the action would do, shows it, does it when it is confirmed, and follows on how many
// instances it is in force.

import { fieldsFor } from './action-fields.js';
import { changes, mayChangeElsewhere, planOf } from './action-plan.js';
import { act, read, Unauthorized } from './api.js';
import { element } from './elements.js';
import { clockWithSeconds, count, gatewayNow } from './format.js';

const FOLLOWED_MS = 20_000;
const ASKED_EVERY_MS = 400;
/** Actions whose effect is not reported by instance. */
const UNFOLLOWED = ['retry-upstream', 'silence-alerts'];

export class ActionDialog {
  #action;
  #target;
  #opener;
  #done;
  /** The fields, and what the operator entered in them. */
  #fields;
  /** The elements of the dialog, by name. */
  #parts;
  /** The latest answer about what would happen; undefined while it is not known. */
  #seen;
  #isBusy = false;
  #isOver = false;
  #asked = 0;

  /**
   * @param opener the name of the button that gets the focus at the end
   * @param texts title, consequence and the word of the button
   * @param options.fields the name of the action with these fields; `tiers`, `tier` and `done` as for `actionButton`
   */
  constructor(action, target, opener, texts, { fields, tiers = [], tier, done = () => undefined }) {
    this.#action = action;
    this.#target = target;
    this.#opener = opener;
    this.#done = done;
    this.#fields = fieldsFor(fields, tiers, tier);
    this.#parts = partsOf(texts, target, this.#fields.parts);
    this.#listen();
  }

  open() {
    const { dialog, cancel } = this.#parts;
    document.body.append(dialog);
    dialog.showModal();
    cancel.focus();
    void this.#ask();
  }

  #listen() {
    const { dialog, form, cancel, confirm } = this.#parts;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (!confirm.disabled && !this.#isOver) void this.#carryOut();
    });
    cancel.addEventListener('click', () => dialog.close());
    // The operator has to see the outcome of a request that is in progress.
    dialog.addEventListener('cancel', (event) => {
      if (this.#isBusy) event.preventDefault();
    });
    dialog.addEventListener('keydown', keepInside);
    dialog.addEventListener('close', () => {
      this.#isOver = true;
      dialog.remove();
      focusOn(this.#opener);
    });
    this.#fields.input.onChange((asksAgain) => (asksAgain ? void this.#ask() : this.#allow()));
  }

  /** Asks what would happen, again whenever a field changes. Only the latest answer is used. */
  async #ask() {
    const { input } = this.#fields;
    this.#asked += 1;
    const mine = this.#asked;
    this.#parts.confirm.disabled = true;
    const answer = await this.#send({ dry_run: true, ...input.forPlan() });
    if (mine !== this.#asked || this.#isOver) return;
    const seen = answer?.ok ? answer.body : undefined;
    this.#seen = seen;
    this.#parts.plan.replaceChildren(
      ...(seen === undefined ? [] : planOf(seen, input.tellLast(seen.last_key === true))),
    );
    this.#tell(answer);
    this.#allow();
  }

  /**
   * Enables the confirmation. An action without effect cannot be confirmed. To revoke the last key of an organization, the operator has to
   * check a box.
   */
  #allow() {
    const seen = this.#seen;
    this.#parts.confirm.disabled =
      this.#isBusy ||
      seen === undefined ||
      !(changes(seen) || mayChangeElsewhere(seen)) ||
      (seen.last_key === true && !this.#fields.input.allowsLast());
  }

  #tell(answer) {
    this.#parts.alert.textContent = answer?.ok ? '' : (answer?.body.error ?? 'The gateway does not answer.');
  }

  async #send(body) {
    try {
      return await act(this.#action, { target: this.#target, ...body });
    } catch (error) {
      return error instanceof Unauthorized ? { ok: false, body: { error: 'The admin token is required.' } } : undefined;
    }
  }

  async #carryOut() {
    const { cancel } = this.#parts;
    this.#isBusy = true;
    this.#allow();
    cancel.disabled = true;
    const change = { dry_run: false, if_match: this.#seen.if_match, ...this.#fields.input.forChange() };
    const answer = await this.#send(change);
    this.#isBusy = false;
    cancel.disabled = false;
    if (answer === undefined) this.#showUnanswered();
    else if (answer.ok) await this.#showOutcome();
    else {
      await this.#ask();
      this.#tell(answer);
      this.#done();
    }
  }

  #showUnanswered() {
    this.#parts.alert.textContent =
      'The gateway has not answered. The action may have been carried out: check this page and the audit log.';
    this.#seen = undefined;
    this.#allow();
    this.#done();
  }

  async #showOutcome() {
    const { dialog, cancel, confirm, alert, outcome } = this.#parts;
    this.#isOver = true;
    alert.textContent = '';
    for (const part of [...this.#fields.parts, confirm]) part.hidden = true;
    cancel.textContent = 'Close';
    cancel.focus();
    outcome.textContent = `Done at ${clockWithSeconds(gatewayNow())}.`;
    this.#done();
    if (!UNFOLLOWED.includes(this.#action)) await follow(outcome, dialog);
  }
}

/** Makes the elements of a dialog. */
function partsOf({ verb, of, says, dangerous }, target, fields) {
  const plan = element('div', { class: 'plan', 'aria-live': 'polite' }, element('p', { class: 'soft' }, 'Asking…'));
  const alert = element('p', { class: 'bad', role: 'alert' });
  const outcome = element('p', { class: 'outcome', role: 'status' });
  const confirm = element('button', { type: 'submit', class: dangerous ? 'dangerous' : 'main', disabled: '' }, verb);
  const cancel = element('button', { type: 'button' }, 'Cancel');
  const form = element(
    'form',
    { method: 'dialog' },
    element('h2', { id: 'dialog-title' }, of(target)),
    element('p', { id: 'dialog-says' }, says),
    ...fields,
    plan,
    alert,
    outcome,
    element('p', { class: 'buttons' }, cancel, confirm),
  );
  const labels = { 'aria-labelledby': 'dialog-title', 'aria-describedby': 'dialog-says' };
  const dialog = element('dialog', { class: 'action', ...labels }, form);
  return { plan, alert, outcome, confirm, cancel, form, dialog };
}

/** An instance that has not reported for so long, although each reports every two seconds, may have ended. */
const SILENT_MS = 5000;

/**
 * Says on how many instances the change is in force. Stops when all that report have it, the dialog is closed, or the time is over. Names
 * the silent ones at once, because a killed process is listed for its grace.
 */
async function follow(outcome, dialog) {
  const did = outcome.textContent;
  const endsAt = Date.now() + FOLLOWED_MS;
  for (;;) {
    const report = await read('in-force').catch(() => undefined);
    if (!dialog.isConnected) return;
    const { confirmed = 0, unconfirmed = [] } = report ?? {};
    const waiting = unconfirmed.filter(({ silent_ms: silentMs }) => silentMs <= SILENT_MS);
    const silent = unconfirmed.filter((one) => !waiting.includes(one));
    const all = confirmed + waiting.length;
    const isOver = Date.now() > endsAt;
    const others = silent.length === 0 ? '' : ` Not on silent ones: ${namesOf(silent)}.`;
    if (report === undefined) outcome.textContent = `${did} Whether it is in force on every instance is unknown.`;
    else if (waiting.length === 0)
      outcome.textContent = `${did} In force on ${all === 1 ? 'the one instance' : `all ${count(all)} instances`}.${others}`;
    else {
      const missing = isOver ? `; not on ${namesOf(waiting)}.` : '…';
      outcome.textContent = `${did} In force on ${count(confirmed)} of ${count(all)} instances${missing}${others}`;
    }
    if (isOver || (report !== undefined && waiting.length === 0)) return;
    await new Promise((resolve) => setTimeout(resolve, ASKED_EVERY_MS));
  }
}

function namesOf(instances) {
  return instances.map(({ host, pid }) => `${host}, process ${pid}`).join('; ');
}

/** Keeps the focus in the dialog when the Tab key is pressed on its first or last part. */
function keepInside(event) {
  if (event.key !== 'Tab') return;
  const all = [...event.currentTarget.querySelectorAll('button, input, select')];
  const parts = all.filter((part) => !part.disabled && part.closest('[hidden]') === null);
  const edge = event.shiftKey ? parts[0] : parts.at(-1);
  if (document.activeElement !== edge) return;
  event.preventDefault();
  (event.shiftKey ? parts.at(-1) : parts[0]).focus();
}

/** Focuses the button with this name, or the page if the action has removed the button. */
function focusOn(name) {
  const button = [...document.querySelectorAll('button[data-focus]')].find(({ dataset }) => dataset.focus === name);
  (button ?? document.getElementById('main')).focus({ preventScroll: true });
}
