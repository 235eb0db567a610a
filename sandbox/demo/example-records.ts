// The records that the examples of the contracts name, so that every example can be sent as it stands: one of each resource to read and
// change, and one to delete, to which no other record refers.
import type { ResourceName } from '../kinds.ts';
import { ONE_DAY_MS, ONE_HOUR_MS, type Plant } from './demo-records.ts';

type Values = Readonly<Record<string, unknown>>;

/** The examples of `delete` end like this. */
const TO_DELETE = '3Rv6KxN1bTs9HmQj';

/** What tells them from the records to read: a list shows both. */
const OF_THOSE_TO_DELETE: Readonly<Partial<Record<ResourceName, Values>>> = {
  customers: { name: 'Theo Lindqvist', email: 'theo.lindqvist@example.com', phone: '+15555550188' },
  technicians: { name: 'Nora Brandt', email: 'nora.brandt@example.com' },
  guests: { name: 'Paul Okafor', email: 'paul.okafor@example.com' },
  experiences: { title: 'Harbour walk' },
};

const IDS = {
  customer: 'cus_5Hq8ZrT2mWx9LbKd',
  technician: 'tech_6Lp4QnF8uKv2RjSx',
  job: 'job_8Rk2VbN6yQs4HfTz',
  guest: 'gst_7Yb5KtD3wPn9CfHm',
  experience: 'exp_4Jx8SgV2qLh6TzRk',
} as const;

/** Creates those of the records that are missing; returns whether there were any. */
export function plantExamples(plant: Plant, isMissing: (resource: ResourceName, id: string) => boolean): boolean {
  let planted = false;
  for (const [resource, prefix, id, values] of examples(plant)) {
    const toDelete = { ...values, ...OF_THOSE_TO_DELETE[resource] };
    for (const [each, own] of [
      [id, values],
      [`${prefix}_${TO_DELETE}`, toDelete],
    ] as const) {
      if (!isMissing(resource, each)) continue;
      plant.record(resource, ONE_HOUR_MS, own, { id: each });
      planted = true;
    }
  }
  return planted;
}

/** Records that are referred to come first. */
function examples({ timeAt, dateAt }: Plant): (readonly [ResourceName, prefix: string, id: string, Values])[] {
  const customer_id = IDS.customer;
  const dana = { name: 'Dana Whitfield', email: 'dana.whitfield@example.com', phone: '+15125550142' };
  const line_items = [{ description: 'Heat pump maintenance', quantity: 1, unit_amount: 14_500 }];
  const job = { customer_id, service_type: 'heat_pump_maintenance', scheduled_at: timeAt(-7 * ONE_DAY_MS) };
  return [
    ['customers', 'cus', IDS.customer, dana],
    ['technicians', 'tech', IDS.technician, { name: 'Marcus Oyelaran', email: 'marcus.oyelaran@example.com' }],
    ['guests', 'gst', IDS.guest, { name: 'Ines Moreau', email: 'ines.moreau@example.com' }],
    ['experiences', 'exp', IDS.experience, { title: 'Sunset kayak tour', price: { amount: 8500, currency: 'eur' } }],
    ['jobs', 'job', IDS.job, { ...job, technician_id: IDS.technician }],
    ['invoices', 'inv', 'inv_3Wd7XcJ9pMa5GtYe', { customer_id, line_items, currency: 'usd' }],
    [
      'memberships',
      'mem',
      'mem_9Tz3HyC7kBw6NdPq',
      { customer_id, plan_name: 'Comfort Plus', interval: 'year', starts_on: dateAt(0) },
    ],
    [
      'communications',
      'com',
      'com_2Gs6MvX4eRj8ZaLu',
      {
        customer_id,
        channel: 'email',
        subject: 'Your appointment on Monday',
        body: 'Your technician arrives at 9:00.',
      },
    ],
    [
      'bookings',
      'bkg',
      'bkg_1Nf9WmZ5aXc3QvEy',
      { guest_id: IDS.guest, experience_id: IDS.experience, starts_at: timeAt(-20 * ONE_DAY_MS), party_size: 2 },
    ],
  ];
}
