// Determines the credentials that an operation requires by `security` of its upstreams.yaml entry.

import { suggest } from '../config-errors.ts';
import type { SecurityAlternative } from '../operation.ts';
import type { ContractDocument } from './document.ts';
import { isObject, type JsonObject } from './pointer.ts';

/** The scopes that callers need, as the entry says. */
export interface EntrySecurity {
  /** For every operation. */
  readonly apiKey?: readonly string[] | undefined;
  /** For operations that only read, and for the others. */
  readonly read?: readonly string[] | undefined;
  readonly write?: readonly string[] | undefined;
  /** What takes the place of the scopes of the document, by their spelling there. */
  readonly scopes?: Readonly<Record<string, readonly string[]>> | undefined;
}

interface SecuredOperation {
  readonly document: ContractDocument;
  readonly operation: JsonObject;
  /** The place of the operation in the document; its last member is the method. */
  readonly place: readonly string[];
}

type Complain = (path: readonly (string | number)[], reason: string, remedy: string) => undefined;

/** RFC 9110 section 9.2.1, and QUERY, which is safe too. */
const safe = new Set(['get', 'head', 'options', 'trace', 'query']);

/** Returns the alternatives of which a caller must satisfy one; undefined after a mistake. */
export function entryAlternatives(
  { apiKey, read, write, scopes }: EntrySecurity,
  { document, operation, place }: SecuredOperation,
  complain: Complain,
): readonly SecurityAlternative[] | undefined {
  if (apiKey !== undefined) return [{ scheme: 'apiKey', scopes: apiKey }];
  const byMethod = safe.has(place.at(-1) as string) ? read : write;
  const required = operation.security ?? document.root.security;
  const requirements = scopes !== undefined && Array.isArray(required) ? required.filter(isObject) : [];
  const owner = operation.security === undefined ? ['security'] : [...place, 'security'];
  const alternatives: SecurityAlternative[] = [];
  let isUnknown = false;
  for (const [index, requirement] of requirements.entries()) {
    // Schemes that are required together add up. The credentials are the gateway's own, whatever the document declares.
    const wanted = Object.values(requirement).flatMap((list) => (Array.isArray(list) ? list.map(String) : []));
    const granted = wanted.map((name) => (Object.hasOwn(scopes ?? {}, name) ? scopes?.[name] : undefined));
    const missing = wanted.find((_, at) => granted[at] === undefined);
    if (missing !== undefined) {
      isUnknown = true;
      const remedy = `Add it under security.scopes in its entry of upstreams.yaml. ${suggest(missing, Object.keys(scopes ?? {}))}`;
      complain([...owner, index], `the scope "${missing}" of the document has no counterpart.`, remedy);
    } else if (wanted.length > 0) {
      alternatives.push({ scheme: 'apiKey', scopes: [...new Set(granted.flatMap((list) => list ?? []))] });
    }
  }
  if (isUnknown) return undefined;
  if (alternatives.length > 0) return alternatives;
  if (byMethod !== undefined) return [{ scheme: 'apiKey', scopes: byMethod }];
  const remedy =
    'Add read and write to security in its entry of upstreams.yaml: they are for operations without scopes.';
  return complain(place, 'the document requires no scope for this operation.', remedy);
}
