// The functions that a script of Redis may call, apart from those that reach the data.

import { hash } from 'node:crypto';
import type { LuaLibrary } from './compile.ts';
import { expressionOf } from './patterns.ts';
import { formatNumber, LuaError, type LuaResult, LuaTable, type LuaValue, num, toNumber, typeOf } from './values.ts';

const iterate = (table: LuaValue, index: LuaValue): LuaResult => {
  const next = (index as number) + 1;
  const value = (table as LuaTable).get(next);
  return value === undefined ? undefined : [next, value];
};

const string = {
  format: (pattern: string, ...values: LuaValue[]) => {
    let at = 0;
    return pattern.replace(/%(?:%|\.?(\d*)([dsfx]))/g, (item, digits: string, kind: string) => {
      if (item === '%%') return '%';
      const value = values[at++];
      if (kind === 's') return textOf(value);
      if (kind === 'f') return num(value).toFixed(digits === '' ? 6 : Number(digits));
      return kind === 'x' ? Math.trunc(num(value)).toString(16) : String(Math.trunc(num(value)));
    });
  },
  /** For plain text only, as the scripts of the gateway use it. */
  find: (text: LuaValue, wanted: string, from: LuaValue = 1, isPlain: LuaValue = false): LuaResult => {
    if (isPlain !== true) throw new LuaError(`no search for a pattern: ${wanted}`);
    const at = textOf(text).indexOf(wanted, num(from) - 1);
    return at < 0 ? undefined : [at + 1, at + wanted.length];
  },
  match: (text: LuaValue, pattern: string): LuaResult => {
    if (typeof text !== 'string' && typeof text !== 'number')
      throw new LuaError(`bad argument #1 to 'match' (string expected, got ${typeOf(text)})`);
    const { regexp, positions } = expressionOf(pattern);
    const found = regexp.exec(textOf(text));
    if (found === null) return undefined;
    if (found.length === 1) return found[0];
    return found.slice(1).map((each, at) => (positions.has(at + 1) ? (found.indices?.[at + 1]?.[0] ?? 0) + 1 : each));
  },
  /** Without captures. */
  gmatch: (text: LuaValue, pattern: string): LuaResult => {
    const found = textOf(text).matchAll(new RegExp(expressionOf(pattern).regexp, 'dgs'));
    return [() => found.next().value?.[0]];
  },
  rep: (text: string, count: LuaValue) => text.repeat(Math.max(0, num(count))),
  sub: (text: LuaValue, from: LuaValue = 1, to: LuaValue = -1) => {
    const whole = textOf(text);
    const begin = num(from) < 0 ? Math.max(whole.length + num(from), 0) : Math.max(num(from) - 1, 0);
    return whole.slice(begin, Math.max(begin, num(to) < 0 ? whole.length + num(to) + 1 : num(to)));
  },
};

const table = {
  concat: (list: LuaTable, separator = '') => list.list.map(textOf).join(separator),
  remove: (list: LuaTable) => list.list.pop(),
};

const math = {
  floor: (value: LuaValue) => Math.floor(num(value)),
  max: (...values: LuaValue[]) => Math.max(...values.map(num)),
  min: (...values: LuaValue[]) => Math.min(...values.map(num)),
  frexp: (value: LuaValue): LuaResult => {
    const number = num(value);
    if (number === 0 || !Number.isFinite(number)) return [number, 0];
    let exponent = Math.max(-1023, Math.floor(Math.log2(Math.abs(number))) + 1);
    let fraction = number * 2 ** -exponent;
    for (; Math.abs(fraction) < 0.5; exponent -= 1) fraction *= 2;
    for (; Math.abs(fraction) >= 1; exponent += 1) fraction /= 2;
    return [fraction, exponent];
  },
};

