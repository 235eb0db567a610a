// Invoices: the debt of a customer, with its lines, payment state and receipt.
import { currency, date, email, integer, oneOf, reference, text } from '../kinds.ts';
import {
  before,
  by,
  byNullable,
  equals,
  onlyByUpdate,
  optional,
  required,
  type SandboxResource,
  type StoredRecord,
} from '../resource.ts';
import { list, shape } from '../shapes.ts';

const status = oneOf(['draft', 'open', 'paid', 'void']);

const lineItem = shape(
  {
    description: text({ max: 500 }),
    quantity: integer(1, 10_000),
    unit_amount: integer(0, 1_000_000_000),
  },
  ['description', 'quantity', 'unit_amount'],
);

export const INVOICES: SandboxResource = {
  name: 'invoices',
  prefix: 'inv',
  noun: 'invoice',
  fields: {
    customer_id: required(reference('customers')),
    // A hundred of the largest lines still add up to an integer that JSON carries exactly.
    line_items: required(list(lineItem, { min: 1, max: 100 })),
    currency: required(currency),
    job_id: optional(reference('jobs')),
    due_on: optional(date),
    receipt_email: optional(email),
    status: onlyByUpdate(status, 'draft'),
  },
  kept: { number: null, amount: 0, amount_paid: 0, receipt: null },
  derived: {},
  filters: {
    status: equals('status', status),
    customer_id: equals('customer_id', reference('customers')),
    job_id: equals('job_id', reference('jobs')),
    due_before: before('due_on', date),
  },
  sorts: { amount: by('amount'), due_on: byNullable('due_on') },
  edges: { draft: ['open', 'void'], open: ['paid', 'void'] },
  settle(next, previous, moment) {
    const amount = amountOf(next);
    if (!previous) {
      const number = `INV-${String(moment.nextNumber('invoices')).padStart(6, '0')}`;
      return { ...next, number, amount };
    }
    if (next.status !== 'paid' || previous.status === 'paid') return { ...next, amount };
    const receipt = next.receipt_email === null ? null : { delivered_at: moment.now, channel: 'email' };
    return { ...next, amount, amount_paid: amount, receipt };
  },
};

function amountOf(invoice: StoredRecord): number {
  const lines = invoice.line_items as readonly { quantity: number; unit_amount: number }[];
  return lines.reduce((sum, line) => sum + line.quantity * line.unit_amount, 0);
}
