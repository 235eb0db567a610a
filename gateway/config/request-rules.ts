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
  })
  .check(({ value, issues }) => {
    const { each, when, hash, defaults, path } = value;
    const message =
      path && (each !== undefined || when || hash || defaults)
        ? 'must have path alone: it is about the whole request'
        : 'must say what to do: hash, defaults or path';
    if (path ? each !== undefined || when || hash || defaults : !hash && !defaults)
      issues.push({ code: 'custom', message, input: value });
  });

export const requestRules = z.array(requestRule);
