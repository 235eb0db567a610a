// Values of Lua 5.1 in JavaScript: nil is undefined, a string has one character per byte, several results are an array, and a table is a
// class of its own. With the operations that differ from those of JavaScript.

export type LuaValue = undefined | boolean | number | string | LuaTable | LuaFunction;
type LuaFunction = (...args: LuaValue[]) => LuaResult;
/** One value, or several as an array: no value is an array. */
export type LuaResult = LuaValue | readonly LuaValue[];

/** An error that a script raises; its message is what the client of Redis gets. */
export class LuaError extends Error {}

export class LuaTable {
  /** The values of 1, 2, 3 … without a gap. */
  readonly list: LuaValue[];
  readonly map = new Map<LuaValue, LuaValue>();

  constructor(list: LuaValue[] = []) {
    this.list = list;
    const gap = list.indexOf(undefined);
    if (gap >= 0) this.#cut(gap);
  }

  get(key: LuaValue): LuaValue {
    if (typeof key === 'number' && key > 0 && key <= this.list.length && Number.isInteger(key))
      return this.list[key - 1];
    return this.map.get(key);
  }

  set(key: LuaValue, value: LuaValue): void {
    const { list, map } = this;
    if (typeof key === 'number' && Number.isInteger(key) && key > 0 && key <= list.length + 1) {
      if (key <= list.length) this.replace(key, value);
      else if (value !== undefined) {
        list.push(value);
        map.delete(key);
        for (let next = list.length + 1; map.has(next); next += 1) {
          list.push(map.get(next));
          map.delete(next);
        }
      }
    } else if (value === undefined) map.delete(key);
    else map.set(key, value);
  }

  private replace(key: number, value: LuaValue): void {
    this.list[key - 1] = value;
    if (value === undefined) this.#cut(key - 1);
  }

  /** What is behind a gap is not part of the list. */
  #cut(gap: number): void {
    const { list, map } = this;
    for (let at = gap + 1; at < list.length; at += 1) if (list[at] !== undefined) map.set(at + 1, list[at]);
    list.length = gap;
  }
}

export function first(result: LuaResult): LuaValue {
  return Array.isArray(result) ? result[0] : (result as LuaValue);
}

export function all(result: LuaResult): readonly LuaValue[] {
  return Array.isArray(result) ? result : [result as LuaValue];
}

export function isTrue(value: LuaValue): boolean {
  return value !== undefined && value !== false;
}

export function get(target: LuaValue, key: LuaValue): LuaValue {
  if (target instanceof LuaTable) return target.get(key);
  throw new LuaError(`attempt to index a ${typeOf(target)} value`);
}

export function set(target: LuaValue, key: LuaValue, value: LuaValue): void {
  if (!(target instanceof LuaTable)) throw new LuaError(`attempt to index a ${typeOf(target)} value`);
  target.set(key, value);
}

/** The operand of arithmetic: strings count as the number that they spell. */
export function num(value: LuaValue): number {
  if (typeof value === 'number') return value;
  const number = toNumber(value);
  if (number === undefined) throw new LuaError(`attempt to perform arithmetic on a ${typeOf(value)} value`);
  return number;
}

export function toNumber(value: LuaValue): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (/^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(text) || /^0[xX][0-9a-fA-F]+$/.test(text)) return Number(text);
  if (/^[-+]?(inf|nan)/i.test(text))
    return /nan/i.test(text) ? Number.NaN : text.startsWith('-') ? -Infinity : Infinity;
  return undefined;
}

export function modulo(one: number, other: number): number {
  return one - Math.floor(one / other) * other;
}

export function concat(one: LuaValue, other: LuaValue): string {
  return textIn(one) + textIn(other);
}

function textIn(value: LuaValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return formatNumber(value, 14);
  throw new LuaError(`attempt to concatenate a ${typeOf(value)} value`);
}

/** As `%.14g` and `%.17g` of C write a number. */
export function formatNumber(value: number, digits: 14 | 17): string {
  if (Number.isInteger(value) && Math.abs(value) < 10 ** digits && !Object.is(value, -0)) return String(value);
  if (Object.is(value, -0)) return '-0';
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  const exponent = Number(value.toExponential(digits - 1).split('e')[1]);
  if (exponent < -4 || exponent >= digits) {
    const [mantissa = '', power = ''] = value.toExponential(digits - 1).split('e');
    return `${trimmed(mantissa)}e${power.startsWith('-') ? '-' : '+'}${power.slice(1).padStart(2, '0')}`;
  }
  return trimmed(value.toFixed(Math.max(0, digits - 1 - exponent)));
}

function trimmed(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;
}

export function length(value: LuaValue): number {
  if (typeof value === 'string') return value.length;
  if (value instanceof LuaTable) return value.list.length;
  throw new LuaError(`attempt to get length of a ${typeOf(value)} value`);
}

export function less(one: LuaValue, other: LuaValue): boolean {
  requireOrder(one, other);
  return (one as number) < (other as number);
}

export function lessOrEqual(one: LuaValue, other: LuaValue): boolean {
  requireOrder(one, other);
  return (one as number) <= (other as number);
}

function requireOrder(one: LuaValue, other: LuaValue): void {
  const kind = typeof one;
  if (kind === typeof other && (kind === 'number' || kind === 'string')) return;
  const [first, second] = [typeOf(one), typeOf(other)];
  throw new LuaError(
    first === second ? `attempt to compare two ${first} values` : `attempt to compare ${first} with ${second}`,
  );
}

export function typeOf(value: LuaValue): string {
  if (value === undefined) return 'nil';
  if (value instanceof LuaTable) return 'table';
  return typeof value;
}

/** Calls what a script calls. */
export function call(target: LuaValue, ...args: LuaValue[]): LuaResult {
  if (typeof target === 'function') return target(...args);
  throw new LuaError(`attempt to call a ${typeOf(target)} value`);
}
