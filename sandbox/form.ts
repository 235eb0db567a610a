// Reads the body of a create or an update against the description of its resource. Throws malformed_json, body_missing
// or validation_failed with every violation at once.
import { type FieldSpot, type FieldValue, refuse, withinBounds } from './kinds.ts';
import { SandboxRefusal, type SandboxViolation } from './refusals.ts';
import { type Field, optional, type SandboxResource, type StoredRecord } from './resource.ts';
import { isJsonObject, METADATA } from './shapes.ts';

export type Purpose = 'create' | 'update';

/** Every resource has these besides its own. */
export const COMMON_FIELDS: Readonly<Record<string, Field>> = { metadata: optional(METADATA, {}) };

const SET_ON_EVERY_RECORD = ['id', 'created_at', 'updated_at'];

export const fieldsOf = (resource: SandboxResource): Readonly<Record<string, Field>> => ({
  ...resource.fields,
  ...COMMON_FIELDS,
});

/** The members that the body sets, in their stored form. */
export function readForm(resource: SandboxResource, purpose: Purpose, body: Uint8Array): StoredRecord {
  const input = parseBody(body);
  const violations: SandboxViolation[] = [];
  const spot: FieldSpot = { in: 'body', path: [], violations };
  if (!isJsonObject(input)) {
    refuse(spot, 'wrong_type', 'Must be an object.', { type: 'object' });
    throw new SandboxRefusal('validation_failed', { errors: violations });
  }

  const fields = fieldsOf(resource);
  const values: [string, FieldValue][] = [];
  for (const [name, value] of Object.entries(input)) {
    const stored = readMember(resource, fields, purpose, name, value, withinBounds(spot, name));
    if (stored !== undefined) values.push([name, stored]);
  }
  if (purpose === 'create') {
    for (const [name, field] of Object.entries(fields)) {
      const missing = field.needed && field.onCreate && !Object.hasOwn(input, name);
      if (missing) refuse(withinBounds(spot, name), 'required', 'Is required.');
    }
  }
  if (violations.length > 0) throw new SandboxRefusal('validation_failed', { errors: violations });
  return Object.fromEntries(values);
}

function readMember(
  resource: SandboxResource,
  fields: Readonly<Record<string, Field>>,
  purpose: Purpose,
  name: string,
  value: unknown,
  spot: FieldSpot,
): FieldValue | undefined {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (!field || (purpose === 'create' && !field.onCreate)) {
    if (field || isSetByService(resource, name)) return refuse(spot, 'read_only', 'Is set by the service.');
    return refuse(spot, 'unknown', 'Is not a member of the contract.');
  }
  // null clears an optional member, which then has its default again.
  return value === null && !field.needed ? field.initial : field.kind.read(value, spot);
}

function isSetByService({ kept, derived }: SandboxResource, name: string): boolean {
  return SET_ON_EVERY_RECORD.includes(name) || Object.hasOwn(kept, name) || Object.hasOwn(derived, name);
}

function parseBody(body: Uint8Array): unknown {
  if (body.length === 0) throw new SandboxRefusal('body_missing');
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new SandboxRefusal('malformed_json');
  }
}
