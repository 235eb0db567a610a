// Lists and ends the sessions of an organization, for operators.

import type { Session, SessionPage } from '../store/session-store.ts';
import { fromStore } from '../store-away.ts';
import type { SessionDeps } from './deps.ts';
import { endAtProvider } from './end-at-provider.ts';

export interface OperatorSessions {
  /** Returns sessions by time of creation. Rejects with session_store_unavailable. */
  list(organization: string, page: SessionPage): Promise<readonly Session[]>;
  /**
   * Ends a session of the organization. Resolves with undefined if there is no session with this id. Rejects with
   * session_store_unavailable.
   */
  end(organization: string, id: string): Promise<Session | undefined>;
}

export function createOperatorSessions(deps: SessionDeps): OperatorSessions {
  const { store, live } = deps;
  return {
    list: (organization, page) => fromStore(() => store.list({ organization }, page)),
    async end(organization, id) {
      const session = await fromStore(() => store.get(id));
      if (session?.organization !== organization) return undefined;
      const ended = await fromStore(() => live.end(id, 'operator'));
      if (ended !== undefined) endAtProvider(deps, ended);
      return ended;
    },
  };
}
