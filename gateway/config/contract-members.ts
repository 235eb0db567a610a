// The settings of an upstream that contracts express by members of their own, for contracts without them.

import { z } from 'zod';
import { entrySecurity } from './entry-security.ts';
import { name, whole } from './parts.ts';

export const contractMembers = {
  security: entrySecurity.optional().meta({
    description:
      'The scopes that callers need: `apiKey` for every operation, `read` and `write` by method, `scopes` in place of those that the documents name ([upstreams](upstreams.md#access-to-operations)). Overrides every `security` of the documents. `sessions: true`, alone or beside these, lets people who have signed in use the same operations, with the same scopes.',
    values:
      '`{ apiKey: [scopes] }`, `{ read: [scopes], write: [scopes] }`, `{ scopes: { theirs: [ours] } }`, `{ sessions: true }`',
    contractMember: 'security',
  }),
  public: z.boolean().optional().meta({
    description:
      'Requires no key. In the entry it overrides every `security` of the documents. In a contract, beside the `security` of an operation, it is a mistake.',
    values: '`true`',
    contractMember: 'x-gateway-public',
  }),
  limit: name.optional().meta({
    description: 'A further limit, on top of the tier.',
    values: 'name under `extra` in `limits.yaml`',
    contractMember: 'x-gateway-limit',
  }),
  cost: whole('units', 1, 1_000_000).optional().meta({
    description: 'The units of every limit that one request spends.',
    fallback: '`1`',
    contractMember: 'x-gateway-cost',
  }),
  idempotency: z.enum(['optional', 'required', 'off']).optional().meta({
    description:
      'Whether POST and PATCH accept or require an `Idempotency-Key`. `off`: the gateway ignores the header.',
    fallback: '`optional`',
    contractMember: 'x-gateway-idempotency',
  }),
  body: z.enum(['buffer', 'stream']).optional().meta({
    description:
      'Whether a request body is buffered until it has been checked. JSON and short forms always are ([upstreams](upstreams.md#bodies-of-forms)).',
    fallback: '`buffer`',
    contractMember: 'x-gateway-body',
  }),
  response: z.enum(['report', 'refuse', 'off']).optional().meta({
    description:
      'The reaction to an answer that does not match the contract ([answers](contracts.md#answers)). `report`: a log line and a metric, for one answer of each operation per second. `refuse`: 502. `off`: none.',
    fallback: '`report`',
    contractMember: 'x-gateway-response',
  }),
  undeclaredMediaTypes: z.enum(['report', 'refuse', 'off']).optional().meta({
    description:
      'The reaction to an answer whose media type the contract does not declare ([answers](contracts.md#answers)). `report`: it passes; a log line and a metric. `refuse`: 502. `off`: it passes.',
    fallback: 'as `response`',
    contractMember: 'x-gateway-undeclared-media-types',
  }),
};
