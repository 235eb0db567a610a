// The dialog in which keys are created, rotated and revoked. While it is locked (a request is in progress, or a secret is shown), neither
// Escape nor a reload closes it without a question.

import { element } from './page-tools.js';

export function createDialog(dialog) {
  let isLocked = false;
  let afterClose = () => undefined;

  const ask = (event) => event.preventDefault();
  function lock(value) {
    isLocked = value;
    if (value) addEventListener('beforeunload', ask);
    else removeEventListener('beforeunload', ask);
  }

  dialog.addEventListener('cancel', (event) => {
    if (isLocked) event.preventDefault();
  });
  // A second Escape would close a dialog whose `cancel` was prevented.
  dialog.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && isLocked) event.preventDefault();
  });
  dialog.addEventListener('close', () => {
    lock(false);
    // A secret does not stay in the page.
    dialog.replaceChildren();
    afterClose();
    afterClose = () => undefined;
  });

  /**
   * Shows a step.
   * @param actions each with a text and a function; the first is the main one. `submit` leaves it to the form in `content`.
   */
  function show(title, content, actions, { isLocked: locked = false } = {}) {
    const heading = element('h2', { id: 'account-dialog-title', tabindex: '-1' }, title);
    const buttons = actions.map(({ text, kind, form, onPress }) => {
      const button = element('button', { type: form === undefined ? 'button' : 'submit', class: kind, form }, text);
      if (onPress) button.addEventListener('click', onPress);
      return button;
    });
    dialog.replaceChildren(heading, ...content, element('p', { class: 'account-actions' }, ...buttons));
    lock(locked);
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    (dialog.querySelector('[data-first]') ?? heading).focus();
  }

  function showBusy(text) {
    for (const one of dialog.querySelectorAll('button, input, select, textarea')) one.disabled = true;
    dialog.querySelector('.account-advice')?.remove();
    dialog.append(element('p', { role: 'status', class: 'account-busy' }, text));
    lock(true);
  }

  return {
    show,
    showBusy,
    close: () => dialog.close(),
    onClose(next) {
      afterClose = next;
    },
  };
}
