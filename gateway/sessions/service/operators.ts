// The sessions of an organization, as operators see and end them.

import { storeAway } from '../session-reader.ts';
import type { Session, SessionPart } from '../store/session-store.ts';
import type { SessionDeps } from './deps.ts';
import { endAtProvider } from './logout.ts';

export interface OperatorSessions {
  /** By time of creation. Rejects with session_store_unavailable. */
  list(part: SessionPart): Promise<readonly Session[]>;
  /** Ends a session of the organization; undefined: there is none of this id. Rejects with session_store_unavailable. */
  end(organization: string, id: string): Promise<Session | undefined>;
}

export function createOperatorSessions(deps: SessionDeps): OperatorSessions {
  const { store } = deps;
  return {
    list: (part) => Promise.resolve(store.list(part)).catch(storeAway),
    async end(organization, id) {
      const session = await Promise.resolve(store.get(id)).catch(storeAway);
      if (session?.organization !== organization) return undefined;
      const ended = await Promise.resolve(store.end(id, 'operator')).catch(storeAway);
      if (ended !== undefined) endAtProvider(deps, ended);
      return ended;
    },
  };
}
