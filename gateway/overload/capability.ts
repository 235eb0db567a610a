// The capability `overload`: its error code.

import type { Capability } from '../catalogue/capability.ts';
import { FAULT_OF_GATEWAY } from '../catalogue/catalogue-entry.ts';

export const OVERLOAD = {
  codes: {
    gateway_overloaded: {
      ...FAULT_OF_GATEWAY,
      status: 503,
      retryAfterSeconds: 1,
      message: 'The gateway cannot accept this request at the moment. Nothing was processed.',
      meaning: 'The gateway cannot accept the request at the moment. Nothing was processed.',
      remedy: 'Wait `retry_after` seconds, as the header `Retry-After` says, then retry.',
    },
  },
} as const satisfies Capability;
