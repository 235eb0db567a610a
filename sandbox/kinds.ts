// The kinds of value a member or a filter can have. Each reads an untrusted JSON value, notes its faults, and yields the stored form: the
// second line of defence behind the contract the gateway has already checked.
import { canonicalIdentifier } from './identifiers.ts';
import type { SandboxViolation } from './refusals.ts';
import { parseDate, parseTime } from './times.ts';

export type FieldValue =
  | null
  | boolean
  | number
  | string
  | readonly FieldValue[]
  | { readonly [member: string]: FieldValue };
export type ResourceName =
  | 'customers'
  | 'jobs'
  | 'invoices'
  | 'technicians'
  | 'memberships'
  | 'communications'
  | 'guests'
  | 'experiences'
  | 'bookings';

/** Where a value stands in the request, and the list that violations are noted in. */
export interface FieldSpot {
  readonly in: SandboxViolation['in'];
  readonly path: readonly (string | number)[];
  readonly violations: SandboxViolation[];
}

export interface FieldKind {
  /** The value in its stored form, or undefined after a violation has been noted. */
  read(value: unknown, spot: FieldSpot): FieldValue | undefined;
  /** The value of a query string's text; without it, the text itself. */
  fromText?(text: string): unknown;
  /** The resource that a reference names. */
  readonly to?: ResourceName;
}

type Constraint = Readonly<Record<string, unknown>>;

export function withinBounds(spot: FieldSpot, step: string | number): FieldSpot {
  return { ...spot, path: [...spot.path, step] };
}

export function refuse(spot: FieldSpot, code: string, message: string, constraint?: Constraint): undefined {
  const param = spot.path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
  const pointer = spot.path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  spot.violations.push({
    in: spot.in,
    param,
    ...(spot.in === 'body' ? { pointer } : {}),
    code,
    message,
    ...(constraint ? { constraint } : {}),
  });
  return undefined;
}

export function text(bounds: { max: number; min?: number; pattern?: RegExp }): FieldKind {
  const { max, min = 1, pattern } = bounds;
  return {
    read(value, spot) {
      if (typeof value !== 'string') return refuse(spot, 'wrong_type', 'Must be a string.', { type: 'string' });
      // A lone surrogate or a NUL does not come out of the database as it went in.
      if (!value.isWellFormed() || value.includes('\0')) {
        return refuse(spot, 'invalid', 'Must be text without NUL and without lone surrogates.');
      }
      // The contract counts characters, not UTF-16 units; the spread is only paid where the units are too many.
      if (value.length > max && [...value].length > max) {
        return refuse(spot, 'too_long', `Must have at most ${max} characters.`, { maxLength: max });
      }
      if (value.length < min) {
        return refuse(spot, 'too_short', `Must have at least ${min} characters.`, { minLength: min });
      }
      if (pattern && !pattern.test(value)) {
        return refuse(spot, 'pattern_mismatch', `Must match ${pattern.source}.`, { pattern: pattern.source });
      }
      return value;
    },
  };
}

export const PHONE: FieldKind = {
  ...text({ max: 16, pattern: /^\+[1-9][0-9]{1,14}$/ }),
  // A plus that was not escaped arrives as a space, which no telephone number begins with.
  fromText: (text) => text.replace(/^ /, '+'),
};

export const email: FieldKind = text({ max: 254, pattern: /^[^\s@]+@[^\s@]+$/ });
export const currency: FieldKind = text({ max: 3, pattern: /^[a-z]{3}$/ });

function parsed(parse: (text: string) => string | undefined, format: string): FieldKind {
  return {
    read(value, spot) {
      if (typeof value !== 'string') return refuse(spot, 'wrong_type', 'Must be a string.', { type: 'string' });
      return parse(value) ?? refuse(spot, 'wrong_format', `Must be a ${format} by RFC 3339.`, { format });
    },
  };
}

export const date: FieldKind = parsed(parseDate, 'date');
export const TIME: FieldKind = {
  ...parsed(parseTime, 'date-time'),
  // As with telephone numbers: the plus of an offset that was not escaped.
  fromText: (text) => text.replace(/ (?=\d{2}:\d{2}$)/, '+'),
};

function numeric(accepts: (value: unknown) => boolean, type: string, bounds: { min: number; max: number }): FieldKind {
  return {
    read(value, spot) {
      if (typeof value !== 'number' || !accepts(value)) {
        return refuse(spot, 'wrong_type', `Must be of type ${type}.`, { type });
      }
      if (value < bounds.min)
        return refuse(spot, 'too_small', `Must be at least ${bounds.min}.`, { minimum: bounds.min });
      if (value > bounds.max)
        return refuse(spot, 'too_large', `Must be at most ${bounds.max}.`, { maximum: bounds.max });
      return value;
    },
  };
}

export const integer = (min: number, max: number): FieldKind => numeric(Number.isInteger, 'integer', { min, max });
export const number = (min: number, max: number): FieldKind => numeric(Number.isFinite, 'number', { min, max });

export const FLAG: FieldKind = {
  read(value, spot) {
    return typeof value === 'boolean'
      ? value
      : refuse(spot, 'wrong_type', 'Must be true or false.', { type: 'boolean' });
  },
  fromText: (text) => (text === 'true' ? true : text === 'false' ? false : text),
};

export function oneOf(values: readonly string[]): FieldKind {
  return {
    read(value, spot) {
      if (typeof value === 'string' && values.includes(value)) return value;
      return refuse(spot, 'not_allowed', `Must be one of ${values.join(', ')}.`, { enum: values });
    },
  };
}

/** The identifier of a record of another resource. Whether there is such a record is found out when it is written. */
export function reference(to: ResourceName): FieldKind {
  const spelled = text({ max: 64 });
  return {
    to,
    read(value, spot) {
      const identifier = spelled.read(value, spot);
      return typeof identifier === 'string' ? canonicalIdentifier(identifier) : undefined;
    },
  };
}
