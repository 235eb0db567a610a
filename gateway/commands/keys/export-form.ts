// The format of an export, one JSON object per line: a header, organizations and keys, each organization before its keys, and a last line
// with the counts, which shows whether the file was cut off. It holds digests, never the keys themselves.

import type { StoredKey } from '../../auth/store/key-store.ts';
import type { Mode, Organization } from '../../exchange.ts';
import { timeOrNull } from '../print.ts';
import {
  endRules,
  headerRules,
  isPlainObject,
  keyRules,
  misfitOf,
  organizationRules,
  type Rules,
} from './export-rules.ts';

const VERSION = 1;

export interface Counts {
  readonly organizations: number;
  readonly keys: number;
}

export type ExportRecord =
  | { readonly kind: 'organization'; readonly organization: Organization }
  | { readonly kind: 'key'; readonly key: StoredKey }
  | { readonly kind: 'end'; readonly counts: Counts };

/** Reports the reason why a line is wrong; does not return. */
export type Wrong = (reason: string) => never;

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
  return lineOf({
    kind: 'key',
    id: key.id,
    digest: key.digest,
    organization: key.organization,
    mode: key.mode,
    name: key.name,
    scopes: key.scopes,
    allowed_cidrs: key.allowedCidrs,
    prefix: key.prefix,
    last_four: key.lastFour,
    created_at: timeOrNull(key.createdAtMs),
    created_by: key.createdBy,
    expires_at: timeOrNull(key.expiresAtMs),
    revoked_at: timeOrNull(key.revokedAtMs),
    revoked_by: key.revokedBy ?? null,
    revoked_reason: key.revokedReason ?? null,
    last_used_at: timeOrNull(key.lastUsedAtMs),
    replaced_by: key.replacedBy ?? null,
  });
}

export function endLine({ organizations, keys }: Counts): string {
  return lineOf({ kind: 'end', organizations, keys });
}

/** Returns the fingerprint of the pepper of the digests. */
export function parseHeader(line: string, wrong: Wrong): string {
  const header = parseJson(line);
  if (!isPlainObject(header) || header.format !== 'gateway-keys') wrong('this is not an export of keys.');
  if (Number.isInteger(header.version) && (header.version as number) > VERSION) {
    wrong(`it is of version ${header.version} and this gateway knows version ${VERSION}; use a newer gateway.`);
  }
  return checked<{ pepper_fingerprint: string }>(header, headerRules, wrong).pepper_fingerprint;
}

/** Parses any line after the header. */
export function parseExportRecord(line: string, wrong: Wrong): ExportRecord {
  const value = parseJson(line);
  const kind = isPlainObject(value)
    ? value.kind
    : wrong('this is not a JSON object; the file may have been cut off here.');
  switch (kind) {
    case 'organization': {
      const { kind: _, ...organization } = checked<Organization & { kind: string }>(value, organizationRules, wrong);
      return { kind, organization };
    }
    case 'key':
      return { kind, key: keyOf(checked<KeyObject>(value, keyRules, wrong)) };
    case 'end':
      return { kind, counts: checked<Counts>(value, endRules, wrong) };
    default:
      return wrong('this is neither an organization nor a key nor the end.');
  }
}

/** A key line after the check of its rules. */
interface KeyObject {
  readonly id: string;
  readonly digest: string;
  readonly organization: string;
  readonly mode: Mode;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly allowed_cidrs: readonly string[];
  readonly prefix: string;
  readonly last_four: string;
  readonly created_at: string;
  readonly created_by: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly revoked_by: string | null;
  readonly revoked_reason: string | null;
  readonly last_used_at: string | null;
  readonly replaced_by: string | null;
}

function keyOf(key: KeyObject): StoredKey {
  const { id, digest, organization, mode, name, scopes, prefix } = key;
  return {
    ...{ id, digest, organization, mode, name, scopes, prefix },
    allowedCidrs: key.allowed_cidrs,
    lastFour: key.last_four,
    createdAtMs: Date.parse(key.created_at),
    createdBy: key.created_by,
    expiresAtMs: momentOf(key.expires_at),
    revokedAtMs: momentOf(key.revoked_at),
    revokedBy: key.revoked_by ?? undefined,
    revokedReason: key.revoked_reason ?? undefined,
    lastUsedAtMs: momentOf(key.last_used_at),
    replacedBy: key.replaced_by ?? undefined,
  };
}

function momentOf(time: string | null): number | undefined {
  return time === null ? undefined : Date.parse(time);
}

function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** Undefined if the text is not JSON. */
function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function checked<T>(value: unknown, rules: Rules, wrong: Wrong): T {
  const misfit = misfitOf(value, rules);
  return misfit === undefined ? (value as T) : wrong(`${misfit}.`);
}
