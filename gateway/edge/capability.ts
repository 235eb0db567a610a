// The capability `edge`: error codes, and what the log and `gateway explain` say about clients.

import { type Capability, type FactsOf, rarelyNoted, usualNote } from '../catalogue/capability.ts';
import { EDGE_CODES } from './codes.ts';

const FIELDS = {
  client: {
    section: 'client',
    stage: 'admit',
    type: 'text',
    forClients: true,
    notes: { clientAddress: usualNote<string | undefined>() },
    meaning: "the client's address",
  },
  client_request_id: {
    section: 'rare',
    stage: 'admit',
    type: 'text',
    forClients: true,
    notes: { clientRequestId: rarelyNoted<string>() },
    meaning: 'the `X-Request-Id` that the client sent',
  },
  max_bytes: {
    section: 'refusal',
    stage: 'validate',
    type: 'bytes',
    forClients: true,
    meaning: 'the size that the refused request exceeded',
  },
} as const;

const FACTS: FactsOf<typeof FIELDS> = {
  client: { admit: (client) => `client ${client}` },
  client_request_id: { admit: (id) => `client request id ${id}` },
  max_bytes: {
    admit: (max) => `the maximum is ${max} bytes`,
    validate: (max, { stage, violations }) =>
      stage === 'validate' && !Array.isArray(violations) ? `the maximum is ${max} bytes` : undefined,
  },
};

export const EDGE = { codes: EDGE_CODES, fields: FIELDS, facts: FACTS } as const satisfies Capability;
