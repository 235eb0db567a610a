// The common steps of changes of keys: ask with `dry_run`, show the effect, send the change under one Idempotency-Key until its answer has
// arrived, show a secret once.

import { adviceElement } from './account-advice.js';
import { createIntention, isOutcomeUnknown, Refusal } from './account-api.js';
import { inForceText, moment } from './account-figures.js';
import { copyOnPress, element } from './page-tools.js';

const WAIT_SECONDS = '10';

/** @param context.reload shows the list of keys again; `useKey` continues with another key */
export function createKeySteps({ api, dialog, reload, useKey }) {
  const close = { text: 'Close', onPress: () => dialog.close() };
  const cancel = { ...close, text: 'Cancel' };

  /** Sends a request. Ignores a request that ends because the reader leaves the page. */
  async function ask(request, onAnswer, onRefused) {
    let answer;
    try {
      answer = await request();
    } catch (error) {
      if (error instanceof Refusal) return onRefused(error);
      if (error.name === 'AbortError') return;
      throw error;
    }
    await onAnswer(answer);
  }

  /** The first step: a form. `refusal` is the refusal of the trial before, if there was one. */
  function fillIn(title, form, refusal, onSubmit) {
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      onSubmit();
    });
    const advice = refusal === undefined ? [] : [adviceElement(refusal)];
    dialog.show(title, [...advice, form], [{ text: 'Continue', kind: 'primary', form: form.id }, cancel]);
  }

  /** The second step: asks the gateway for the effect, with `dry_run`. */
  function check({ method, path, ...request }, onChecked, onRefused) {
    dialog.showBusy('Checking…');
    const trial = () => api.ask(method, path, { ...request, query: [['dry_run', 'true']] });
    return ask(trial, ({ value }) => onChecked(value), onRefused);
  }

  /** Reads a key again, because the reader confirms a change of its current state. */
  function readAgain(path, onRead, onRefused) {
    dialog.showBusy('Checking…');
    return ask(() => api.get(path), onRead, onRefused);
  }

  /** The last step before something changes. */
  function confirm({ title, will, action, request, back, onDone }) {
    // One decision, one Idempotency-Key, however often the button is pressed.
    const intention = createIntention({ ...request, query: [['wait', WAIT_SECONDS]] });
    const leave = [{ text: 'Back', onPress: back }, cancel];

    function send() {
      dialog.showBusy('Waiting until every gateway has it…');
      dialog.onClose(reload);
      return ask(
        () => api.carryOut(intention),
        ({ value }) => onDone(value),
        (refusal) => (isOutcomeUnknown(refusal) ? askAgain(refusal) : showRefusal(refusal)),
      );
    }

    function showRefusal(refusal) {
      const again = refusal.status === 429 ? [{ text: 'Try again', kind: 'primary', onPress: send }] : [];
      dialog.show(title, [...will, adviceElement(refusal)], [...again, ...leave]);
    }

    function askAgain(refusal) {
      const note = element(
        'p',
        {},
        'It may have been done all the same. ',
        element('strong', {}, 'Send it again:'),
        ' it has the same Idempotency-Key, so that nothing is done twice.',
      );
      const again = { text: 'Send again', kind: 'primary', onPress: send };
      dialog.show(title, [adviceElement(refusal), note], [again, close], { isLocked: true });
    }

    dialog.show(title, will, [{ ...action, onPress: send }, ...leave]);
  }

  /** A key with its secret; `isForPage` and `isForTests` offer to go on with it here, or in the documentation. */
  function showSecret(
    title,
    { secret, in_force: inForce, expires_at: end },
    { notes = [], isForPage = false, isForTests = false },
  ) {
    const code = element('code', { id: 'account-secret' }, secret);
    const copy = element('button', { type: 'button', class: 'primary' }, 'Copy');
    copyOnPress(copy, code);
    const content = [
      element('p', { class: 'warning' }, 'Store this key now. It is shown here once, and no other response has it.'),
      element('div', { class: 'secret-row' }, code, copy),
      element('p', {}, inForceText(inForce), ...(end ? [` It ends on ${moment(end)}.`] : [])),
      ...notes,
    ];
    const onward = (text, goOn) => ({
      text,
      onPress() {
        dialog.onClose(goOn);
        dialog.close();
      },
    });
    const ways = [
      ...(isForPage ? [onward('Use it on this page', () => useKey(secret))] : []),
      // A browser sends no fragment, and the page that takes the key removes it from the address.
      ...(isForTests ? [onward('Use it in the documentation', () => location.assign(`/docs#key=${secret}`))] : []),
    ];
    dialog.show(title, content, [{ ...close, text: 'I have stored it' }, ...ways], { isLocked: true });
  }

  /** A key whose secret was in an answer that did not arrive. */
  function showLost(title, key, onRevoke) {
    const text = `The key ${key.name || key.id} exists, and its secret was in a response that did not arrive. Nothing can show it again: revoke this key and create another.`;
    const actions = [{ text: 'Revoke it', kind: 'danger', onPress: onRevoke }, close];
    dialog.show(title, [element('p', { class: 'warning' }, text)], actions);
  }

  function showDone(title, { in_force: inForce }) {
    dialog.show(title, [element('p', {}, inForceText(inForce))], [close]);
  }

  return { fillIn, check, readAgain, confirm, showSecret, showLost, showDone };
}
