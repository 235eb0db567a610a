// Customers: contact records with their equipment and service history.
import { date, email, PHONE, text } from '../kinds.ts';
import { byText, equals, optional, required, type SandboxResource, startsWith } from '../resource.ts';
import { flags, list, shape } from '../shapes.ts';

const address = shape({
  line1: text({ max: 200 }),
  line2: text({ max: 200 }),
  city: text({ max: 100 }),
  region: text({ max: 100 }),
  postal_code: text({ max: 20 }),
  country: text({ max: 2, pattern: /^[A-Z]{2}$/ }),
});

const equipment = shape(
  { name: text({ max: 200 }), model: text({ max: 200 }), serial_number: text({ max: 100 }), installed_on: date },
  ['name'],
);

// The plus keeps the type of the column out of the comparison, which would rule out the index over the expression.
const ITS_JOBS = `jobs WHERE scope = r.scope AND json_extract(record, '$.customer_id') = +r.id`;

export const CUSTOMERS: SandboxResource = {
  name: 'customers',
  prefix: 'cus',
  noun: 'customer',
  fields: {
    name: required(text({ max: 200 })),
    email: optional(email),
    phone: optional(PHONE),
    address: optional(address),
    equipment: optional(list(equipment, { max: 100 }), []),
    communication_preferences: optional(flags(['sms', 'email', 'voice'])),
  },
  kept: {},
  derived: {
    // A job that has not started may lie in the future.
    service_history: `SELECT json_object('jobs_count', (SELECT count(*) FROM ${ITS_JOBS}),
      'last_job_at', (SELECT max(json_extract(record, '$.started_at')) FROM ${ITS_JOBS}))`,
  },
  filters: {
    email: equals('email', email),
    phone: equals('phone', PHONE),
    name_prefix: startsWith('name', text({ max: 200 })),
  },
  sorts: { name: byText('name') },
};
