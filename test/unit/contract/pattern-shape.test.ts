import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shapeOfPattern } from '../../../gateway/contract/scalars/pattern-shape.ts';

test('a repetition of a varying part is nested', () => {
  for (const source of ['(a+)+', '(a|b)*', '(a?){30}', '(a{1,30})+', '([a-z]+)*', '((ab?)c)+', '(?:a*b)*', '(a+)\\1'])
    assert.ok(shapeOfPattern(source).nested, source);
});

test('a repetition of a fixed part is not', () => {
  for (const source of ['(ab)+', '(a+)?', '([0-9]{4})+', '(\\(a\\+\\))*', '[(a+)]+', 'a+b+c+', '(?:x[+*]y){3}'])
    assert.ok(!shapeOfPattern(source).nested, source);
});

test('every repetition without a bound worth the name counts', () => {
  assert.equal(shapeOfPattern('a+b*c{3,}d{0,5000}').unbounded, 4);
  assert.equal(shapeOfPattern('a{3}b?c{1,20}').unbounded, 0);
  assert.equal(shapeOfPattern('a{3}b?c{1,20}(x|y|z)').choices, 2 * 20 * 3);
});

test('a pattern is anchored when it can begin nowhere else', () => {
  assert.ok(shapeOfPattern('^a|^').anchored === false);
  assert.ok(shapeOfPattern('^(a|b)').anchored);
  assert.ok(!shapeOfPattern('a').anchored);
});
