// The demonstration data of a field-service company: customers, technicians, jobs, invoices, memberships and messages.
import type { Chance } from './chance.ts';
import { type DemoHistory, ONE_DAY_MS, ONE_HOUR_MS, type Plant } from './demo-records.ts';
import { inventAddress, inventPerson } from './fake-people.ts';

const EQUIPMENT = ['Heat pump', 'Gas furnace', 'Water heater', 'Air handler', 'Boiler', 'Mini split'] as const;
const SKILLS = ['hvac', 'plumbing', 'electrical', 'heat_pump', 'refrigeration', 'inspection'] as const;
const SERVICES = [
  ['heat_pump_maintenance', 18_900],
  ['furnace_repair', 24_500],
  ['water_heater_installation', 129_000],
  ['duct_cleaning', 32_000],
  ['safety_inspection', 9_900],
] as const;
const MAINTENANCE = [
  ['Comfort Basic', 'month', 1_900],
  ['Comfort Plus', 'quarter', 6_900],
  ['Comfort Total', 'year', 24_900],
] as const;
const MESSAGES = [
  'Your technician is on the way.',
  'Your appointment is confirmed.',
  'Thank you for your payment.',
  'It is time for your yearly inspection.',
] as const;

const CUSTOMER_EVERY_MS = 0.7 * ONE_DAY_MS;

export type Identifiers = [string, ...string[]];

interface Completed {
  readonly id: string;
  readonly customer: string;
  readonly ageMs: number;
  readonly service: (typeof SERVICES)[number];
}

interface LineItem {
  readonly description: string;
  readonly quantity: number;
  readonly unit_amount: number;
}

export function plantFieldService(plant: Plant, chance: Chance): void {
  const customers = many(264, (index) => plantCustomer(plant, chance, index));
  const technicians = many(14, (index) => plantTechnician(plant, chance, index));
  const completed = plantJobs(plant, chance, customers, technicians);
  plantInvoices(plant, chance, completed);
  many(44, (index) => plantMembership(plant, chance, customers, index));
  many(84, (index) => plantCommunication(plant, chance, customers, index));
}

/** At least one, so that there is always something to pick from. */
export function many(count: number, make: (index: number) => string): Identifiers {
  return Array.from({ length: count }, (_, index) => make(index)) as Identifiers;
}

/** The records that existed that long ago, of records created one by one: a customer exists before the first job. */
export function olderThan(ageMs: number, identifiers: Identifiers, everyMs: number): Identifiers {
  const count = Math.max(1, Math.floor(identifiers.length - ageMs / everyMs));
  return identifiers.slice(0, count) as Identifiers;
}

function plantCustomer(plant: Plant, chance: Chance, index: number): string {
  const { name, email, phone } = inventPerson(chance, index);
  const ageMs = (264 - index) * CUSTOMER_EVERY_MS + chance.between(0, 10) * ONE_HOUR_MS;
  const installed = plant.dateAt(ageMs + chance.between(100, 2000) * ONE_DAY_MS);
  const serial_number = `SN-${chance.between(100_000, 999_999)}`;
  return plant.record('customers', ageMs, {
    name,
    ...(index % 9 === 8 ? {} : { email }),
    ...(index % 11 === 10 ? {} : { phone }),
    address: inventAddress(chance),
    equipment: index % 3 === 2 ? [] : [{ name: chance.pick(EQUIPMENT), serial_number, installed_on: installed }],
    communication_preferences: { sms: index % 4 !== 0, email: true, voice: index % 5 === 0 },
  });
}

function plantTechnician(plant: Plant, chance: Chance, index: number): string {
  const ageMs = (400 - index * 15) * ONE_DAY_MS;
  const values = {
    ...inventPerson(chance, 1000 + index),
    kind: index % 4 === 3 ? 'subcontractor' : 'employee',
    skills: [...new Set([chance.pick(SKILLS), chance.pick(SKILLS), chance.pick(SKILLS)])],
    active: index % 7 !== 6,
  };
  const latitude = 44 + chance.between(0, 9999) / 10_000;
  const longitude = -123 + chance.between(0, 9999) / 10_000;
  const seenMs = chance.between(1, 40) * ONE_HOUR_MS;
  const location = { latitude, longitude, recorded_at: plant.timeAt(seenMs) };
  return plant.record('technicians', ageMs, values, { changes: [{ ageMs: seenMs, values: { location } }] });
}

function plantJobs(plant: Plant, chance: Chance, customers: Identifiers, technicians: Identifiers): Completed[] {
  const count = 132;
  const completed: Completed[] = [];
  for (let index = 0; index < count; index += 1) {
    // Business is growing: the nearer to today, the closer together.
    const ageMs = 180 * ONE_DAY_MS * ((count - index) / count) ** 2 + chance.between(1, 9) * ONE_HOUR_MS;
    const service = chance.pick(SERVICES);
    const customer = chance.pick(olderThan(ageMs, customers, CUSTOMER_EVERY_MS));
    const { status, scheduledAgeMs, changes } = courseOf(chance, index, ageMs);
    const values = {
      customer_id: customer,
      service_type: service[0],
      scheduled_at: plant.timeAt(scheduledAgeMs),
      estimated_minutes: chance.between(2, 16) * 15,
      ...(status === 'scheduled' && index % 2 === 0 ? {} : { technician_id: chance.pick(technicians) }),
      ...(index % 6 === 0 ? { notes: 'Please ring at the side door.' } : {}),
    };
    const id = plant.record('jobs', ageMs, values, { changes });
    if (status === 'completed') completed.push({ id, customer, ageMs: scheduledAgeMs - 4 * ONE_HOUR_MS, service });
  }
  return completed;
}

