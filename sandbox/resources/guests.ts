// Guests: the profiles of a hotel's guests.
import { email, FLAG, PHONE, text } from '../kinds.ts';
import { byText, equals, optional, required, type SandboxResource } from '../resource.ts';
import { FREE_OBJECT } from '../shapes.ts';

export const GUESTS: SandboxResource = {
  name: 'guests',
  prefix: 'gst',
  noun: 'guest',
  fields: {
    name: required(text({ max: 200 })),
    email: optional(email),
    phone: optional(PHONE),
    preferences: optional(FREE_OBJECT),
    loyalty_number: optional(text({ max: 64 })),
    vip: optional(FLAG, false),
  },
  kept: {},
  derived: {
    // A stay is a booking that was seen through. The plus lets the index over guest_id be used, as with customers.
    stays_count: `SELECT count(*) FROM bookings WHERE scope = r.scope
      AND json_extract(record, '$.guest_id') = +r.id AND json_extract(record, '$.status') = 'completed'`,
  },
  filters: { email: equals('email', email), vip: equals('vip', FLAG) },
  sorts: { name: byText('name') },
};
