// The shape of `requests` and `answers` in config/upstreams.yaml: changes to requests for an upstream, and rules for its answers. Also
// contains the matchers for members of a body.

import { z } from 'zod';
import { type ErrorCode, REFUSALS } from '../../catalogue/errors.ts';
import { whole } from '../parts.ts';

const ERROR_CODES = Object.keys(REFUSALS) as [ErrorCode, ...ErrorCode[]];

/** `field`, or `error.field` for a nested member. */
const dottedName = z
  .string()
  .regex(/^[^\s.*]+(\.[^\s.*]+)*$/, 'must be the name of a member; of a member in a member, joined by a dot');
const dottedPath = z
  .string()
  .regex(/^[^\s.]+(\.[^\s.]+)*$/, 'must be names of members joined by dots, with * for all items of a list')
  .refine((path) => path.split('.').every((name) => name === '*' || !name.includes('*')), {
    error: 'must have * only in the place of a whole name',
  })
  .refine((path) => !path.endsWith('*'), { error: 'must end with the name of a member' });
const operationIds = z.array(z.string().min(1)).min(1, 'must name at least one operation');

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const matcher = z.union(
  [
    scalar,
    z.array(scalar).min(1, 'must list at least one value'),
    z.strictObject({ present: z.boolean().describe('Whether the member must be there.') }),
    z.strictObject({ contains: z.string().min(1, 'must be a text').describe('A text that the member must contain.') }),
    z.strictObject({
      path: z
        .string()
        .min(1, 'must be the name of a path parameter')
        .describe('The path parameter that the member must equal.'),
    }),
  ],
  {
    error:
      'must be a value, a list of values, { present: true }, { present: false }, { contains: <text> } or { path: <parameter> }',
  },
);
/** Dotted member names and the condition for each. */
const memberMatchers = z.record(dottedName, matcher);

/** Accepts one value or a list. The output is always a list. */
function oneOrMore<T extends z.ZodType<string | number>>(item: T, error: string) {
  return z
    .union([item, z.array(item).min(1, error)], { error })
    .transform((value) => (Array.isArray(value) ? value : [value]) as z.output<T>[]);
}

const STATUS_RULE = 'must be a status such as 409, or a list of these';
const MEDIA_TYPE_RULE =
  'must be a media type in lower case without parameters, none for an answer without one, or a list of these';
const condition = z.strictObject({
  status: oneOrMore(z.int().min(100, STATUS_RULE).max(599, STATUS_RULE), STATUS_RULE)
    .optional()
    .describe('The status of the answer, or several.'),
  operations: operationIds.optional().describe('The operations whose answers the rule is about. Default: all.'),
  contentType: oneOrMore(z.string().regex(/^(none|[a-z0-9.+-]+\/[a-z0-9.+-]+)$/, MEDIA_TYPE_RULE), MEDIA_TYPE_RULE)
    .optional()
    .describe('The media type of the answer, or several; `none`: it has none.'),
  body: z
    .union([z.literal('empty'), memberMatchers], { error: bodyRule })
    .optional()
    .describe('`empty`, or what members of the body must be.'),
});

/**
 * Returns the error of a body condition. The union's own error says only that no branch fits, so the error of the likely branch is
 * returned.
 */
function bodyRule({ input }: { readonly input?: unknown }): string {
  const issue = memberMatchers.safeParse(input).error?.issues[0];
  const named = typeof input === 'object' && input !== null && issue !== undefined;
  if (named && issue.path.length > 0 && issue.code === 'invalid_union')
    return `must hold other values: "${String(issue.path[0])}" ${issue.message}`;
  return 'must be empty, or a block of dotted member names and what must hold of them';
}

/** Members that every error object has. */
const RESERVED_MEMBER = /^(type|code|message|status|param|errors|truncated|retryable|retry_after|request_id|doc_url)$/;

