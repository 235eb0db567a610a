// Communications: messages and calls to customers. The sandbox sends none of them; it moves their status on as time goes.
import { oneOf, reference, refuse, text, withinBounds } from '../kinds.ts';
import { byNullable, equals, optional, required, type SandboxResource } from '../resource.ts';

const channel = oneOf(['sms', 'email', 'voice']);
const status = oneOf(['queued', 'sent', 'delivered', 'failed']);

export const COMMUNICATIONS: SandboxResource = {
  name: 'communications',
  prefix: 'com',
  noun: 'communication',
  fields: {
    customer_id: required(reference('customers')),
    channel: required(channel),
    body: required(text({ max: 10_000 })),
    subject: optional(text({ max: 200 })),
    job_id: optional(reference('jobs')),
  },
  kept: { status: 'queued', sent_at: null },
  derived: {},
  filters: {
    customer_id: equals('customer_id', reference('customers')),
    channel: equals('channel', channel),
    status: equals('status', status),
  },
  sorts: { sent_at: byNullable('sent_at') },
  moves: [
    { from: 'queued', to: 'sent', afterMs: 2000, stamps: 'sent_at' },
    { from: 'sent', to: 'delivered', afterMs: 5000 },
  ],
  check(next, spot) {
    if (next.subject !== null && next.channel !== 'email') {
      refuse(withinBounds(spot, 'subject'), 'invalid', 'Only a communication by email has a subject.');
    }
  },
};
