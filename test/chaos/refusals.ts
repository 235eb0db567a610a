// The rules for a refusal: one object of the catalogue, whole, with the id of the request, for a real reason.

import { REFUSALS } from '../../gateway/catalogue/errors.ts';
import type { Disturbances } from './disturbances.ts';
import { type Exchange, errorOf } from './exchanges.ts';

/** Refusals that a correct client may get. */
const excusable = new Set([
  'upstream_unreachable',
  'upstream_timeout',
  'upstream_bad_response',
  'upstream_unavailable',
  'upstream_overloaded',
  'gateway_overloaded',
  'gateway_shutting_down',
  'auth_unavailable',
  // To a repetition, while the first attempt may be running.
  'idempotency_key_in_use',
  // To a repetition toward an upstream that does not honour keys, when the first attempt may have been executed.
  'idempotency_outcome_unknown',
]);

/** Undefined: the refusal is as it should be. */
export function refusalFault(exchange: Exchange, disturbances: Disturbances): string | undefined {
  const { outcome } = exchange;
  if (outcome.kind !== 'answered') return undefined;
  const { status, headers, body } = outcome;
  const error = errorOf(body);
  if (error === undefined) return 'no error object';
  const { code, request_id: id, message, type, retryable } = error;
  const refusal = Object.entries(REFUSALS).find(([name]) => name === code)?.[1];
  if (refusal === undefined) return 'a code that is not in the catalogue';
  if (refusal.status !== status || refusal.type !== type) return 'not as the catalogue says';
  if (typeof message !== 'string' || typeof retryable !== 'boolean') return 'an incomplete error object';
  if (typeof id !== 'string' || headers['x-request-id'] !== id) return 'without the id of the request';
  if (!String(headers['content-type']).startsWith('application/json')) return 'an error object of another type';
  if (code === 'api_key_invalid') return disturbances.explainUnknownKey(exchange) ? undefined : 'a good key is refused';
  if (!excusable.has(String(code))) return 'not to be refused like this';
  if (code === 'idempotency_key_in_use') return exchange.key === undefined ? 'no key was sent' : undefined;
  if (code === 'idempotency_outcome_unknown')
    return exchange.key !== undefined && exchange.isPlain === true ? undefined : 'the upstream honours keys';
  return disturbances.explainFailure(exchange) ? undefined : 'while nothing was broken';
}
