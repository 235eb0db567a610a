// Shows states as words. Failures are red and warnings amber. Good states and usual states have no colour.

import { signed } from './elements.js';
import { NONE, words } from './format.js';

export const TARGET_KINDS = {
  ...{ healthy: undefined, not_asked_yet: 'off', suspect: 'warn', returning: 'warn', trial: 'warn' },
  ...{ failing: 'bad', ejected: 'bad', unhealthy: 'bad' },
};
export const BREAKER_KINDS = { closed: undefined, half_open: 'warn', open: 'bad' };
export const CREDENTIAL_KINDS = { proven: undefined, unproven: undefined, latched: 'bad', no_secret: 'bad' };
/** The states in which an operator can have the credential tried again. */
export const RETRIED_CREDENTIALS = new Set(['latched']);

/** Returns the state of a credential, and the name of the secret that has to change. */
export const credentialState = ({ credential, credential_fault: fault }) =>
  stateText(CREDENTIAL_KINDS, credential, fault === undefined ? '' : `: ${fault.secret}`);

/**
 * A healthy target is shown as suspect after a failed request: one failure is not yet a cause. Before the first request and the first health
 * check it is shown as not asked.
 */
export const stateOfTarget = ({ state, last_error: error, answered_at: at, last_check: check }) => {
  if (state !== 'healthy') return state;
  if (error) return 'suspect';
  return at === null && check == null ? 'not_asked_yet' : state;
};

/** Shows a state. A state that is not among the kinds is pale. */
export function stateText(kinds, value, more = '') {
  return value === undefined ? NONE : signed(value in kinds ? kinds[value] : 'off', words(value) + more);
}
