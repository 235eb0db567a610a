// Builds the credentials and the declared request and answer rules of upstreams for one configuration.

import type { Accesses } from './access.ts';
import { type AnswerRule, createJudge, type Judge } from './answers/judge.ts';
import type { Credential } from './credential.ts';
import { createRewrite, type RequestRule, type Rewrite } from './requests/rewrite.ts';

export interface RulesEntry {
  readonly answers: readonly AnswerRule[];
  readonly requests: readonly RequestRule[];
}

/** Rules and credential of one upstream. The credential survives reloads. */
export interface UpstreamRules {
  readonly credential: Credential | undefined;
  readonly judge: Judge | undefined;
  readonly rewrite: Rewrite | undefined;
}

/** Returns an entry per upstream that has a credential or rules. Requests to other upstreams pass unchanged. */
export function createUpstreamRules(
  entries: Readonly<Record<string, RulesEntry>>,
  accesses: Pick<Accesses, 'of'>,
): ReadonlyMap<string, UpstreamRules> {
  const rules = new Map<string, UpstreamRules>();
  for (const [name, { answers, requests }] of Object.entries(entries)) {
    const credential = accesses.of(name)?.credential;
    if (credential === undefined && answers.length === 0 && requests.length === 0) continue;
    rules.set(name, {
      credential,
      judge: answers.length === 0 ? undefined : createJudge(answers),
      rewrite: requests.length === 0 ? undefined : createRewrite(requests),
    });
  }
  return rules;
}
