// The linter's recommendations on style. These are shown, but never refuse a contract.

import { createConfig, lint } from '@redocly/openapi-core';
import type { Mistake } from '../../shared/mistakes.ts';
import { createFileResolver } from '../reading/file-resolver.ts';
import { toMistakes } from './lint-mistakes.ts';
import { OWN_RULES } from './rules.ts';

/**
 * The disabled rules. Their problems are already reported as mistakes, or irrelevant behind a gateway, which publishes its own address
 * (no-empty-servers). The last rule is wrong for schemas with conditions.
 */
const RULES_OFF = [
  'struct',
  'no-unresolved-refs',
  'path-parameters-defined',
  'no-server-example.com',
  'no-empty-servers',
  'info-license',
  'no-invalid-media-type-examples',
];

/** The rule that `security` of an entry satisfies. */
const OF_SECURITY = 'security-defined';

/**
 * Returns the recommendations for one file, with lines. The remedy is the name of the rule.
 *
 * @param directory the directory that references to files may not leave
 * @param isSecured whether the entry of upstreams.yaml says who may call
 */
export async function recommendationsFor(file: string, directory: string, isSecured: boolean): Promise<Mistake[]> {
  const unwanted = isSecured ? [...RULES_OFF, OF_SECURITY] : RULES_OFF;
  const rules = Object.fromEntries(unwanted.map((rule) => [rule, 'off' as const]));
  const given = { extends: ['recommended'], rules, plugins: [OWN_RULES] };
  const config = await createConfig(given as Parameters<typeof createConfig>[0]);
  const problems = await lint({ ref: file, config, externalRefResolver: createFileResolver(file, directory) });
  return problems
    .filter(({ ignored, ruleId }) => ignored !== true && !unwanted.includes(ruleId))
    .flatMap((problem) => toMistakes([problem], file).map((one) => ({ ...one, remedy: `(${problem.ruleId})` })));
}
