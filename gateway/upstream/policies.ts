// Which upstreams are more than sent to, under one configuration: their credentials and the rules that were declared for them.

import type { Accesses } from './access.ts';
import { type AnswerRule, createJudge } from './answers/rules.ts';
import type { UpstreamPolicies } from './apply-policies.ts';
import { createRewrite, type RequestRule } from './requests/rules.ts';

export interface PolicyEntry {
  readonly answers: readonly AnswerRule[];
  readonly requests: readonly RequestRule[];
}

/** One guard per upstream that needs one; the others are sent to without further ado. */
export function createPolicies(
  entries: Readonly<Record<string, PolicyEntry>>,
  accesses: Pick<Accesses, 'of'>,
): ReadonlyMap<string, UpstreamPolicies> {
  const guards = new Map<string, UpstreamPolicies>();
  for (const [name, { answers, requests }] of Object.entries(entries)) {
    const credential = accesses.of(name)?.credential;
    if (credential === undefined && answers.length === 0 && requests.length === 0) continue;
    guards.set(name, {
      credential,
      judge: answers.length === 0 ? undefined : createJudge(answers),
      rewrite: requests.length === 0 ? undefined : createRewrite(requests),
    });
  }
  return guards;
}
