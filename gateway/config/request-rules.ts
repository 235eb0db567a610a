// The shape of `requests` in config/upstreams.yaml: changes to requests before they are sent to an upstream.

import { z } from 'zod';
import { dottedName, memberMatchers, operationIds } from './answer-rules.ts';

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
        read: z.string().min(1).describe('The operation that reads the record before.'),
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
