// The members that the error object has with single codes, as examples for their pages.

import type { CatalogueEntry } from '../catalogue-entry.ts';
import { type ErrorCode, REFUSALS } from '../error-catalogue.ts';
import type { GuideFacts } from './guide-facts.ts';

type Members = Readonly<Record<string, unknown>>;

/** Scopes and versions are those of the served contracts. */
export function membersOfCode(code: ErrorCode, facts: GuideFacts): Members {
  const scope = facts.get('writeScope') ?? facts.get('readScope');
  if (code === 'insufficient_scope') return { required_scopes: [scope ?? 'orders:write'] };
  if (code === 'version_unknown') return { supported_versions: JSON.parse(`[${facts.get('versions') ?? '"v1"'}]`) };
  if (code === 'rate_limited') return { violated_policies: [facts.get('countPer') ?? 'organization'] };
  const { example = {} }: CatalogueEntry = REFUSALS[code];
  return example;
}
