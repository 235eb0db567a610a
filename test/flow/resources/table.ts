// The nine resources as data: the payloads that create and change each, and its filters and sorts (the promised surface, written down a
// second time on purpose, so that a gap in a contract or a service is noticed).

import { type KeyOptions, startGateway, type TestGateway } from '../../support/gateway.ts';

// biome-ignore lint/suspicious/noExplicitAny: records are asserted member by member.
export type Json = any;

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

export type Client = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>;

export interface Resource {
  readonly name: string;
  readonly prefix: string;
  /** The payload of a new record; the records that it refers to are created first. */
  payload(client: Client, index: number): Promise<Record<string, unknown>>;
  readonly change: Record<string, unknown>;
  readonly sorts: readonly string[];
  /** Filters: a value taken from a record, and the form of a match. */
  readonly filters: Readonly<Record<string, Filter>>;
  /** Edges from one status to the next, and one that is none. */
  readonly edges?: readonly (readonly string[])[];
  readonly nonEdge?: readonly [path: readonly string[], to: string];
}

export interface Filter {
  readonly value: (record: Json) => string | undefined;
  readonly matches: (record: Json, value: string) => boolean;
}

const equal = (member: string): Filter => ({
  value: (record) => (record[member] === null || record[member] === undefined ? undefined : String(record[member])),
  matches: (record, value) => String(record[member]) === value,
});
const later = (member: string): Filter => ({
  value: (record) => record[member] ?? undefined,
  matches: (record, value) => record[member] !== null && record[member] > value,
});
const earlier = (member: string): Filter => ({
  value: (record) => record[member] ?? undefined,
  matches: (record, value) => record[member] !== null && record[member] < value,
});
const day = (index: number) => `2027-0${1 + (index % 9)}-1${index % 9}`;
const time = (index: number) => `${day(index)}T0${index % 9}:30:00.000Z`;
const pick = <T>(index: number, ...values: readonly T[]) => values[index % values.length] as T;

