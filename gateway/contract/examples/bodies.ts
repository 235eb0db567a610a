// Prints the value of an answer in its media type.

import { isRecord } from '../../shared/is-record.ts';
import { essenceOf, isJson } from '../media-types.ts';

/** The type of an answer for a range, because a contract may declare a range of media types. */
const TYPE_IN_RANGE: Readonly<Record<string, string>> = {
  '*/*': 'application/json',
  'application/*': 'application/json',
  'text/*': 'text/plain',
  'image/*': 'image/png',
  'audio/*': 'audio/mpeg',
  'video/*': 'video/mp4',
};

/** One transparent pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
/** Events of a stream, and lines of a sequence. */
const EVENTS = 3;

export function concreteType(type: string): string {
  return TYPE_IN_RANGE[essenceOf(type)] ?? type;
}

/** Prints a body. @param schema the schema of the value, which decides whether a text is base64 of bytes */
export function printBody(type: string, value: unknown, schema: unknown): Buffer {
  const essence = essenceOf(type);
  if (isJson(essence) || essence.endsWith('yaml')) return Buffer.from(JSON.stringify(value));
  if (typeof value === 'string') {
    const isBase64 = isRecord(schema) && (schema.format === 'byte' || schema.contentEncoding === 'base64');
    if (essence === 'image/png' && value === 'example') return Buffer.from(PNG, 'base64');
    if (essence !== 'text/event-stream' || /^(data|event|id|retry)?:/m.test(value))
      return Buffer.from(value, isBase64 && !essence.startsWith('text/') ? 'base64' : 'utf8');
  }
  return Buffer.from(printText(essence, value));
}

function printText(essence: string, value: unknown): string {
  const json = JSON.stringify(value);
  const several = Array.isArray(value) ? value.map((item) => JSON.stringify(item)) : Array(EVENTS).fill(json);
  if (essence === 'text/event-stream') {
    return several.map((text, index) => `id: ${index + 1}\ndata: ${text}\n\n`).join('');
  }
  if (essence === 'application/json-seq') return several.map((text) => `\u001e${text}\n`).join('');
  if (/[/+-](ndjson|jsonl|json-lines|jsonlines)$/.test(essence)) return several.map((text) => `${text}\n`).join('');
  if (essence === 'application/x-www-form-urlencoded' && isRecord(value)) {
    const texts = Object.entries(value).map(([name, member]) => [name, String(member)] as [string, string]);
    return new URLSearchParams(texts).toString();
  }
  // Names and attributes of XML cannot be made from a schema that does not contain them.
  return /[/+]xml$/.test(essence) ? '<example/>' : json;
}