const cjson = {
  decode: (text: string) => tabled(JSON.parse(text)),
  encode: (value: string) => {
    if (typeof value !== 'string') throw new LuaError('only text is encoded here');
    // As cjson does, which escapes the slash and the delete character, too.
    return JSON.stringify(value).replace(/\//g, '\\/').replace(/\x7f/g, '\\u007f');
  },
};

function tabled(value: unknown): LuaValue {
  if (Array.isArray(value)) return new LuaTable(value.map(tabled));
  if (typeof value !== 'object' || value === null) return value as LuaValue;
  const made = new LuaTable();
  for (const [name, member] of Object.entries(value)) made.set(name, tabled(member));
  return made;
}

/** One field of a `struct` format, little-endian: unsigned integers of so many bytes, or a double. */
interface Field {
  readonly kind: 'integer' | 'double';
  readonly bytes: number;
}

const formats = new Map<string, readonly Field[]>();

function fieldsOf(format: string): readonly Field[] {
  let fields = formats.get(format);
  if (fields === undefined) {
    if (!/^<(?:I\d|B|d)*$/.test(format)) throw new LuaError(`no struct format ${format}`);
    fields = [...format.matchAll(/I(\d)|B|d/g)].map(([item, bytes]) => {
      if (item === 'd') return { kind: 'double', bytes: 8 };
      return { kind: 'integer', bytes: bytes === undefined ? 1 : Number(bytes) };
    });
    if (format.length < 100) formats.set(format, fields);
  }
  return fields;
}

const struct = {
  pack: (format: string, ...values: LuaValue[]) => {
    const fields = fieldsOf(format);
    const bytes = Buffer.alloc(fields.reduce((sum, field) => sum + field.bytes, 0));
    let at = 0;
    for (const [index, field] of fields.entries()) {
      const value = num(values[index]);
      if (field.kind === 'double') bytes.writeDoubleLE(value, at);
      else bytes.writeUIntLE(Math.floor(value) % 2 ** (8 * field.bytes), at, field.bytes);
      at += field.bytes;
    }
    return bytes.toString('latin1');
  },
  unpack: (format: string, text: string): LuaResult => {
    const values: LuaValue[] = [];
    let at = 0;
    for (const field of fieldsOf(format)) {
      if (at + field.bytes > text.length) throw new LuaError("bad argument #2 to 'unpack' (data string too short)");
      values.push(field.kind === 'double' ? doubleAt(text, at) : integerAt(text, at, field.bytes));
      at += field.bytes;
    }
    values.push(at + 1);
    return values;
  },
};

function integerAt(text: string, at: number, bytes: number): number {
  let value = 0;
  for (let index = at + bytes - 1; index >= at; index -= 1) value = value * 256 + text.charCodeAt(index);
  return value;
}

function doubleAt(text: string, at: number): number {
  return Buffer.from(text.slice(at, at + 8), 'latin1').readDoubleLE(0);
}

/** The functions of `redis` that reach no data. */
export const redisHelpers = {
  sha1hex: (text: LuaValue) => hash('sha1', Buffer.from(textOf(text), 'latin1')),
  error_reply: (message: string) => withMember('err', message),
  status_reply: (message: string) => withMember('ok', message),
};

function withMember(name: string, value: string): LuaTable {
  const made = new LuaTable();
  made.set(name, value);
  return made;
}

export function textOf(value: LuaValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return formatNumber(value, 14);
  return value === undefined ? 'nil' : String(value);
}

export const LUA_LIBRARY = {
  string,
  table,
  math,
  cjson,
  struct,
  tonumber: (value: LuaValue, base?: LuaValue) =>
    base === undefined ? toNumber(value) : Number.parseInt(textOf(value), num(base)),
  tostring: textOf,
  type: typeOf,
  ipairs: (list: LuaValue): LuaResult => [iterate, list, 0],
  unpack: (list: LuaValue, from: LuaValue = 1, to?: LuaValue): LuaResult => {
    const { list: values } = list as LuaTable;
    return values.slice(num(from) - 1, to === undefined ? values.length : num(to));
  },
} satisfies LuaLibrary;
