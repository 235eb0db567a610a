// Jobs: field service work for a customer, from scheduling to completion, with the time spent on it.
import { type FieldValue, integer, oneOf, reference, TIME, text } from '../kinds.ts';
import {
  after,
  before,
  by,
  equals,
  onlyByUpdate,
  optional,
  required,
  type SandboxResource,
  type StoredRecord,
} from '../resource.ts';

const status = oneOf(['scheduled', 'dispatched', 'in_progress', 'completed', 'canceled']);
const serviceType = text({ max: 64, pattern: /^[a-z0-9]+(_[a-z0-9]+)*$/ });

export const JOBS: SandboxResource = {
  name: 'jobs',
  prefix: 'job',
  noun: 'job',
  fields: {
    customer_id: required(reference('customers')),
    service_type: required(serviceType),
    scheduled_at: required(TIME),
    technician_id: optional(reference('technicians')),
    notes: optional(text({ max: 5000 })),
    estimated_minutes: optional(integer(1, 43_200)),
    status: onlyByUpdate(status, 'scheduled'),
  },
  kept: { started_at: null, completed_at: null, time_entries: [] },
  derived: {},
  filters: {
    status: equals('status', status),
    technician_id: equals('technician_id', reference('technicians')),
    customer_id: equals('customer_id', reference('customers')),
    service_type: equals('service_type', serviceType),
    scheduled_after: after('scheduled_at', TIME),
    scheduled_before: before('scheduled_at', TIME),
  },
  sorts: { scheduled_at: by('scheduled_at') },
  edges: {
    scheduled: ['dispatched', 'canceled'],
    dispatched: ['in_progress', 'canceled'],
    in_progress: ['completed', 'canceled'],
  },
  // No edge leads back into in_progress, so a job never has more than one time entry.
  traces: [{ member: 'time_entries[0].technician_id', to: 'technicians' }],
  settle(next, previous, { now }) {
    if (next.status === previous?.status) return next;
    if (next.status === 'in_progress') {
      const entry = { technician_id: next.technician_id ?? null, started_at: now, ended_at: null };
      return { ...next, started_at: now, time_entries: [entry] };
    }
    if (next.status === 'completed') return { ...next, completed_at: now, time_entries: ended(next, now) };
    return { ...next, time_entries: ended(next, now) };
  },
};

function ended(job: StoredRecord, now: string): FieldValue {
  const entries = job.time_entries as readonly StoredRecord[];
  return entries.map((entry) => (entry.ended_at === null ? { ...entry, ended_at: now } : entry)) as FieldValue;
}
