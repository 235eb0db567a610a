// Pure: the form of a record after it was created or changed. Throws validation_failed for a record that does not agree with itself, and
// invalid_transition.
import { fieldsOf } from './form.ts';
import type { FieldSpot } from './kinds.ts';
import { SandboxRefusal } from './refusals.ts';
import type { RequestMoment, SandboxResource, StoredRecord } from './resource.ts';

export function newRecord(
  resource: SandboxResource,
  id: string,
  values: StoredRecord,
  moment: RequestMoment,
): StoredRecord {
  const { metadata, ...fields } = Object.fromEntries(
    Object.entries(fieldsOf(resource)).map(([name, field]) => [name, values[name] ?? field.initial]),
  );
  const record: StoredRecord = {
    id,
    ...fields,
    ...resource.kept,
    metadata: metadata ?? {},
    created_at: moment.now,
    updated_at: moment.now,
  };
  checkWhole(resource, record);
  return resource.settle?.(record, undefined, moment) ?? record;
}

export function changedRecord(
  resource: SandboxResource,
  record: StoredRecord,
  values: StoredRecord,
  moment: RequestMoment,
): StoredRecord {
  checkTransition(resource, record, values);
  const next: StoredRecord = { ...record, ...values, updated_at: moment.now };
  checkWhole(resource, next);
  return resource.settle?.(next, record, moment) ?? next;
}

/**
 * A status that is sent has to be one that an edge leads to. No edge leads from a state to itself, so sending the
 * present status is refused like any other missing edge.
 */
function checkTransition(resource: SandboxResource, record: StoredRecord, values: StoredRecord): void {
  if (values.status === undefined || !resource.edges) return;
  const [present, wanted] = [String(record.status), String(values.status)];
  if (resource.edges[present]?.includes(wanted)) return;
  const message = `A ${resource.noun} that is ${present} cannot become ${wanted}.`;
  throw new SandboxRefusal('invalid_transition', { message, param: 'status' });
}

function checkWhole(resource: SandboxResource, record: StoredRecord): void {
  const spot: FieldSpot = { in: 'body', path: [], violations: [] };
  resource.check?.(record, spot);
  if (spot.violations.length > 0) throw new SandboxRefusal('validation_failed', { errors: spot.violations });
}