interface Course {
  readonly status: string;
  readonly scheduledAgeMs: number;
  readonly changes: { ageMs: number; values: { status: string } }[];
}

/** The old jobs are over, the middle ones are today's, the newest are yet to come. */
function courseOf(chance: Chance, index: number, ageMs: number): Course {
  const change = (status: string, changeAgeMs: number) => ({ ageMs: changeAgeMs, values: { status } });
  if (index >= 104 || index % 9 === 8) {
    const scheduledAgeMs = index >= 104 ? -chance.between(6, 500) * ONE_HOUR_MS : ageMs - 5 * ONE_DAY_MS;
    if (index % 9 !== 8) return { status: 'scheduled', scheduledAgeMs, changes: [] };
    return { status: 'canceled', scheduledAgeMs, changes: [change('canceled', ageMs - ONE_HOUR_MS / 2)] };
  }
  const scheduledAgeMs =
    index < 80 ? ageMs - chance.between(24, 120) * ONE_HOUR_MS : chance.between(1, 3) * ONE_HOUR_MS;
  const changes = [change('dispatched', scheduledAgeMs + ONE_HOUR_MS)];
  if (index >= 92) return { status: 'dispatched', scheduledAgeMs, changes };
  changes.push(change('in_progress', scheduledAgeMs - ONE_HOUR_MS / 6));
  if (index >= 80) return { status: 'in_progress', scheduledAgeMs, changes };
  changes.push(change('completed', scheduledAgeMs - chance.between(1, 3) * ONE_HOUR_MS));
  return { status: 'completed', scheduledAgeMs, changes };
}

function plantInvoices(plant: Plant, chance: Chance, completed: readonly Completed[]): void {
  completed.forEach(({ id, customer, ageMs, service: [service, price] }, index) => {
    const description = service.replaceAll('_', ' ');
    const line_items: LineItem[] = [{ description, quantity: 1, unit_amount: price }];
    if (index % 3 === 0) line_items.push({ description: 'parts', quantity: chance.between(1, 4), unit_amount: 1_250 });
    const values = {
      customer_id: customer,
      job_id: id,
      line_items,
      currency: 'usd',
      ...(index % 8 === 7 ? {} : { due_on: plant.dateAt(ageMs - 30 * ONE_DAY_MS) }),
      ...(index % 5 === 4 ? {} : { receipt_email: `billing.${index}@example.com` }),
    };
    plant.record('invoices', ageMs, values, { changes: paymentOf(index, ageMs) });
  });
}

function paymentOf(index: number, ageMs: number): NonNullable<DemoHistory['changes']> {
  const opened = { ageMs: ageMs - ONE_HOUR_MS, values: { status: 'open' } };
  if (index % 10 === 9) return [];
  if (index % 10 === 8) return [{ ageMs: ageMs - ONE_HOUR_MS, values: { status: 'void' } }];
  if (index % 10 > 5) return [opened];
  return [opened, { ageMs: ageMs - 3 * ONE_HOUR_MS, values: { status: 'paid' } }];
}

function plantMembership(plant: Plant, chance: Chance, customers: Identifiers, index: number): string {
  const ageMs = (44 - index) * 4 * ONE_DAY_MS;
  const [plan_name, interval, amount] = chance.pick(MAINTENANCE);
  const values = {
    customer_id: chance.pick(olderThan(ageMs, customers, CUSTOMER_EVERY_MS)),
    plan_name,
    interval,
    starts_on: plant.dateAt(ageMs - 2 * ONE_DAY_MS),
    price: { amount, currency: 'usd' },
    auto_renew: index % 6 !== 5,
  };
  const statuses = ['paused', 'canceled'] as const;
  const status = index % 4 === 3 ? statuses[(index >> 2) % 2] : undefined;
  const changes = status ? [{ ageMs: ageMs - 4 * ONE_DAY_MS, values: { status } }] : [];
  return plant.record('memberships', ageMs, values, { changes, kept: index % 11 === 0 ? { status: 'expired' } : {} });
}

function plantCommunication(plant: Plant, chance: Chance, customers: Identifiers, index: number): string {
  const ageMs = (84 - index) * 1.5 * ONE_DAY_MS + chance.between(1, 20) * ONE_HOUR_MS;
  const channel = chance.pick(['sms', 'sms', 'email', 'voice'] as const);
  const body = chance.pick(MESSAGES);
  const values = {
    customer_id: chance.pick(olderThan(ageMs, customers, CUSTOMER_EVERY_MS)),
    channel,
    body,
    ...(channel === 'email' ? { subject: 'A message about your service' } : {}),
  };
  const sent_at = plant.timeAt(ageMs - 2000);
  const kept = index % 12 === 11 ? { status: 'failed' } : { status: 'delivered', sent_at };
  return plant.record('communications', ageMs, values, { kept });
}
