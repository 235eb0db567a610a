// Writes and reads the DER values (ITU-T X.690) that certificates and certificate requests need.

interface DerValue {
  readonly tag: number;
  /** The content, without tag and length. */
  readonly content: Buffer;
  /** Tag, length and content. */
  readonly whole: Buffer;
}

export const SEQUENCE = 0x30;

/** Returns a value with its tag and length. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

export const sequence = (...parts: readonly Uint8Array[]) => der(SEQUENCE, ...parts);
export const set = (...parts: readonly Uint8Array[]) => der(0x31, ...parts);
export const octets = (content: Uint8Array) => der(0x04, content);
export const utf8 = (text: string) => der(0x0c, Buffer.from(text));
export const bits = (content: Uint8Array) => der(0x03, Buffer.from([0]), content);
export const derTrue = () => der(0x01, Buffer.from([0xff]));
/** Returns a context-specific constructed value. */
export const derTagged = (number: number, ...parts: readonly Uint8Array[]) => der(0xa0 + number, ...parts);

/** Returns a non-negative integer from its bytes, the most significant byte first. */
export function derInteger(bytes: Uint8Array): Buffer {
  const isNegative = ((bytes[0] ?? 0) & 0x80) !== 0;
  return der(0x02, isNegative ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

/** Returns an object identifier from its dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** Returns a time between 1950 and 2049, to the second. */
export function utcTime(ms: number): Buffer {
  const text = new Date(ms).toISOString().replace(/[-:T]/g, '');
  return der(0x17, Buffer.from(`${text.slice(2, 14)}Z`));
}

/** Returns the values in the content of a constructed value. Throws RangeError if the content ends too early. */
export function readDer(bytes: Buffer): DerValue[] {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes.readUInt8(at);
    const short = bytes.readUInt8(at + 1);
    const extra = short < 0x80 ? 0 : short - 0x80;
    const length = extra === 0 ? short : bytes.readUIntBE(at + 2, extra);
    const from = at + 2 + extra;
    if (from + length > bytes.length) throw new RangeError('The DER value ends too early.');
    values.push({ tag, content: bytes.subarray(from, from + length), whole: bytes.subarray(at, from + length) });
    at = from + length;
  }
  return values;
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.from([0x80 + bytes.length]), bytes]);
}

function base128(value: number): number[] {
  const groups = [value & 0x7f];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128))
    groups.unshift((rest & 0x7f) | 0x80);
  return groups;
}