const outcome = z
  .strictObject({
    code: z.enum(ERROR_CODES).optional().describe('The client gets this error of the catalogue.'),
    status: whole('an error status', 400, 599).optional().describe('With this status in place of that of the code.'),
    param: z
      .union(
        [
          z.string().min(1),
          z.strictObject({ member: dottedName.describe('The member of the answer that names it.') }),
          z.strictObject({
            submitted: dottedName.describe(
              'The member of the answer that contains the value: `param` becomes the member of the request with this value.',
            ),
          }),
        ],
        {
          error: 'must be a name, { member: <member> } or { submitted: <member> }',
        },
      )
      .optional()
      .describe('The parameter or member of the request that the error is about (`param`).'),
    fields: z
      .record(
        z
          .string()
          .regex(/^[a-z][a-z0-9_]*$/, 'must be lower-case letters, digits and underscores')
          .refine((name) => !RESERVED_MEMBER.test(name), 'must not be a member that every error has'),
        dottedName,
      )
      .optional()
      .describe('Further members of the error object, each with the member of the answer that it is taken from.'),
    message: dottedName.optional().describe('The member of the answer that becomes the message.'),
    retryAfterSeconds: whole('seconds', 1, 86_400).optional().describe('What `Retry-After` tells the client.'),
    retry: z.literal(true).optional().describe('The gateway sends the request once more before it answers.'),
    credential: z
      .literal('refused')
      .optional()
      .describe("The upstream refuses the gateway's own credential: requests are suspended until it changes."),
    remove: z
      .array(dottedPath)
      .min(1, 'must name at least one member')
      .optional()
      .describe('Members that are removed before the client gets the answer.'),
  })
  .check(({ value, issues }) => {
    const { code, credential, remove, ...details } = value;
    const outcomes = [code, credential, remove].filter((one) => one !== undefined);
    const needsCode = code === undefined && Object.values(details).some((detail) => detail !== undefined);
    if (outcomes.length === 1 && !needsCode) return;
    const message = 'must hold one of code, credential and remove; everything else in it goes with a code';
    issues.push({ code: 'custom', message, input: value });
  })
  .transform(({ code, credential, remove, ...details }) => {
    if (code !== undefined) return { ...details, code };
    return remove === undefined ? { credential: credential as 'refused' } : { remove };
  });

export const answerRules = z.array(
  z.strictObject({
    when: condition.describe('What the answer must be for the rule to apply. `{}`: any.'),
    // biome-ignore lint/suspicious/noThenProperty: a published key; its value is not a function, so no rule is taken for a promise.
    then: outcome.describe('What happens to the answer.'),
  }),
);

const requestRule = z
  .strictObject({
    operations: operationIds.describe('The operations whose requests the rule changes.'),
    each: z.boolean().optional().describe('`true`: the body is a list, and the rule applies to each of its items.'),
    when: memberMatchers.optional().describe('What members of the body must be for the rule to apply.'),
    hash: z
      .array(dottedName)
      .min(1, 'must name at least one member')
      .optional()
      .describe('Members with passwords: the upstream gets their hashes.'),
    defaults: z
      .record(z.string().min(1), z.json())
      .optional()
      .describe('Members that are added with these values where the body lacks them.'),
    path: z
      .strictObject({
        lowerCase: z
          .array(z.string().min(1))
          .min(1, 'must name at least one parameter')
          .describe('Path parameters that are sent in lower case.'),
      })
      .optional()
      .describe('How parameters of the path are sent.'),
    setAsItems: z
      .strictObject({
        fields: z
          .array(z.string().min(1))
          .min(1, 'must name at least one field')
          .describe('The fields that are lists.'),
        read: z.string().min(1).describe('The operation that reads the record first.'),
        from: dottedName.optional().describe('The member of its answer that is the record. Default: the whole body.'),
      })
      .optional()
      .describe('A `set` of a list is sent as the items that it adds and removes.'),
  })
  .check(({ value, issues }) => {
    const { operations: _operations, path, setAsItems, ...ofTheBody } = value;
    const { hash, defaults } = ofTheBody;
    const alone = [path && 'path', setAsItems && 'setAsItems'].filter((one) => one !== undefined);
    const hasOthers = Object.values(ofTheBody).some((one) => one !== undefined) || alone.length > 1;
    const message =
      alone.length > 0
        ? `must have ${alone[0]} alone: it is about the whole request`
        : 'must say what to do: hash, defaults, path or setAsItems';
    if (alone.length > 0 ? hasOthers : !hash && !defaults) issues.push({ code: 'custom', message, input: value });
  });

export const requestRules = z.array(requestRule);
