// Executes the operations of the gateway's own contract (openapi/gateway/). Each operation has a handler, which takes and returns JSON, or
// throws a GatewayError. Throws operation_unsupported, records_unavailable.

import { GatewayError } from '../../catalogue/errors.ts';
import type { Checked } from '../../exchange/exchange.ts';
import type { AdministrationDeps } from '../deps.ts';
import { ACCOUNT } from './account.ts';
import { ALERTS } from './alerts.ts';
import { type Answer, callOf, type Handlers } from './call.ts';
import { HISTORY } from './history.ts';
import { KEYS } from './keys.ts';
import { LIMITS_OF_ORGANIZATIONS } from './limits.ts';
import { OPERATION } from './operation.ts';
import { ORGANIZATIONS } from './organizations.ts';
import { REQUESTS } from './requests.ts';
import { SESSIONS_OF_ORGANIZATIONS } from './sessions.ts';
import { USAGE } from './usage.ts';

/** The handlers, by operationId. */
export const HANDLERS: Handlers = {
  ...ACCOUNT,
  ...LIMITS_OF_ORGANIZATIONS,
  ...REQUESTS,
  ...HISTORY,
  ...OPERATION,
  ...ALERTS,
  ...KEYS,
  ...ORGANIZATIONS,
  ...SESSIONS_OF_ORGANIZATIONS,
  ...USAGE,
};

/** Errors of these classes are bugs of the gateway. Any other error comes from a store. */
const PROGRAMMING_ERRORS = [TypeError, RangeError, ReferenceError, SyntaxError];

export function createService(deps: AdministrationDeps) {
  return async function execute(checked: Checked) {
    const { qualifiedId, entry } = checked.operation;
    const id = qualifiedId.slice(entry.length + 1);
    const handler = Object.hasOwn(HANDLERS, id) ? HANDLERS[id] : undefined;
    if (handler === undefined) throw new GatewayError('operation_unsupported');
    try {
      return inProcess(await handler(deps, callOf(deps, checked)));
    } catch (cause) {
      if (cause instanceof GatewayError) throw cause;
      const isMistake = PROGRAMMING_ERRORS.some((kind) => cause instanceof kind);
      throw new GatewayError(isMistake ? 'internal_error' : 'records_unavailable', { cause });
    }
  };
}

function inProcess({ status = 200, body: members, etag, location }: Answer) {
  const body = Buffer.from(JSON.stringify(members));
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'content-length': String(body.length),
    'cache-control': 'no-store',
  };
  if (etag !== undefined) headers.etag = etag;
  if (location !== undefined) headers.location = location;
  return { status, headers, body };
}
