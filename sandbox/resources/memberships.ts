// Memberships: a customer's subscription to a recurring maintenance plan and when it renews.
import { date, FLAG, oneOf, reference, refuse, text, withinBounds } from '../kinds.ts';
import {
  before,
  byNullable,
  equals,
  onlyByUpdate,
  optional,
  required,
  type SandboxResource,
  type StoredRecord,
} from '../resource.ts';
import { money } from '../shapes.ts';
import { addMonths } from '../times.ts';

const MONTHS: Readonly<Record<string, number>> = { month: 1, quarter: 3, year: 12 };
const status = oneOf(['active', 'paused', 'canceled', 'expired']);

export const MEMBERSHIPS: SandboxResource = {
  name: 'memberships',
  prefix: 'mem',
  noun: 'membership',
  fields: {
    customer_id: required(reference('customers')),
    plan_name: required(text({ max: 200 })),
    interval: required(oneOf(['month', 'quarter', 'year'])),
    starts_on: required(date),
    price: optional(money),
    auto_renew: optional(FLAG, true),
    status: onlyByUpdate(status, 'active'),
  },
  kept: { renews_on: null },
  derived: {},
  filters: {
    status: equals('status', status),
    customer_id: equals('customer_id', reference('customers')),
    renews_before: before('renews_on', date),
  },
  sorts: { renews_on: byNullable('renews_on') },
  edges: { active: ['paused', 'canceled'], paused: ['active', 'canceled'] },
  check(next, spot) {
    // A longer date is none by RFC 3339, and breaks the order of the texts.
    if (renewal(next).length > String(next.starts_on).length) {
      refuse(withinBounds(spot, 'starts_on'), 'too_large', 'Must leave time for a renewal before the year 10000.');
    }
  },
  settle: (next) => ({ ...next, renews_on: next.status === 'canceled' ? null : renewal(next) }),
};

function renewal({ starts_on, interval }: StoredRecord): string {
  return addMonths(String(starts_on), MONTHS[String(interval)] ?? 1);
}
