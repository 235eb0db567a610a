// Writes what a value must be, from the contract keyword that it violates, for error objects and `gateway explain`. Pure.

const LISTED_MAX = 20;

const count = (n: unknown, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`;

const CONSTRAINT_TEXTS: Readonly<Record<string, (value: unknown) => string>> = {
  type: (type) => `must be ${[type].flat().map(typeName).join(' or ')}`,
  format: (format) => `must be a valid ${format}`,
  pattern: (pattern) => `must match the pattern ${pattern}`,
  enum: (values) => `must be one of ${listText(values)}`,
  const: (value) => `must be ${JSON.stringify(value)}`,
  minimum: (limit) => `must be at least ${limit}`,
  exclusiveMinimum: (limit) => `must be more than ${limit}`,
  maximum: (limit) => `must be at most ${limit}`,
  exclusiveMaximum: (limit) => `must be less than ${limit}`,
  minLength: (limit) => `must have at least ${count(limit, 'character')}`,
  maxLength: (limit) => `must have at most ${count(limit, 'character')}`,
  minItems: (limit) => `must have at least ${count(limit, 'item')}`,
  maxItems: (limit) => `must have at most ${count(limit, 'item')}`,
  minProperties: (limit) => `must have at least ${count(limit, 'member')}`,
  maxProperties: (limit) => `must have at most ${count(limit, 'member')}`,
  multipleOf: (of) => `must be a multiple of ${of}`,
};

/** Returns the text; undefined for a keyword whose value says nothing to people. */
export function constraintText(keyword: string, value: unknown): string | undefined {
  return Object.hasOwn(CONSTRAINT_TEXTS, keyword) ? CONSTRAINT_TEXTS[keyword]?.(value) : undefined;
}

function typeName(type: unknown): string {
  return type === 'null' ? 'null' : `${/^[aio]/.test(String(type)) ? 'an' : 'a'} ${type}`;
}

function listText(values: unknown): string {
  const list = Array.isArray(values) ? values : [];
  const shown = list.slice(0, LISTED_MAX).map((value) => JSON.stringify(value));
  return shown.join(', ') + (list.length > LISTED_MAX ? ', …' : '');
}
