// Executes the operations of the contract openapi/session/ by their handlers. Throws operation_unsupported, and what the handlers throw.

import { GatewayError } from '../../catalogue/errors.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { SessionAnswer, SessionHandler } from './answer.ts';
import type { SessionDeps } from './deps.ts';
import { finishLogin, startLogin } from './login.ts';
import { logout, takeLogoutToken } from './logout.ts';
import { endOtherSession, getSession, listSessions } from './own-sessions.ts';

/** The handlers, by operationId. */
export const SESSION_HANDLERS: Readonly<Record<string, SessionHandler>> = {
  startLogin,
  finishLogin,
  getSession,
  logout,
  takeLogoutToken,
  listSessions,
  endOtherSession,
};

export function createSessionService(deps: SessionDeps): (exchange: Forwardable) => Promise<SessionAnswer> {
  return async function executeSession(exchange) {
    const { qualifiedId, entry } = exchange.operation;
    const id = qualifiedId.slice(entry.length + 1);
    const handler = Object.hasOwn(SESSION_HANDLERS, id) ? SESSION_HANDLERS[id] : undefined;
    if (handler === undefined) throw new GatewayError('operation_unsupported');
    try {
      return await handler(deps, exchange);
    } catch (cause) {
      throw cause instanceof GatewayError ? cause : new GatewayError('internal_error', { cause });
    }
  };
}
