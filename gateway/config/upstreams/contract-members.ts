// The settings of an upstream that contracts can express by `x-gateway-*` members, for contracts without these members.

import { z } from 'zod';
import { name, scope, whole } from '../parts.ts';

/** A scope in the spelling of another system (RFC 6749 section 3.3), without the comma, which separates scopes in lists. */
const spelledScope = z
  .string()
  .regex(/^[!#-+.-[\]-~-]{1,256}$/, 'must be a scope without spaces, commas, quotes and backslashes')
  .refine((text) => text !== '*', "must name scopes one by one: '*' is for keys");
const scopes = z.array(scope);

const entrySecurity = z
  .strictObject({
    apiKey: scopes.optional().describe('The scopes that every operation needs.'),
    read: scopes.optional().describe('The scopes that GET, HEAD, OPTIONS, TRACE and QUERY need.'),
    write: scopes.optional().describe('The scopes that every other method needs.'),
    scopes: z
      .record(spelledScope, z.union([spelledScope.transform((one) => [one]), z.array(spelledScope)]))
      .optional()
      .describe('The scopes in the document, each with its name in the gateway.'),
    sessions: z
      .literal(true, 'must be true, or be left out')
      .optional()
      .describe('`true`: persons who have signed in with a browser may call them, too.'),
  })
  .check(({ value, issues }) => {
    const { apiKey, read, write, scopes, sessions } = value;
    const byMethod = read !== undefined || write !== undefined;
    const message =
      apiKey !== undefined && (byMethod || scopes !== undefined)
        ? 'must have apiKey alone: it is for all operations'
        : byMethod && (read === undefined || write === undefined)
          ? 'must have read and write: read is for GET, HEAD, OPTIONS, TRACE and QUERY, write for every other method'
          : apiKey === undefined && !byMethod && scopes === undefined && sessions === undefined
            ? 'must have apiKey, read and write, scopes, or sessions'
            : undefined;
    if (message !== undefined) issues.push({ code: 'custom', message, input: value });
  });

export const contractMembers = {
  security: entrySecurity.optional().meta({
    description:
      'The scopes that callers need: `apiKey` for every operation, `read` and `write` by method, `scopes` to replace the scopes in the documents ([upstreams](upstreams.md#access-to-operations)). Overrides every `security` of the documents. `sessions: true`, alone or beside these, lets people who have signed in use the same operations, with the same scopes.',
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
    description: 'A limit in addition to the tier.',
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
