// The catalogue of refusals as data: status, message, meaning and remedy of every code. Every text of a refusal that a client can read is
// in the folder of its capability. After a change, `npm run docs` writes docs/errors.md.

import { allRows } from './capabilities.ts';
import { type CatalogueEntry, faultOfUpstream } from './catalogue-entry.ts';

/** What every step may refuse with. */
const general = {
  internal_error: {
    ...faultOfUpstream,
    blame: 'gateway',
    status: 500,
    message: 'Something went wrong inside the gateway.',
    meaning: 'A mistake in the gateway. Quote the `request_id` when you ask for help.',
    remedy: 'Send it again if `retryable` says so. Tell support the `request_id` if it happens again.',
  },
} as const satisfies Readonly<Record<string, CatalogueEntry>>;

/** One entry per code. Refusals send the message; the pages under /docs/errors and docs/errors.md show meaning and remedy. */
export const REFUSALS = { ...allRows('codes'), ...general } satisfies Readonly<Record<string, CatalogueEntry>>;

export type ErrorCode = keyof typeof REFUSALS;
