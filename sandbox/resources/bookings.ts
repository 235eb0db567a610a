// Bookings: a guest's reservation of an experience or of another resource of the house.
import { integer, oneOf, reference, refuse, TIME, text, withinBounds } from '../kinds.ts';
import { after, before, by, equals, onlyByUpdate, optional, required, type SandboxResource } from '../resource.ts';

const status = oneOf(['pending', 'confirmed', 'canceled', 'completed']);

export const BOOKINGS: SandboxResource = {
  name: 'bookings',
  prefix: 'bkg',
  noun: 'booking',
  fields: {
    guest_id: required(reference('guests')),
    starts_at: required(TIME),
    experience_id: optional(reference('experiences')),
    resource_name: optional(text({ max: 200 })),
    ends_at: optional(TIME),
    party_size: optional(integer(1, 10_000), 1),
    notes: optional(text({ max: 5000 })),
    status: onlyByUpdate(status, 'pending'),
  },
  kept: {},
  derived: {},
  filters: {
    guest_id: equals('guest_id', reference('guests')),
    experience_id: equals('experience_id', reference('experiences')),
    status: equals('status', status),
    starts_after: after('starts_at', TIME),
    starts_before: before('starts_at', TIME),
  },
  sorts: { starts_at: by('starts_at') },
  edges: { pending: ['confirmed', 'canceled'], confirmed: ['completed', 'canceled'] },
  check(next, spot) {
    if (next.experience_id === null && next.resource_name === null) {
      refuse(withinBounds(spot, 'experience_id'), 'required', 'A booking needs an experience_id or a resource_name.');
    }
    if (next.experience_id !== null && next.resource_name !== null) {
      refuse(
        withinBounds(spot, 'resource_name'),
        'ambiguous',
        'A booking has an experience_id or a resource_name, not both.',
      );
    }
    // Both are stored in UTC, so their texts compare as the times do.
    if (next.ends_at !== null && String(next.ends_at) <= String(next.starts_at)) {
      refuse(withinBounds(spot, 'ends_at'), 'too_small', 'Must be later than starts_at.');
    }
  },
};
