// The table of the nine resources, as data.

import assert from 'node:assert/strict';
import type { ContractOperation } from '../../gateway/contract/operations/operations.ts';
import { child, follow, isRecord, type LocatedValue } from '../../gateway/contract/pointer.ts';
import { responseFor } from '../../gateway/contract/schemas/schemas.ts';
import { jsonContent, schemaOf } from './shipped.ts';

export interface Resource {
  readonly singular: string;
  readonly prefixes: readonly string[];
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly readOnly: readonly string[];
  /** Of the read-only members, those that PATCH may change. */
  readonly patchOnly?: readonly string[];
  /** Of the optional members, those of which there is exactly one. */
  readonly oneOf?: readonly string[];
  readonly filters: readonly string[];
  /** Besides created_at and updated_at. */
  readonly sorts: readonly string[];
  readonly statuses?: readonly string[];
}

export const resources: Readonly<Record<string, Resource>> = {
  customers: {
    singular: 'Customer',
    prefixes: ['cus', 'cust'],
    required: ['name'],
    optional: ['email', 'phone', 'address', 'equipment', 'communication_preferences'],
    readOnly: ['service_history'],
    filters: ['email', 'phone', 'name_prefix'],
    sorts: ['name'],
  },
  jobs: {
    singular: 'Job',
    prefixes: ['job'],
    required: ['customer_id', 'service_type', 'scheduled_at'],
    optional: ['technician_id', 'notes', 'estimated_minutes'],
    readOnly: ['status', 'started_at', 'completed_at', 'time_entries'],
    patchOnly: ['status'],
    filters: ['status', 'technician_id', 'customer_id', 'service_type', 'scheduled_after', 'scheduled_before'],
    sorts: ['scheduled_at'],
    statuses: ['scheduled', 'dispatched', 'in_progress', 'completed', 'canceled'],
  },
  invoices: {
    singular: 'Invoice',
    prefixes: ['inv'],
    required: ['customer_id', 'line_items', 'currency'],
    optional: ['job_id', 'due_on', 'receipt_email'],
    readOnly: ['number', 'amount', 'amount_paid', 'status', 'receipt'],
    patchOnly: ['status'],
    filters: ['status', 'customer_id', 'job_id', 'due_before'],
    sorts: ['amount', 'due_on'],
    statuses: ['draft', 'open', 'paid', 'void'],
  },
  technicians: {
    singular: 'Technician',
    prefixes: ['tech'],
    required: ['name'],
    optional: ['email', 'phone', 'kind', 'skills', 'active'],
    readOnly: ['location'],
    patchOnly: ['location'],
    filters: ['skill', 'kind', 'active'],
    sorts: ['name'],
  },
  memberships: {
    singular: 'Membership',
    prefixes: ['mem'],
    required: ['customer_id', 'plan_name', 'interval', 'starts_on'],
    optional: ['price', 'auto_renew'],
    readOnly: ['status', 'renews_on'],
    patchOnly: ['status'],
    filters: ['status', 'customer_id', 'renews_before'],
    sorts: ['renews_on'],
    statuses: ['active', 'paused', 'canceled', 'expired'],
  },
  communications: {
    singular: 'Communication',
    prefixes: ['com'],
    required: ['customer_id', 'channel', 'body'],
    optional: ['subject', 'job_id'],
    readOnly: ['status', 'sent_at'],
    filters: ['customer_id', 'channel', 'status'],
    sorts: ['sent_at'],
    statuses: ['queued', 'sent', 'delivered', 'failed'],
  },
  guests: {
    singular: 'Guest',
    prefixes: ['gst'],
    required: ['name'],
    optional: ['email', 'phone', 'preferences', 'loyalty_number', 'vip'],
    readOnly: ['stays_count'],
    filters: ['email', 'vip'],
    sorts: ['name'],
  },
  experiences: {
    singular: 'Experience',
    prefixes: ['exp'],
    required: ['title', 'price'],
    optional: ['description', 'category', 'duration_minutes', 'capacity', 'active', 'location'],
    readOnly: [],
    filters: ['category', 'active'],
    sorts: ['title', 'price'],
  },
  bookings: {
    singular: 'Booking',
    prefixes: ['bkg'],
    required: ['guest_id', 'starts_at'],
    optional: ['experience_id', 'resource_name', 'ends_at', 'party_size', 'notes'],
    oneOf: ['experience_id', 'resource_name'],
    readOnly: ['status'],
    patchOnly: ['status'],
    filters: ['guest_id', 'experience_id', 'status', 'starts_after', 'starts_before'],
    sorts: ['starts_at'],
    statuses: ['pending', 'confirmed', 'canceled', 'completed'],
  },
};

/** Path and query parameters by name, each with its schema, references followed. */
export function parameterSchemas(entry: ContractOperation): Map<string, Record<string, unknown>> {
  return new Map(
    entry.parameters.flatMap((parameter) => {
      const { name, in: place } = parameter.value as { name: string; in: string };
      return place === 'header' ? [] : [[name, followed(entry, child(parameter, 'schema'))] as const];
    }),
  );
}

/** The schema of an answer; its properties have their references followed, one level deep. */
export function answerSchema(entry: ContractOperation, status: number): Record<string, unknown> {
  const content = jsonContent(entry, responseFor(entry, status));
  assert.ok(content);
  const schema = schemaOf(entry, content);
  const properties = { value: schema.properties, pointer: '' };
  const names = Object.keys(isRecord(schema.properties) ? schema.properties : {});
  return {
    ...schema,
    properties: Object.fromEntries(names.map((name) => [name, followed(entry, child(properties, name))])),
  };
}

function followed(entry: ContractOperation, located: LocatedValue): Record<string, unknown> {
  const { value } = follow(entry.document.root, located);
  assert.ok(isRecord(value));
  return value;
}
