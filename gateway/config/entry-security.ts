// The shape of `security` in config/upstreams.yaml: the scopes that callers need, for documents that do not say it in the gateway's terms.

import { z } from 'zod';
import { scope } from './parts.ts';

/** A scope as another system spells it: RFC 6749 section 3.3, without the comma, which separates scopes in lists. */
const spelledScope = z
  .string()
  .regex(/^[!#-+.-[\]-~-]{1,256}$/, 'must be a scope without spaces, commas, quotes and backslashes')
  .refine((text) => text !== '*', "must name scopes one by one: '*' is for keys");
const scopes = z.array(scope);

export const entrySecurity = z
  .strictObject({
    apiKey: scopes.optional().describe('The scopes that every operation needs.'),
    read: scopes.optional().describe('The scopes that GET, HEAD, OPTIONS, TRACE and QUERY need.'),
    write: scopes.optional().describe('The scopes that every other method needs.'),
    scopes: z
      .record(spelledScope, z.union([spelledScope.transform((one) => [one]), z.array(spelledScope)]))
      .optional()
      .describe('The scopes of the document, each with what it is called here.'),
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
