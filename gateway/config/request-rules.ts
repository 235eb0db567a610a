// The shape of `requests` in config/upstreams.yaml: changes to requests before they are sent to an upstream.

import { z } from 'zod';
import { dottedName, memberMatchers, operationIds } from './answer-rules.ts';

const requestRule = z
  .strictObject({
    operations: operationIds,
    /** Applies the rule to every item of a list. */
    each: z.boolean().optional(),
    when: memberMatchers.optional(),
    hash: z.array(dottedName).min(1, 'must name at least one member').optional(),
    defaults: z.record(z.string().min(1), z.json()).optional(),
    path: z
      .strictObject({ lowerCase: z.array(z.string().min(1)).min(1, 'must name at least one parameter') })
      .optional(),
    /** Sends a `set` of a list as the items that it adds and removes. */
    setAsItems: z
      .strictObject({
        fields: z.array(z.string().min(1)).min(1, 'must name at least one field'),
        read: z.string().min(1),
        from: dottedName.optional(),
      })
      .optional(),
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
