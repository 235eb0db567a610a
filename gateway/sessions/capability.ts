// The capability `sessions`: its error codes. The log names a session beside its caller (auth/capability.ts). A request with a session
// cookie enters at session-reader.ts. The folders follow the life of a session:
//
//   login      the cookie of a login in progress, and its pages; sessions/service/login.ts answers its two requests
//   provider   requests to the identity provider, and the checks of its answers
//   store      the sessions of all instances, in Redis or SQLite
//   live       finds the session of a request in the cache or the store, and learns that a session has ended
//   refresh    redeems refresh tokens, each once over all instances
//   service    the operations under /session

import type { Capability } from '../catalogue/capability.ts';
import { SESSION_CODES } from './codes.ts';

export const BROWSER_SESSIONS = { codes: SESSION_CODES } as const satisfies Capability;
