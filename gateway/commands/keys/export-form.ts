// The format of an export, with one JSON object per line: a header, each organization followed by its keys, and a last line with the
// counts. The last line shows whether the file was cut off. An export contains digests, never the keys themselves.

import { keyOfMembers, membersOfKey } from '../../auth/key-json.ts';
import type { StoredKey } from '../../auth/store/stored-key.ts';
import type { Organization } from '../../exchange/caller.ts';
import { isRecord } from '../../shared/is-record.ts';
import { countText, timeOrNull } from '../print.ts';
import { END_RULES, HEADER_RULES, KEY_RULES, misfitOf, ORGANIZATION_RULES, type Rules } from './export-rules.ts';

const VERSION = 1;

export interface Counts {
  readonly organizations: number;
  readonly keys: number;
}

export function amountOf({ organizations, keys }: Counts): string {
  return `${countText(organizations, 'organization')} and ${countText(keys, 'key')}`;
}

export type ExportRecord =
  | { readonly kind: 'organization'; readonly organization: Organization }
  | { readonly kind: 'key'; readonly key: StoredKey }
  | { readonly kind: 'end'; readonly counts: Counts };

/** Throws with the reason why a line is wrong. */
type Wrong = (reason: string) => never;

export function headerLine(pepperFingerprint: string, nowMs: number): string {
  return lineOf({
    format: 'gateway-keys',
    version: VERSION,
    pepper_fingerprint: pepperFingerprint,
    exported_at: timeOrNull(nowMs),
  });
}

export function organizationLine({ id, name, tier, state, contacts, operator }: Organization): string {
  return lineOf({ kind: 'organization', id, name, tier, state, contacts, operator });
}

export function keyLine(key: StoredKey): string {
  return lineOf({ kind: 'key', ...membersOfKey(key) });
}

export function endLine({ organizations, keys }: Counts): string {
  return lineOf({ kind: 'end', organizations, keys });
}

/** Returns the fingerprint of the pepper of the digests. */
export function parseHeader(line: string, wrong: Wrong): string {
  const header = parseJson(line);
  if (!isRecord(header) || header.format !== 'gateway-keys') wrong('this is not an export of keys.');
  if (Number.isInteger(header.version) && (header.version as number) > VERSION) {
    wrong(`it is of version ${header.version} and this gateway knows version ${VERSION}; use a newer gateway.`);
  }
  return checkRecord<{ pepper_fingerprint: string }>(header, HEADER_RULES, wrong).pepper_fingerprint;
}

/** Parses any line after the header. */
export function parseExportRecord(line: string, wrong: Wrong): ExportRecord {
  const value = parseJson(line);
  const kind = isRecord(value) ? value.kind : wrong('this is not a JSON object; the file may have been cut off here.');
  switch (kind) {
    case 'organization': {
      const { kind: _, ...organization } = checkRecord<Organization & { kind: string }>(
        value,
        ORGANIZATION_RULES,
        wrong,
      );
      return { kind, organization };
    }
    case 'key':
      return { kind, key: keyOfMembers(checkRecord<Readonly<Record<string, unknown>>>(value, KEY_RULES, wrong)) };
    case 'end':
      return { kind, counts: checkRecord<Counts>(value, END_RULES, wrong) };
    default:
      return wrong('this is neither an organization nor a key nor the end.');
  }
}

function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** Returns undefined if the text is not JSON. */
function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function checkRecord<T>(value: unknown, rules: Rules, wrong: Wrong): T {
  const misfit = misfitOf(value, rules);
  return misfit === undefined ? (value as T) : wrong(`${misfit}.`);
}
