// The lines of one field: what is remembered of the latest value changes none of them.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FieldLine } from '../../../gateway/http1/field-line.ts';

it('every line has its value, after any other values', () => {
  const field = new FieldLine('X-A');
  const values = ['', 'a', 'a', 'a', 'b', 'a', '', '\xe4\t\xff', '\xe4\t\xff', '\xe4\t\xff', 'x'.repeat(5000), 'a'];
  for (const value of values) assert.equal(field.lineOf(value), `X-A: ${value}\r\n`);
});

it('a value that cannot be sent has no line, neither first nor after others', () => {
  const field = new FieldLine('x-a');
  const unsendable = ['a\r\nx-b: c', 'a\n', '\0', '\x7f', '移', `${'a'.repeat(300)}\r`];
  for (const value of unsendable) {
    assert.equal(field.lineOf(value), undefined);
    assert.equal(field.lineOf('a'), 'x-a: a\r\n');
    assert.equal(field.lineOf(value), undefined);
    assert.equal(field.lineOf('a'), 'x-a: a\r\n');
  }
});
