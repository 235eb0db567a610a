// Rules of the shipped contracts that reach over several members, as a client meets them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyViolations, operation } from './shipped.ts';

const places = (id: string, body: unknown) =>
  bodyViolations(operation(id), body).map(({ pointer, code }) => `${pointer} ${code}`);

const booking = { guest_id: 'gst_7Yb5KtD3wPn9CfHm', starts_at: '2026-06-12T19:00:00+02:00' };
const experience = { experience_id: 'exp_4Jx8SgV2qLh6TzRk' };

test('a booking has exactly one of experience_id and resource_name', () => {
  const constraint = { oneOf: [{ required: ['experience_id'] }, { required: ['resource_name'] }] };
  assert.deepEqual(bodyViolations(operation('createBooking'), booking), [
    {
      in: 'body',
      param: '',
      pointer: '',
      code: 'no_match',
      message: 'Must have one of experience_id, resource_name.',
      constraint,
    },
  ]);
  const message = 'Must have only one of experience_id, resource_name.';
  assert.deepEqual(
    bodyViolations(operation('createBooking'), { ...booking, ...experience, resource_name: 'Table 4' }),
    [{ in: 'body', param: '', pointer: '', code: 'ambiguous', message, constraint }],
  );
  assert.deepEqual(places('createBooking', { ...booking, ...experience }), []);
  assert.deepEqual(places('createBooking', { ...booking, experience_id: 'x' }), ['/experience_id pattern_mismatch']);
});

test('a booking changes over to the other one', () => {
  assert.deepEqual(places('updateBooking', { experience_id: null, resource_name: 'Table 4' }), []);
  assert.deepEqual(places('updateBooking', { ...experience, resource_name: 'Table 4' }), ['/resource_name wrong_type']);
  assert.deepEqual(places('updateBooking', { experience_id: null, resource_name: null }), [
    '/resource_name wrong_type',
  ]);
});

test('a subject is for e-mail', () => {
  const communication = { customer_id: 'cus_5Hq8ZrT2mWx9LbKd', body: 'Hello', subject: 'Hi' };
  assert.deepEqual(bodyViolations(operation('createCommunication'), { ...communication, channel: 'sms' }), [
    {
      in: 'body',
      param: 'channel',
      pointer: '/channel',
      code: 'not_allowed',
      message: 'Must be "email".',
      constraint: { const: 'email' },
    },
  ]);
  assert.deepEqual(places('createCommunication', { ...communication, channel: 'email' }), []);
  assert.deepEqual(places('createCommunication', { ...communication, channel: 'fax' }), ['/channel not_allowed']);
});

test('a mistake deep in a list is named where it is', () => {
  const line = { description: 'Filter', quantity: 0, unit_amount: 100 };
  const invoice = {
    customer_id: 'cus_5Hq8ZrT2mWx9LbKd',
    currency: 'usd',
    line_items: [line, { ...line, quantity: 1.5 }],
  };
  assert.deepEqual(bodyViolations(operation('createInvoice'), invoice), [
    {
      in: 'body',
      param: 'line_items[0].quantity',
      pointer: '/line_items/0/quantity',
      code: 'too_small',
      message: 'Must be at least 1.',
      constraint: { minimum: 1 },
    },
    {
      in: 'body',
      param: 'line_items[1].quantity',
      pointer: '/line_items/1/quantity',
      code: 'wrong_type',
      message: 'Must be an integer.',
      constraint: { type: 'integer' },
    },
  ]);
});

test('every mistake of a job is reported at once', () => {
  const job = { service_type: 'Heat Pump', scheduled_at: 'soon', technician_id: 'tech_1', colour: 'red' };
  assert.deepEqual(places('createJob', job).sort(), [
    '/colour unknown',
    '/customer_id required',
    '/scheduled_at wrong_format',
    '/service_type pattern_mismatch',
    '/technician_id pattern_mismatch',
  ]);
});

test('an update has to change something', () => {
  assert.deepEqual(places('updateGuest', {}), [' too_few_items']);
});

test('metadata is a few short strings', () => {
  const metadata = { ['k'.repeat(41)]: 'x', big: 'x'.repeat(501), number: 5 };
  assert.deepEqual(
    places('updateGuest', { metadata }).sort(),
    ['/metadata/big too_long', `/metadata/${'k'.repeat(41)} too_long`, '/metadata/number wrong_type'].sort(),
  );
});