export async function create(client: Client, name: string, body: unknown): Promise<Json> {
  const reply = await client('POST', `/v1/${name}`, body);
  if (reply.status !== 201) throw new Error(`POST ${name}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
}

const customerId = async (client: Client) => (await create(client, 'customers', { name: 'Referred To' })).id as string;
const customerWithJob = async (client: Client) => {
  const customer_id = await customerId(client);
  const job = { customer_id, service_type: 'repair', scheduled_at: '2027-01-01T00:00:00Z' };
  return { customer_id, job_id: (await create(client, 'jobs', job)).id };
};
const technicianId = async (client: Client) =>
  (await create(client, 'technicians', { name: 'Referred To' })).id as string;

export const resources: readonly Resource[] = [
  {
    name: 'customers',
    prefix: 'cus_',
    payload: async (_client, index) => ({
      name: `${pick(index, 'Ada', 'Bo', 'Cy')} ${index}`,
      email: `c${index}@example.com`,
      phone: `+1555100000${index % 10}`,
    }),
    change: { name: 'Changed', phone: null, metadata: { source: 'test' } },
    sorts: ['created_at', 'updated_at', 'name'],
    filters: {
      email: equal('email'),
      phone: equal('phone'),
      name_prefix: {
        value: (record) => record.name.slice(0, 2),
        matches: (record, value) => record.name.startsWith(value),
      },
    },
  },
  {
    name: 'jobs',
    prefix: 'job_',
    payload: async (client, index) => ({
      customer_id: await customerId(client),
      technician_id: await technicianId(client),
      service_type: pick(index, 'hvac_maintenance', 'repair'),
      scheduled_at: time(index),
    }),
    change: { notes: 'Ring twice.', estimated_minutes: 45 },
    sorts: ['created_at', 'updated_at', 'scheduled_at'],
    filters: {
      status: equal('status'),
      technician_id: equal('technician_id'),
      customer_id: equal('customer_id'),
      service_type: equal('service_type'),
      scheduled_after: later('scheduled_at'),
      scheduled_before: earlier('scheduled_at'),
    },
    edges: [
      ['dispatched', 'in_progress', 'completed'],
      ['canceled'],
      ['dispatched', 'canceled'],
      ['dispatched', 'in_progress', 'canceled'],
    ],
    nonEdge: [[], 'completed'],
  },
  {
    name: 'invoices',
    prefix: 'inv_',
    payload: async (client, index) => ({
      ...(await customerWithJob(client)),
      line_items: [{ description: 'Visit', quantity: 1 + (index % 3), unit_amount: 1000 * index }],
      currency: 'usd',
      ...(index % 4 === 0 ? {} : { due_on: day(index) }),
    }),
    change: { receipt_email: 'receipt@example.com', due_on: '2027-12-24' },
    sorts: ['created_at', 'updated_at', 'amount', 'due_on'],
    filters: {
      status: equal('status'),
      customer_id: equal('customer_id'),
      job_id: equal('job_id'),
      due_before: earlier('due_on'),
    },
    edges: [['open', 'paid'], ['void'], ['open', 'void']],
    nonEdge: [['open', 'paid'], 'void'],
  },
  {
    name: 'technicians',
    prefix: 'tech_',
    payload: async (_client, index) => ({
      name: `Tech ${index}`,
      kind: pick(index, 'employee', 'subcontractor'),
      skills: ['hvac', `skill${index % 3}`],
      active: index % 2 === 0,
    }),
    change: { location: { latitude: 52.5, longitude: 13.4 }, active: false },
    sorts: ['created_at', 'updated_at', 'name'],
    filters: {
      skill: { value: (record) => record.skills[1], matches: (record, value) => record.skills.includes(value) },
      kind: equal('kind'),
      active: equal('active'),
    },
  },
  {
    name: 'memberships',
    prefix: 'mem_',
    payload: async (client, index) => ({
      customer_id: await customerId(client),
      plan_name: `Plan ${index}`,
      interval: pick(index, 'month', 'quarter', 'year'),
      starts_on: day(index),
    }),
    change: { auto_renew: false, price: { amount: 9900, currency: 'eur' } },
    sorts: ['created_at', 'updated_at', 'renews_on'],
    filters: { status: equal('status'), customer_id: equal('customer_id'), renews_before: earlier('renews_on') },
    edges: [['paused', 'active'], ['canceled'], ['paused', 'canceled']],
    nonEdge: [['canceled'], 'active'],
  },
  {
    name: 'communications',
    prefix: 'com_',
    payload: async (client, index) => ({
      customer_id: await customerId(client),
      channel: pick(index, 'sms', 'voice', 'email'),
      body: `Message ${index}`,
    }),
    change: { body: 'Corrected' },
    sorts: ['created_at', 'updated_at', 'sent_at'],
    filters: { customer_id: equal('customer_id'), channel: equal('channel'), status: equal('status') },
  },
  {
    name: 'guests',
    prefix: 'gst_',
    payload: async (_client, index) => ({
      name: `Guest ${index}`,
      email: `g${index}@example.com`,
      vip: index % 2 === 0,
    }),
    change: { loyalty_number: 'L-1', preferences: { pillow: 'soft' } },
    sorts: ['created_at', 'updated_at', 'name'],
    filters: { email: equal('email'), vip: equal('vip') },
  },
  {
    name: 'experiences',
    prefix: 'exp_',
    payload: async (_client, index) => ({
      title: `Tour ${index}`,
      price: { amount: 500 * (index % 5), currency: 'usd' },
      category: pick(index, 'food', 'sea'),
      active: index % 2 === 1,
    }),
    change: { description: 'By boat', capacity: 8 },
    sorts: ['created_at', 'updated_at', 'title', 'price'],
    filters: { category: equal('category'), active: equal('active') },
  },
  {
    name: 'bookings',
    prefix: 'bkg_',
    payload: async (client, index) => ({
      guest_id: (await create(client, 'guests', { name: 'Referred To' })).id,
      experience_id: (await create(client, 'experiences', { title: 'Tour', price: { amount: 1, currency: 'usd' } })).id,
      starts_at: time(index),
    }),
    change: { party_size: 3, notes: 'By the window' },
    sorts: ['created_at', 'updated_at', 'starts_at'],
    filters: {
      guest_id: equal('guest_id'),
      experience_id: equal('experience_id'),
      status: equal('status'),
      starts_after: later('starts_at'),
      starts_before: earlier('starts_at'),
    },
    edges: [['confirmed', 'completed'], ['canceled'], ['confirmed', 'canceled']],
    nonEdge: [[], 'completed'],
  },
];

/** A gateway on the sandbox that refuses to pass on any answer that does not match the contract. */
export function startStrictGateway(): Promise<TestGateway> {
  const platform = {
    contracts: ['v1/*.yaml'],
    live: 'sandbox:platform',
    test: 'sandbox:platform',
    response: 'refuse',
    honoursIdempotencyKey: true,
  };
  return startGateway({ upstreams: { platform } });
}

export async function clientOf(gateway: TestGateway, key?: KeyOptions): Promise<Client> {
  const { authorization } = await gateway.authorize(key);
  return async (method, path, body, headers = {}) => {
    const answer = await fetch(gateway.url + path, {
      method,
      headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) };
  };
}

/** Reads a list to its end. */
export async function walk(client: Client, path: string): Promise<Json[]> {
  const records: Json[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < 200; pages++) {
    const page: Reply = await client('GET', cursor === null ? path : `${path}&cursor=${encodeURIComponent(cursor)}`);
    if (page.status !== 200) throw new Error(`${path}: ${page.status} ${JSON.stringify(page.body)}`);
    records.push(...page.body.data);
    if (page.body.has_more !== (page.body.cursor !== null)) throw new Error('has_more and cursor disagree');
    if (!page.body.has_more) return records;
    cursor = page.body.cursor;
  }
  throw new Error('the list has no end');
}
