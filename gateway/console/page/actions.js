// The buttons of an operator's actions. Each opens a dialog. Only the holder of the admin token gets buttons.

import { ActionDialog } from './action-dialog.js';
import { mayAct } from './api.js';
import { element } from './elements.js';

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

/**
 * Returns a button for an action; nothing if the operator may not act.
 *
 * @param options.tiers names to choose from, for `change-tier`
 * @param options.text the texts of another name, for `silence-alerts`: `end-silence` ends it, `forget-instance` dismisses an instance
 * @param options.done called when the action has been done
 */
export function actionButton(action, target, options = {}) {
  if (!mayAct()) return [];
  const fields = options.text ?? action;
  const texts = ACTION_TEXTS[fields];
  const { verb, dangerous } = texts;
  const kind = dangerous ? 'act dangerous' : 'act';
  const name = `${verb} ${target}`;
  const button = element('button', { type: 'button', class: kind, 'aria-label': name, 'data-focus': name }, verb);
  button.addEventListener('click', () => new ActionDialog(action, target, name, texts, { ...options, fields }).open());
  return [button];
}
