// Technicians: team members and subcontractors with their skills and last known place.
import { email, FLAG, number, oneOf, PHONE, TIME, text } from '../kinds.ts';
import {
  byText,
  equals,
  onlyByUpdate,
  optional,
  required,
  type SandboxResource,
  type StoredRecord,
  tagged,
} from '../resource.ts';
import { list, shape } from '../shapes.ts';

const kind = oneOf(['employee', 'subcontractor']);
const skill = text({ max: 64 });

const location = shape({ latitude: number(-90, 90), longitude: number(-180, 180), recorded_at: TIME }, [
  'latitude',
  'longitude',
]);

export const TECHNICIANS: SandboxResource = {
  name: 'technicians',
  prefix: 'tech',
  noun: 'technician',
  fields: {
    name: required(text({ max: 200 })),
    email: optional(email),
    phone: optional(PHONE),
    kind: optional(kind, 'employee'),
    skills: optional(list(skill, { max: 50, unique: true }), []),
    active: optional(FLAG, true),
    location: onlyByUpdate(location, null),
  },
  kept: {},
  derived: {},
  filters: { skill: tagged('skills', skill), kind: equals('kind', kind), active: equals('active', FLAG) },
  sorts: { name: byText('name') },
  settle(next, _previous, { now }) {
    const place = next.location as StoredRecord | null;
    // A device that does not say when it was there is there now.
    return place === null || place.recorded_at !== null ? next : { ...next, location: { ...place, recorded_at: now } };
  },
};
