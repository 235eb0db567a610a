// The capability `sessions`: its error codes. The log names a session beside its caller (auth/capability.ts).

import type { Capability } from '../catalogue/capability.ts';
import { SESSION_CODES } from './codes.ts';

export const BROWSER_SESSIONS = { codes: SESSION_CODES } as const satisfies Capability;
